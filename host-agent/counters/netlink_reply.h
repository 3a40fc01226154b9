/*
 * netlink_reply - parses the kernel's answers over netlink. Pure.
 *
 * Newer kernels add attributes that are not known here: they are ignored.
 */
#ifndef HOST_AGENT_COUNTERS_NETLINK_REPLY_H
#define HOST_AGENT_COUNTERS_NETLINK_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netlink_attribute {
	unsigned type;
	const uint8_t *data;
	size_t len;
};

struct netlink_reader {
	const uint8_t *at;
	size_t left;
	bool damaged;
};

/* The next attribute. False: the end, or damaged. */
bool netlink_next(struct netlink_reader *reader, struct netlink_attribute *ret);
struct netlink_reader netlink_inside(const struct netlink_attribute *attribute);
bool netlink_u32(const struct netlink_attribute *attribute, uint32_t *ret);
bool netlink_u64(const struct netlink_attribute *attribute, uint64_t *ret);

/* The next message of an answer, and its body without skip bytes of a header of its
 * own. 1: there it is; 0: the answer is whole; -EBADMSG: damaged, or it breaks off; or
 * what the kernel says. */
int netlink_message(const uint8_t **data, size_t *len, size_t skip, uint16_t *type,
    struct netlink_reader *body);

#endif
