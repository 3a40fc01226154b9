#include "host-agent/kernel/counter_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "host-agent/kernel/netlink_reply.h"

/* path: the file of a network namespace; NULL: the agent's own namespace. A socket
 * stays in the namespace in which it was created, so the thread enters the namespace,
 * opens the socket and returns to its own. */
static int
open_socket(const char *path, int domain, int type, int protocol)
{
	int own, there, fd = -1, r = 0;

	if (path == NULL) {
		fd = socket(domain, type | SOCK_CLOEXEC, protocol);
		return fd < 0 ? -errno : fd;
	}
	own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	there = own < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0 || setns(there, CLONE_NEWNET) < 0) {
		r = -errno;
	} else {
		fd = socket(domain, type | SOCK_CLOEXEC, protocol);
		r = fd < 0 ? -errno : fd;
		if (setns(own, CLONE_NEWNET) < 0)
			abort(); /* else the thread would read another namespace from
				    now on */
	}
	if (own >= 0)
		close(own);
	if (there >= 0)
		close(there);
	return r;
}

static int
call_ethtool(void *arg, const char *netdev, void *command)
{
	struct ifreq request = { .ifr_data = command };
	int fd = open_socket(arg, AF_INET, SOCK_DGRAM, 0);
	int r = 0;

	if (fd < 0)
		return fd;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", netdev);
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		r = -errno;
	close(fd);
	return r;
}

#define WAIT_S 2 /* seconds to wait for one datagram */

/* True: the last message of the answer marks its end, or has the error. */
static bool
is_end(const uint8_t *data, size_t len)
{
	struct netlink_reader body;
	uint16_t type;

	while (netlink_message(&data, &len, 0, &type, &body) > 0)
		;
	/* true: the last message is in this datagram; false: more datagrams follow */
	return len > 0;
}

static int
receive(int fd, uint8_t *answer, size_t room)
{
	size_t len = 0;

	for (;;) {
		struct sockaddr_nl from = { 0 };
		struct iovec rest = { answer + len, room - len };
		struct msghdr msg = { .msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &rest,
			.msg_iovlen = 1 };
		ssize_t n = recvmsg(fd, &msg, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIME : -errno;
		if (from.nl_pid != 0) /* the datagram is not from the kernel */
			continue;
		if ((msg.msg_flags & MSG_TRUNC) != 0 || room - len < (size_t)n + 4)
			return -EMSGSIZE;
		if (is_end(answer + len, (size_t)n))
			return (int)(len + (size_t)n);
		len += NLMSG_ALIGN((size_t)n);
	}
}

static int
call_netlink(void *arg, int protocol, const struct nlmsghdr *question, uint8_t *answer,
    size_t room)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const struct timeval wait = { .tv_sec = WAIT_S };
	int fd = open_socket(arg, AF_NETLINK, SOCK_RAW, protocol);
	int r = 0;

	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    sendto(fd, question, question->nlmsg_len, 0,
		(const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		r = -errno;
	if (r == 0)
		r = receive(fd, answer, room);
	close(fd);
	return r;
}

const struct counter_kernel counter_kernel = {
	.sysfs = "/sys",
	.ethtool = call_ethtool,
	.netlink = call_netlink,
};

void
counter_kernel_enter(const char *path, struct counter_kernel *ret)
{
	*ret = (struct counter_kernel){
		/* a folder without files: this mount of sysfs shows only the agent's
		 * own namespace */
		.sysfs = "/run/rackmesh/none",
		.ethtool = call_ethtool,
		.netlink = call_netlink,
		.arg = (void *)path, /* not written to */
	};
}
