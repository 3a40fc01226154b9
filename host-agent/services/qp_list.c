/* Sends requests to the kernel; the second half of this file reads its answers. */
#include "host-agent/services/qp_list.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
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

/* Receives one whole answer. */
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
		if (from.nl_pid != 0) /* not from the kernel */
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
		if (r == -ENODEV || r == -EINVAL) /* the device was removed meanwhile */
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

/* ---- Reads the answers of the kernel. Newer kernels add attributes, which are
 * ignored ---- */

#define FIRST_CAPACITY 64

struct attribute {
	unsigned type;
	const uint8_t *data;
	size_t len;
};

struct reader {
	const uint8_t *at;
	size_t left;
	bool damaged;
};

/* False: the end, or damaged. */
static bool
next(struct reader *reader, struct attribute *ret)
{
	struct nlattr head;
	size_t whole;

	if (reader->left == 0)
		return false;
	if (reader->left >= sizeof(head)) {
		memcpy(&head, reader->at, sizeof(head));
		if (head.nla_len >= NLA_HDRLEN && head.nla_len <= reader->left) {
			whole = NLA_ALIGN(head.nla_len);
			*ret = (struct attribute){ head.nla_type & RDMA_NLA_TYPE_MASK,
				reader->at + NLA_HDRLEN, head.nla_len - NLA_HDRLEN };
			if (whole > reader->left) /* the last one needs no padding */
				whole = reader->left;
			reader->at += whole;
			reader->left -= whole;
			return true;
		}
	}
	reader->damaged = true;
	return false;
}

static struct reader
inside(const struct attribute *attribute)
{
	return (struct reader){ attribute->data, attribute->len, false };
}

static bool
read_u32(const struct attribute *from, uint32_t *ret)
{
	if (from->len != sizeof(*ret))
		return false;
	memcpy(ret, from->data, sizeof(*ret));
	return true;
}

static bool
read_u8(const struct attribute *from, uint8_t *ret)
{
	if (from->len != sizeof(*ret))
		return false;
	*ret = from->data[0];
	return true;
}

/* A name that does not fit is not the name of a device or module. */
static bool
read_name(const struct attribute *from, char *ret, size_t room)
{
	size_t len = strnlen((const char *)from->data, from->len);

	if (len == 0 || len >= room)
		return false;
	memcpy(ret, from->data, len);
	ret[len] = 0;
	return true;
}

static bool
read_address(const struct attribute *from, struct wire_address *ret)
{
	struct sockaddr_in6 v6 = { 0 };
	struct sockaddr_in v4;
	sa_family_t family;

	if (from->len < sizeof(family))
		return false;
	memcpy(&family, from->data, sizeof(family));
	if (family == AF_INET && from->len >= sizeof(v4)) {
		memcpy(&v4, from->data, sizeof(v4));
		*ret = (struct wire_address){ .family = 4, .port = ntohs(v4.sin_port) };
		memcpy(ret->bytes, &v4.sin_addr, sizeof(v4.sin_addr));
		return true;
	}
	if (family == AF_INET6 && from->len >= sizeof(v6)) {
		memcpy(&v6, from->data, sizeof(v6));
		*ret =
		    (struct wire_address){ .family = 6, .port = ntohs(v6.sin6_port) };
		memcpy(ret->bytes, &v6.sin6_addr, sizeof(v6.sin6_addr));
		return true;
	}
	return true; /* of InfiniBand: it is left out */
}

