/* This file first sends the requests to the kernel; its second half reads the answers.
 */
#include "host-agent/services/qp_list.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bpf/qp_event.h"
#include "rackmesh/core/clock.h"

#define RECEIVE_BYTES (64 << 10) /* the kernel fills at most 32 KiB */
#define WAIT_S 2                 /* time-out for one datagram */
#define WHOLE_NS (10 * RM_NS_PER_S)

struct request {
	struct nlmsghdr head;
	struct nlattr attribute; /* the device; QP_LIST_DEVICES has none */
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

/* Receives all datagrams of one answer. */
static int
receive(struct talk *talk, enum qp_list_ask what, struct qp_list *list)
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
		if (from.nl_pid != 0) /* the datagram is not from the kernel */
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
		r = receive(talk, QP_LIST_DEVICES, list);
	for (size_t i = 0; i < list->device_count && r == 0; i++) {
		uint32_t device = list->devices[i].index;

		r = ask(talk, QP_LIST_QPS, device);
		if (r == 0)
			r = receive(talk, QP_LIST_QPS, list);
		if (r == 0)
			r = ask(talk, QP_LIST_CONNECTIONS, device);
		if (r == 0)
			r = receive(talk, QP_LIST_CONNECTIONS, list);
		/* the device was removed after the list of devices was made */
		if (r == -ENODEV || r == -EINVAL)
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

/* ---- reading the answers of the kernel, by libnl ---- */

/* Newer kernels add attributes, which are ignored. */
#define FIRST_CAPACITY 64
#define ATTRIBUTES RDMA_NLDEV_ATTR_MAX

/* If an attribute is too short, or its text has no end, the whole entry is
 * malformed. */
static const struct nla_policy policies[ATTRIBUTES] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_RQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_PID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_RES_SRC_ADDR] = { .minlen = sizeof(sa_family_t) },
	[RDMA_NLDEV_ATTR_RES_DST_ADDR] = { .minlen = sizeof(sa_family_t) },
};

static uint32_t
get_u32(struct nlattr *const *found, unsigned type)
{
	return found[type] != NULL ? nla_get_u32(found[type]) : 0;
}

static uint8_t
get_u8(struct nlattr *const *found, unsigned type)
{
	return found[type] != NULL ? nla_get_u8(found[type]) : 0;
}

/* Returns family 0 for an address of InfiniBand. */
static struct wire_address
get_address(struct nlattr *const *found, unsigned type)
{
	struct wire_address ret = { 0 };
	struct sockaddr_storage from = { 0 };
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&from;
	int len;

	if (found[type] == NULL)
		return ret;
	len = nla_memcpy(&from, found[type], sizeof(from));
	if (from.ss_family == AF_INET && len >= (int)sizeof(*v4)) {
		ret = (struct wire_address){ .family = 4, .port = ntohs(v4->sin_port) };
		memcpy(ret.bytes, &v4->sin_addr, sizeof(v4->sin_addr));
	} else if (from.ss_family == AF_INET6 && len >= (int)sizeof(*v6)) {
		ret =
		    (struct wire_address){ .family = 6, .port = ntohs(v6->sin6_port) };
		memcpy(ret.bytes, &v6->sin6_addr, sizeof(v6->sin6_addr));
	}
	return ret;
}

/* Makes room for one more element after count. */
static int
grow(void **array, size_t count, size_t max, size_t size)
{
	size_t capacity = FIRST_CAPACITY;
	void *grown;

	if (count >= max)
		return -ENOSPC;
	if (count != 0 && (count < FIRST_CAPACITY || (count & (count - 1)) != 0))
		return 0; /* there is room until the count is a power of two */
	if (count != 0)
		capacity = count * 2;
	grown = realloc(*array, capacity * size);
	if (grown == NULL)
		return -ENOMEM;
	*array = grown;
	return 0;
}

/* found: the attributes of one message of the answer to QP_LIST_DEVICES. */
static int
take_device(struct qp_list *list, struct nlattr *const *found)
{
	const struct nlattr *name = found[RDMA_NLDEV_ATTR_DEV_NAME];
	struct qp_list_device device = { .index = get_u32(
					     found, RDMA_NLDEV_ATTR_DEV_INDEX) };
	int r;

	/* A name that does not fit is not the name of a device. */
	if (found[RDMA_NLDEV_ATTR_DEV_INDEX] == NULL || name == NULL ||
	    nla_strlcpy(device.name, name, sizeof(device.name)) >=
		sizeof(device.name) ||
	    device.name[0] == '\0') {
		list->malformed++;
		return 0;
	}
	r = grow((void **)&list->devices, list->device_count, QP_LIST_MAX_DEVICES,
	    sizeof(device));
	if (r == -ENOSPC) {
		list->cut = true;
		return 0;
	}
	if (r == 0)
		list->devices[list->device_count++] = device;
	return r;
}

