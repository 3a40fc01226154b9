#include "host-agent/counters/qp_counters.h"

#include <ctype.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "host-agent/counters/rdma_stats.h"
#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"

struct number {
	struct nlattr head;
	uint32_t value;
};

struct group { /* the QPs that one hardware counter counts */
	uint32_t port, pid;
	struct netlink_attribute counters;
};

static struct number
number(uint16_t type, uint32_t value)
{
	return (struct number){ { NLA_HDRLEN + sizeof(value), type }, value };
}

/* Returns the index of the name; -1: the name is not valid, or the table of names is
 * full. */
static int
name_at(struct qp_counters *all, const struct netlink_attribute *name)
{
	const size_t len = strnlen((const char *)name->data, name->len);

	for (size_t i = 0; i < all->name_count; i++)
		if (strlen(all->names[i]) == len &&
		    memcmp(all->names[i], name->data, len) == 0)
			return (int)i;
	if (len == 0 || len >= QP_COUNTERS_NAME || all->name_count == QP_COUNTERS_NAMES)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (!isalnum(name->data[i]) && name->data[i] != '_')
			return -1;
	memcpy(all->names[all->name_count], name->data, len);
	all->names[all->name_count][len] = '\0';
	return (int)all->name_count++;
}

static int
take_counter(struct qp_counters *all, struct qp_counters_process *process,
    struct netlink_reader reader)
{
	struct netlink_attribute attribute, name = { 0 };
	uint64_t value = 0;
	bool valued = false;
	int at;

	while (netlink_next(&reader, &attribute)) {
		if (attribute.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
			name = attribute;
		else if (attribute.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)
			valued = netlink_u64(&attribute, &value);
	}
	if (reader.damaged || !valued || name.data == NULL)
		return -EBADMSG;
	at = name_at(all, &name);
	if (at >= 0)
		process->values[at] += value;
	return 0;
}

/* Returns NULL if the table of processes is full. */
static struct qp_counters_process *
process_of(struct qp_counters *all, uint32_t pid)
{
	for (size_t i = 0; i < all->process_count; i++)
		if (all->processes[i].pid == pid)
			return &all->processes[i];
	if (all->process_count == QP_COUNTERS_PROCESSES)
		return NULL;
	all->processes[all->process_count].pid = pid;
	return &all->processes[all->process_count++];
}

static int
take_group(struct qp_counters *all, struct netlink_reader reader, uint8_t port)
{
	struct qp_counters_process *process;
	struct netlink_attribute attribute;
	struct group group = { 0 };
	int r = 0;

	while (netlink_next(&reader, &attribute)) {
		if (attribute.type == RDMA_NLDEV_ATTR_PORT_INDEX)
			(void)netlink_u32(&attribute, &group.port);
		else if (attribute.type == RDMA_NLDEV_ATTR_RES_PID)
			(void)netlink_u32(&attribute, &group.pid);
		else if (attribute.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			group.counters = attribute;
	}
	if (reader.damaged || group.counters.data == NULL)
		return -EBADMSG;
	if (group.port != port)
		return 0;
	/* A group without a process was bound by hand, or by the type of QP: it counts
	 * the QPs of several processes. */
	process = group.pid == 0 ? NULL : process_of(all, group.pid);
	if (process == NULL) {
		all->left_out++;
		return 0;
	}
	reader = netlink_inside(&group.counters);
	while (r == 0 && netlink_next(&reader, &attribute))
		if (attribute.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)
			r = take_counter(all, process, netlink_inside(&attribute));
	return r == 0 && reader.damaged ? -EBADMSG : r;
}

static int
take_table(struct qp_counters *all, struct netlink_reader reader, uint8_t port)
{
	struct netlink_attribute attribute;
	int r = 0;

	while (r == 0 && netlink_next(&reader, &attribute))
		if (attribute.type == RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY)
			r = take_group(all, netlink_inside(&attribute), port);
	return r == 0 && reader.damaged ? -EBADMSG : r;
}

static int
take(struct qp_counters *all, const uint8_t *reply, size_t len, uint8_t port)
{
	struct netlink_attribute attribute;
	struct netlink_reader body;
	uint16_t type;
	int r;

	while ((r = netlink_message(&reply, &len, 0, &type, &body)) > 0) {
		while (netlink_next(&body, &attribute)) {
			if (attribute.type != RDMA_NLDEV_ATTR_STAT_COUNTER)
				continue;
			r = take_table(all, netlink_inside(&attribute), port);
			if (r < 0)
				return r;
		}
		if (body.damaged)
			return -EBADMSG;
	}
	return r;
}

int
qp_counters_read(struct qp_counters *ret, const struct counter_kernel *kernel,
    const char *device, uint8_t port, uint8_t *reply)
{
	struct {
		struct nlmsghdr head;
		struct number device, port, of;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
		    .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(
			RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET),
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.port = number(RDMA_NLDEV_ATTR_PORT_INDEX, port),
		.of = number(RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP),
	};
	uint32_t index = 0;
	int r = -EOPNOTSUPP;

	*ret = (struct qp_counters){ 0 };
	if (kernel->netlink != NULL)
		r = rdma_stats_device(kernel, device, &index);
	request.device = number(RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (r == 0)
		r = kernel->netlink(kernel->arg, NETLINK_RDMA, &request.head, reply,
		    QP_COUNTERS_REPLY_BYTES);
	if (r > 0)
		r = take(ret, reply, (size_t)r, port);
	if (r < 0)
		*ret = (struct qp_counters){ 0 };
	return r;
}
