/* The conversation with the kernel; what it says is read in qp_list_take.c. */
#include "host-agent/services/qp_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "rackmesh/core/clock.h"

#define RECEIVE_BYTES (64 << 10) /* the kernel fills at most 32 KiB */
#define WAIT_S 2                 /* for one datagram */
#define WHOLE_NS (10 * RM_NS_PER_S)

struct request {
	struct nlmsghdr head;
	struct nlattr attribute; /* the device; left out with QP_LIST_DEVICES */
	uint32_t device;
};

struct talk {
	int fd;
	uint32_t seq;
	uint8_t *bytes;
	rm_mono_t end;
};

static int
ask(struct talk *talk, enum qp_list_ask what, uint32_t device)
{
	static const unsigned commands[] = {
		[QP_LIST_DEVICES] = RDMA_NLDEV_CMD_GET,
		[QP_LIST_QPS] = RDMA_NLDEV_CMD_RES_QP_GET,
		[QP_LIST_CONNECTIONS] = RDMA_NLDEV_CMD_RES_CM_ID_GET,
	};
	struct request request = {
		.head = { .nlmsg_len = what == QP_LIST_DEVICES ? sizeof(request.head)
							       : sizeof(request),
		    .nlmsg_type =
			(uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, commands[what]),
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		    .nlmsg_seq = ++talk->seq },
		.attribute = { NLA_HDRLEN + sizeof(device), RDMA_NLDEV_ATTR_DEV_INDEX },
		.device = device,
	};
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(talk->fd, &request, request.head.nlmsg_len, 0,
		   (const struct sockaddr *)&kernel, sizeof(kernel)) < 0
		   ? -errno
		   : 0;
}

/* One whole answer. */
static int
hear(struct talk *talk, enum qp_list_ask what, struct qp_list *list)
{
	for (;;) {
		struct sockaddr_nl from = { 0 };
		struct iovec room = { talk->bytes, RECEIVE_BYTES };
		struct msghdr msg = { .msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &room,
			.msg_iovlen = 1 };
		ssize_t len;
		int r;

		if (rm_mono_since(rm_mono_now(), talk->end) >= 0)
			return -ETIME;
		len = recvmsg(talk->fd, &msg, 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? -ETIME : -errno;
		if (from.nl_pid != 0) /* not the kernel */
			continue;
		if ((msg.msg_flags & MSG_TRUNC) != 0)
			return -EBADMSG;
		r = qp_list_take(list, what, talk->seq, talk->bytes, (size_t)len);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

static int
ask_all(struct talk *talk, struct qp_list *list)
{
	int r = ask(talk, QP_LIST_DEVICES, 0);

	if (r == 0)
		r = hear(talk, QP_LIST_DEVICES, list);
	for (size_t i = 0; i < list->device_count && r == 0; i++) {
		uint32_t device = list->devices[i].index;

		r = ask(talk, QP_LIST_QPS, device);
		if (r == 0)
			r = hear(talk, QP_LIST_QPS, list);
		if (r == 0)
			r = ask(talk, QP_LIST_CONNECTIONS, device);
		if (r == 0)
			r = hear(talk, QP_LIST_CONNECTIONS, list);
		if (r == -ENODEV || r == -EINVAL) /* it went while we asked */
			r = 0;
	}
	return r;
}

int
qp_list_read(struct qp_list *ret)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct qp_list list = { 0 };
	struct talk talk = { .fd = socket(
				 AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA),
		.bytes = malloc(RECEIVE_BYTES),
		.end = rm_mono_add(rm_mono_now(), WHOLE_NS) };
	int r = talk.fd < 0 ? -errno : 0;

	if (r == 0 && talk.bytes == NULL)
		r = -ENOMEM;
	if (r == 0 &&
	    setsockopt(talk.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		r = -errno;
	if (r == 0)
		r = ask_all(&talk, &list);
	if (r == 0)
		*ret = list;
	else
		qp_list_clear(&list);
	if (talk.fd >= 0)
		close(talk.fd);
	free(talk.bytes);
	return r;
}

void
qp_list_clear(struct qp_list *list)
{
	free(list->devices);
	free(list->rows);
	*list = (struct qp_list){ 0 };
}