/* Reads one QP or one connection. */
static bool
read_entry(struct nlattr *entry, struct qp_list_row *row)
{
	struct nlattr *found[ATTRIBUTES];
	const struct nlattr *name;

	if (nla_parse_nested(found, ATTRIBUTES - 1, entry, policies) < 0)
		return false;
	row->port = get_u32(found, RDMA_NLDEV_ATTR_PORT_INDEX);
	row->qpn = get_u32(found, RDMA_NLDEV_ATTR_RES_LQPN);
	row->dst_qpn = get_u32(found, RDMA_NLDEV_ATTR_RES_RQPN);
	row->type = get_u8(found, RDMA_NLDEV_ATTR_RES_TYPE);
	row->state = get_u8(found, RDMA_NLDEV_ATTR_RES_STATE);
	row->pid = get_u32(found, RDMA_NLDEV_ATTR_RES_PID);
	name = found[RDMA_NLDEV_ATTR_RES_KERN_NAME];
	if (name !=
	    NULL) /* the name is only displayed, so a name that is too long is cut */
		nla_strlcpy(row->kernel, name, sizeof(row->kernel));
	row->src = get_address(found, RDMA_NLDEV_ATTR_RES_SRC_ADDR);
	row->dst = get_address(found, RDMA_NLDEV_ATTR_RES_DST_ADDR);
	return true;
}

static bool
is_connected(uint8_t type)
{
	return type == QP_EVENT_RC || type == QP_EVENT_UC || type == QP_EVENT_XRC_INI ||
	       type == QP_EVENT_XRC_TGT;
}

static int
add_row(struct qp_list *list, const struct qp_list_row *row)
{
	int r;

	if (!is_connected(row->type))
		return 0;
	r = grow((void **)&list->rows, list->row_count, QP_LIST_MAX_ROWS, sizeof(*row));
	if (r == -ENOSPC) {
		list->cut = true;
		return 0;
	}
	if (r == 0)
		list->rows[list->row_count++] = *row;
	return r;
}

/* Adds the addresses of a connection to its QP. The QP was listed before, unless it was
 * created after that. Both lists have about the same order, so the search begins after
 * the QP found last. */
static void
add_connection(struct qp_list *list, const struct qp_list_row *connection)
{
	for (size_t n = 0; n < list->row_count; n++) {
		size_t i = (list->hint + n) % list->row_count;
		struct qp_list_row *row = &list->rows[i];

		if (row->device != connection->device || row->qpn != connection->qpn)
			continue;
		row->src = connection->src;
		row->dst = connection->dst;
		if (row->port == 0)
			row->port = connection->port;
		list->hint = i + 1;
		break;
	}
}

static int
take_entries(struct qp_list *list, enum qp_list_ask ask, size_t device,
    const struct nlattr *table)
{
	const int type = ask == QP_LIST_QPS ? RDMA_NLDEV_ATTR_RES_QP_ENTRY
					    : RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY;
	struct nlattr *entry;
	int r = 0, left;

	nla_for_each_nested(entry, table, left)
	{
		struct qp_list_row row = { .device = (uint16_t)device };

		if (nla_type(entry) != type)
			continue;
		if (!read_entry(entry, &row))
			list->malformed++;
		else if (row.qpn == 0)
			continue; /* the connection has no QP */
		else if (ask == QP_LIST_QPS)
			r = add_row(list, &row);
		else
			add_connection(list, &row);
		if (r < 0)
			return r;
	}
	list->malformed += left > 0;
	return 0;
}

/* found: the attributes of one message of another answer: a device and a part of its
 * table. */
static int
take_table(struct qp_list *list, enum qp_list_ask ask, struct nlattr *const *found)
{
	const struct nlattr *table =
	    found[ask == QP_LIST_QPS ? RDMA_NLDEV_ATTR_RES_QP
				     : RDMA_NLDEV_ATTR_RES_CM_ID];
	const uint32_t index = get_u32(found, RDMA_NLDEV_ATTR_DEV_INDEX);
	size_t device = 0;

	while (device < list->device_count && list->devices[device].index != index)
		device++;
	if (found[RDMA_NLDEV_ATTR_DEV_INDEX] == NULL || device == list->device_count) {
		list->malformed++;
		return 0;
	}
	return table != NULL ? take_entries(list, ask, device, table) : 0;
}

/* Returns 1: the message is the last one of the answer. */
static int
take_message(struct qp_list *list, enum qp_list_ask ask, const struct nlmsghdr *head)
{
	struct nlattr *found[ATTRIBUTES];
	int32_t error = 0;

	if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE) {
		if (nlmsg_datalen(head) >= (int)sizeof(error))
			memcpy(&error, nlmsg_data(head), sizeof(error));
		else if (head->nlmsg_type == NLMSG_ERROR)
			return -EBADMSG;
		if (error > 0 || error < -4095)
			return -EBADMSG;
		return error < 0 ? error : 1;
	}
	if (RDMA_NL_GET_CLIENT(head->nlmsg_type) != RDMA_NL_NLDEV)
		return 0;
	if (nla_parse(found, ATTRIBUTES - 1, nlmsg_attrdata(head, 0),
		nlmsg_attrlen(head, 0), policies) < 0) {
		list->malformed++;
		return 0;
	}
	return ask == QP_LIST_DEVICES ? take_device(list, found)
				      : take_table(list, ask, found);
}

int
qp_list_take(struct qp_list *list, enum qp_list_ask ask, uint32_t seq,
    const uint8_t *data, size_t len)
{
	struct nlmsghdr *head = (struct nlmsghdr *)data;
	int left = (int)len, r = 0;

	for (; nlmsg_ok(head, left); head = nlmsg_next(head, &left)) {
		if (head->nlmsg_seq == seq)
			r = take_message(list, ask, head);
		if (r != 0)
			return r;
	}
	return left > 0 ? -EBADMSG : 0;
}
