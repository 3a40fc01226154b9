#include "host-agent/report/self_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "host-agent/report/self_limit.h"

/* Pages: size, resident, shared, ... */
static int
read_resident(uint64_t *ret)
{
	char text[128];
	unsigned long long size, resident;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &size, &resident) != 2)
		return -EBADMSG;
	*ret = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

int
self_sample_read(struct self_sample *ret)
{
	struct self_sample sample;
	struct timespec used;
	int r;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
		return -errno;
	sample.cpu_ns = used.tv_sec * RM_NS_PER_S + used.tv_nsec;
	r = read_resident(&sample.memory_bytes);
	if (r == 0)
		*ret = sample;
	return r;
}
