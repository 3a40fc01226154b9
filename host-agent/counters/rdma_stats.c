#include "host-agent/counters/rdma_stats.h"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"

struct request {
	struct nlmsghdr head;
	struct {
		struct nlattr head;
		uint32_t value;
		/* The length of the request includes these two attributes only if they
		 * are used. */
	} device, port;
};

/* The numbers of the kernel's attributes: table holds entries, and an entry holds a
 * name and a value. */
static const struct table {
	unsigned command, table, entry, name, value;
	bool of_port;
} tables[] = {
	[RDMA_STATS_COUNTERS] = { RDMA_NLDEV_CMD_STAT_GET,
	    RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
	    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
	    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, true },
	[RDMA_STATS_RESOURCES] = { RDMA_NLDEV_CMD_RES_GET, RDMA_NLDEV_ATTR_RES_SUMMARY,
	    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
	    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, false },
};

static struct request
request_of(unsigned command, size_t len, uint32_t device, uint32_t port)
{
	return (struct request){
		.head = { .nlmsg_len = (uint32_t)len,
		    .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		    .nlmsg_flags =
			NLM_F_REQUEST |
			(command == RDMA_NLDEV_CMD_GET ? NLM_F_DUMP : NLM_F_ACK) },
		.device = { { NLA_HDRLEN + sizeof(device), RDMA_NLDEV_ATTR_DEV_INDEX },
		    device },
		.port = { { NLA_HDRLEN + sizeof(port), RDMA_NLDEV_ATTR_PORT_INDEX },
		    port },
	};
}

static bool
is_name(const struct netlink_attribute *attribute, const char *name)
{
	const size_t len = strnlen((const char *)attribute->data, attribute->len);

	return len == strlen(name) && memcmp(attribute->data, name, len) == 0;
}

int
rdma_stats_device(
    const struct counter_kernel *kernel, const char *device, uint32_t *ret)
{
	const struct request request =
	    request_of(RDMA_NLDEV_CMD_GET, sizeof(struct nlmsghdr), 0, 0);
	uint8_t reply[COUNTER_REPLY_BYTES];
	const uint8_t *at = reply;
	struct netlink_reader body;
	bool found = false;
	uint16_t type;
	size_t len;
	int r = kernel->netlink(
	    kernel->arg, NETLINK_RDMA, &request.head, reply, sizeof(reply));

	if (r < 0)
		return r;
	len = (size_t)r;
	while ((r = netlink_message(&at, &len, 0, &type, &body)) > 0) {
		struct netlink_attribute attribute;
		bool named = false, numbered = false;
		uint32_t index = 0;

		while (netlink_next(&body, &attribute)) {
			if (attribute.type == RDMA_NLDEV_ATTR_DEV_NAME)
				named = is_name(&attribute, device);
			else if (attribute.type == RDMA_NLDEV_ATTR_DEV_INDEX)
				numbered = netlink_u32(&attribute, &index);
		}
		if (named && numbered) {
			*ret = index;
			found = true;
		}
	}
	return r < 0 ? r : found ? 0 : -ENODEV;
}

/* ---- Names and values ---- */

/* learn: stores the name; otherwise the name must be the stored one. */
static int
take_entry(struct rdma_stats *stats, const struct table *table,
    struct netlink_reader reader, bool learn, size_t at)
{
	struct netlink_attribute attribute, name = { 0 };
	bool valued = false;

	while (netlink_next(&reader, &attribute)) {
		if (attribute.type == table->name)
			name = attribute;
		else if (attribute.type == table->value)
			valued = netlink_u64(&attribute, &stats->values[at]);
	}
	if (reader.damaged || !valued || name.data == NULL)
		return -EBADMSG;
	if (learn) {
		const size_t len = strnlen((const char *)name.data, name.len);

		if (len >= RDMA_STATS_NAME)
			return -EBADMSG;
		memcpy(stats->names[at], name.data, len);
		stats->names[at][len] = '\0';
	}
	return is_name(&name, stats->names[at]) ? 0 : -ESTALE;
}

static int
take_table(struct rdma_stats *stats, const struct table *table,
    struct netlink_reader reader, bool learn)
{
	const size_t room = learn ? RDMA_STATS_MAX : stats->count;
	struct netlink_attribute attribute;
	size_t at = 0;
	int r = 0;

	while (r == 0 && netlink_next(&reader, &attribute)) {
		if (attribute.type != table->entry)
			continue;
		if (at == room && room == RDMA_STATS_MAX)
			break; /* the table is full: the rest is left out */
		if (at == room)
			return -ESTALE;
		r = take_entry(stats, table, netlink_inside(&attribute), learn, at);
		at += r == 0;
	}
	if (learn)
		stats->count = at;
	if (r == 0 && reader.damaged)
		r = -EBADMSG;
	return r == 0 && at != stats->count ? -ESTALE : r;
}

static int
ask(struct rdma_stats *stats, const struct table *table,
    const struct counter_kernel *kernel, bool learn)
{
	const struct request request = request_of(table->command,
	    table->of_port ? sizeof(struct request) : offsetof(struct request, port),
	    stats->device, stats->port);
	uint8_t reply[COUNTER_REPLY_BYTES];
	const uint8_t *at = reply;
	struct netlink_reader body;
	bool found = false;
	uint16_t type;
	size_t len;
	int r = kernel->netlink(
	    kernel->arg, NETLINK_RDMA, &request.head, reply, sizeof(reply));

	if (r < 0)
		return r;
	len = (size_t)r;
	while ((r = netlink_message(&at, &len, 0, &type, &body)) > 0) {
		struct netlink_attribute attribute;

		while (netlink_next(&body, &attribute)) {
			if (attribute.type != table->table || found)
				continue;
			found = true;
			r = take_table(stats, table, netlink_inside(&attribute), learn);
			if (r < 0)
				return r;
		}
	}
	return r < 0 ? r : found ? 0 : -ENODATA;
}

int
rdma_stats_look(struct rdma_stats *stats, enum rdma_stats_table table,
    const struct counter_kernel *kernel, const char *device, uint8_t port)
{
	int r;

	stats->count = 0;
	stats->there = false;
	stats->port = port;
	if (kernel->netlink == NULL)
		return -EOPNOTSUPP;
	r = rdma_stats_device(kernel, device, &stats->device);
	if (r == 0)
		r = ask(stats, &tables[table], kernel, true);
	if (r < 0)
		stats->count = 0;
	return r;
}

int
rdma_stats_find(const struct rdma_stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->count; i++)
		if (strcmp(stats->names[i], name) == 0)
			return (int)i;
	return -ENOENT;
}

int
rdma_stats_read(struct rdma_stats *stats, enum rdma_stats_table table,
    const struct counter_kernel *kernel)
{
	int r;

	stats->there = false;
	if (stats->count == 0)
		return 0;
	r = ask(stats, &tables[table], kernel, false);
	stats->there = r == 0;
	return r == -ENODEV || r == -EINVAL ? -ESTALE : r;
}
