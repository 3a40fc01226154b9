/*
 * hold_up - a library for LD_PRELOAD, with which a program receives every packet late,
 * as if its CPU were busy.
 *
 * recvmsg and recvmmsg return a packet no earlier than its kernel time stamp plus the
 * delay, one packet at a time, so that all have the same delay. Stamps in the error
 * queue, TCP and all other data are not delayed: the kernel's stamps stay true.
 *
 * HOLD_UP_FILE names a file of 4 bytes, the delay in microseconds (host order), which a
 * test may change at any moment.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

static const volatile uint32_t *delay_us;
static ssize_t (*real_recvmsg)(int, struct msghdr *, int);
static int (*real_recvmmsg)(
    int, struct mmsghdr *, unsigned int, int, struct timespec *);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
prepare(void)
{
	const char *path = getenv("HOLD_UP_FILE");
	int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	*(void **)&real_recvmsg = dlsym(RTLD_NEXT, "recvmsg");
	*(void **)&real_recvmmsg = dlsym(RTLD_NEXT, "recvmmsg");
	if (fd >= 0) {
		void *at = mmap(NULL, sizeof(*delay_us), PROT_READ, MAP_SHARED, fd, 0);

		delay_us = at == MAP_FAILED ? NULL : at;
		close(fd);
	}
}

/* When the kernel received the packet; false: it has no stamp. */
static bool
stamped(struct msghdr *message, struct timespec *ret)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPING ||
		    c->cmsg_type == SCM_TIMESTAMPNS) {
			*ret = *(const struct timespec *)(const void *)CMSG_DATA(c);
			return ret->tv_sec != 0;
		}
	}
	return false;
}

static void
hold(struct msghdr *message)
{
	struct timespec until;
	uint32_t us = delay_us == NULL ? 0 : *delay_us;

	if (us == 0 || !stamped(message, &until))
		return;
	until.tv_nsec += (long)(us % 1000000) * 1000;
	until.tv_sec += us / 1000000 + until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0)
		;
}

ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n;

	pthread_once(&once, prepare);
	n = real_recvmsg(fd, message, flags);
	if (n >= 0 && !(flags & MSG_ERRQUEUE))
		hold(message);
	return n;
}

int
recvmmsg(int fd, struct mmsghdr *messages, unsigned int len, int flags,
    struct timespec *timeout)
{
	int n;

	pthread_once(&once, prepare);
	if (!(flags & MSG_ERRQUEUE) && delay_us != NULL && *delay_us > 0 && len > 1)
		len = 1;
	n = real_recvmmsg(fd, messages, len, flags, timeout);
	if (n > 0 && !(flags & MSG_ERRQUEUE))
		hold(&messages[0].msg_hdr);
	return n;
}
