/*
 * netlink_reply - parses the kernel's answers over netlink. Pure.
 *
 * Newer kernels add attributes that are not known here: they are ignored.
 */
#ifndef HOST_AGENT_KERNEL_NETLINK_REPLY_H
#define HOST_AGENT_KERNEL_NETLINK_REPLY_H

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

/* Moves to the next attribute. False: there are no more, or the data are damaged. */
bool netlink_next(struct netlink_reader *reader, struct netlink_attribute *ret);
struct netlink_reader netlink_inside(const struct netlink_attribute *attribute);
bool netlink_u32(const struct netlink_attribute *attribute, uint32_t *ret);
bool netlink_u64(const struct netlink_attribute *attribute, uint64_t *ret);

/* Takes the first message off *data. *body: its contents, without the skip bytes of the
 * header that its *type has. Returns 1: there was a message; 0: the answer has ended;
 * -EBADMSG: damaged or incomplete; or the error that the kernel has answered with. */
int netlink_message(const uint8_t **data, size_t *len, size_t skip, uint16_t *type,
    struct netlink_reader *body);

#endif