/* Makes room for one more element behind count. */
static int
grow(void **array, size_t count, size_t max, size_t size)
{
	size_t capacity = FIRST_CAPACITY;
	void *grown;

	if (count >= max)
		return -ENOSPC;
	if (count != 0 && (count < FIRST_CAPACITY || (count & (count - 1)) != 0))
		return 0; /* capacity is the next power of two */
	if (count != 0)
		capacity = count * 2;
	grown = realloc(*array, capacity * size);
	if (grown == NULL)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static int
take_device(struct qp_list *list, struct reader *reader)
{
	struct qp_list_device device = { 0 };
	bool has_index = false, has_name = false;
	struct attribute a;
	int r;

	while (next(reader, &a)) {
		if (a.type == RDMA_NLDEV_ATTR_DEV_INDEX)
			has_index = read_u32(&a, &device.index);
		else if (a.type == RDMA_NLDEV_ATTR_DEV_NAME)
			has_name = read_name(&a, device.name, sizeof(device.name));
	}
	if (reader->damaged || !has_index || !has_name) {
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
read_entry(struct reader reader, struct qp_list_row *row)
{
	bool fine = true;
	struct attribute a;

	while (fine && next(&reader, &a)) {
		switch (a.type) {
		case RDMA_NLDEV_ATTR_PORT_INDEX:
			fine = read_u32(&a, &row->port);
			break;
		case RDMA_NLDEV_ATTR_RES_LQPN:
			fine = read_u32(&a, &row->qpn);
			break;
		case RDMA_NLDEV_ATTR_RES_RQPN:
			fine = read_u32(&a, &row->dst_qpn);
			break;
		case RDMA_NLDEV_ATTR_RES_TYPE:
			fine = read_u8(&a, &row->type);
			break;
		case RDMA_NLDEV_ATTR_RES_STATE:
			fine = read_u8(&a, &row->state);
			break;
		case RDMA_NLDEV_ATTR_RES_PID:
			fine = read_u32(&a, &row->pid);
			break;
		case RDMA_NLDEV_ATTR_RES_KERN_NAME:
			/* The name is only displayed. */
			read_name(&a, row->kernel, sizeof(row->kernel));
			break;
		case RDMA_NLDEV_ATTR_RES_SRC_ADDR:
			fine = read_address(&a, &row->src);
			break;
		case RDMA_NLDEV_ATTR_RES_DST_ADDR:
			fine = read_address(&a, &row->dst);
			break;
		default:
			break;
		}
	}
	return fine && !reader.damaged;
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

/* The QP of a connection was listed before, unless it is younger: both lists have
 * about the same order, so the next QP is behind the last one found. */
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
take_entries(
    struct qp_list *list, enum qp_list_ask ask, size_t device, struct reader reader)
{
	const unsigned entry = ask == QP_LIST_QPS ? RDMA_NLDEV_ATTR_RES_QP_ENTRY
						  : RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY;
	struct attribute a;
	int r = 0;

	while (r == 0 && next(&reader, &a)) {
		struct qp_list_row row = { .device = (uint16_t)device };

		if (a.type != entry)
			continue;
		if (!read_entry(inside(&a), &row))
			list->malformed++;
		else if (row.qpn == 0)
			continue; /* a connection without a QP */
		else if (ask == QP_LIST_QPS)
			r = add_row(list, &row);
		else
			add_connection(list, &row);
	}
	if (reader.damaged)
		list->malformed++;
	return r;
}

static int
take_table(struct qp_list *list, enum qp_list_ask ask, struct reader *reader)
{
	const unsigned table =
	    ask == QP_LIST_QPS ? RDMA_NLDEV_ATTR_RES_QP : RDMA_NLDEV_ATTR_RES_CM_ID;
	size_t device = list->device_count;
	struct attribute a;
	uint32_t index;
	int r = 0;

	/* The device's index comes before its table. */
	while (r == 0 && next(reader, &a)) {
		if (a.type == RDMA_NLDEV_ATTR_DEV_INDEX && read_u32(&a, &index)) {
			for (device = 0; device < list->device_count; device++)
				if (list->devices[device].index == index)
					break;
		} else if (a.type == table && device < list->device_count) {
			r = take_entries(list, ask, device, inside(&a));
		}
	}
	if (reader->damaged || device == list->device_count)
		list->malformed++;
	return r;
}

/* 1: the last. */
static int
take_message(struct qp_list *list, enum qp_list_ask ask, const struct nlmsghdr *head,
    struct reader body)
{
	int32_t error = 0;

	if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE) {
		if (body.left >= sizeof(error))
			memcpy(&error, body.at, sizeof(error));
		else if (head->nlmsg_type == NLMSG_ERROR)
			return -EBADMSG;
		if (error > 0 || error < -4095)
			return -EBADMSG;
		return error < 0 ? error : 1;
	}
	if (RDMA_NL_GET_CLIENT(head->nlmsg_type) != RDMA_NL_NLDEV)
		return 0;
	return ask == QP_LIST_DEVICES ? take_device(list, &body)
				      : take_table(list, ask, &body);
}

int
qp_list_take(struct qp_list *list, enum qp_list_ask ask, uint32_t seq,
    const uint8_t *data, size_t len)
{
	while (len > 0) {
		struct nlmsghdr head;
		size_t whole;
		int r = 0;

		if (len < sizeof(head))
			return -EBADMSG;
		memcpy(&head, data, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > len)
			return -EBADMSG;
		if (head.nlmsg_seq == seq)
			r = take_message(list, ask, &head,
			    (struct reader){ data + sizeof(head),
				head.nlmsg_len - sizeof(head), false });
		if (r != 0)
			return r;
		whole = NLMSG_ALIGN((size_t)head.nlmsg_len);
		if (whole > len)
			whole = len;
		data += whole;
		len -= whole;
	}
	return 0;
}
