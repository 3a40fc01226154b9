/* From where the kernel keeps it to a file that libbpf can be given; joined in
 * qp_btf.c. */
#include "host-agent/services/qp_btf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackmesh/core/file.h"

#define BTF_FOLDER "/sys/kernel/btf"

static int
file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("btf", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;

			close(fd);
			return r;
		}
		data += n;
		len -= (size_t)n;
	}
	return fd;
}

int
qp_btf_open(const char *module)
{
	uint8_t *kernel = NULL, *more = NULL, *both = NULL;
	size_t kernel_len, more_len, len;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", BTF_FOLDER, module);
	r = rm_file_read(path, QP_BTF_MAX_BYTES, &more, &more_len);
	if (r == 0)
		r = rm_file_read(
		    BTF_FOLDER "/vmlinux", QP_BTF_MAX_BYTES, &kernel, &kernel_len);
	if (r == 0)
		r = qp_btf_join(kernel, kernel_len, more, more_len, &both, &len);
	if (r == 0)
		r = file_of(both, len);
	free(kernel);
	free(more);
	free(both);
	return r;
}
