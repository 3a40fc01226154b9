#include "rackmesh/core/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NETNS_FOLDER "/run/netns/"
#define NETNS_OWN "/proc/thread-self/ns/net"

int
rm_netns_open(const char *name, int *ret)
{
	char path[4096];
	int fd, n;

	if (name == NULL || name[0] == '\0')
		n = snprintf(path, sizeof(path), NETNS_OWN);
	else if (strchr(name, '/') != NULL)
		n = snprintf(path, sizeof(path), "%s", name);
	else
		n = snprintf(path, sizeof(path), NETNS_FOLDER "%s", name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;

	/* O_NONBLOCK: a path that is a FIFO must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	/* Fails for a file that is no network namespace. */
	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET) {
		close(fd);
		return -EINVAL;
	}
	*ret = fd;
	return 0;
}

int
rm_netns_call(int netns_fd, int (*fn)(void *arg), void *arg)
{
	struct stat there, here;
	int own, r;

	own = open(NETNS_OWN, O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	if (fstat(netns_fd, &there) < 0 || fstat(own, &here) < 0) {
		r = -errno;
		goto out;
	}
	/* In this case the thread is in that namespace already, and needs no
	 * CAP_SYS_ADMIN. */
	if (there.st_dev == here.st_dev && there.st_ino == here.st_ino) {
		r = fn(arg);
		goto out;
	}

	if (setns(netns_fd, CLONE_NEWNET) < 0) {
		r = -errno;
		goto out;
	}
	r = fn(arg);
	/* Otherwise every later socket of this thread would be in the wrong namespace,
	 * without an error. */
	if (setns(own, CLONE_NEWNET) < 0)
		abort();
out:
	close(own);
	return r;
}
