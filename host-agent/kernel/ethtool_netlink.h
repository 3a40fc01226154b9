/*
 * ethtool_netlink - asks the kernel about one network device, over the netlink family
 * "ethtool".
 */
#ifndef HOST_AGENT_KERNEL_ETHTOOL_NETLINK_H
#define HOST_AGENT_KERNEL_ETHTOOL_NETLINK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

struct counter_kernel;
struct netlink_reader;

#define ETHTOOL_QUESTION_BYTES 128 /* of all attributes */

struct ethtool_question {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	uint8_t rest[ETHTOOL_QUESTION_BYTES];
	size_t len; /* number of bytes after the header */
};

/* Finds the number that the kernel has given to the family. */
int ethtool_family(const struct counter_kernel *kernel, uint16_t *ret);

/* command: ETHTOOL_MSG_*_GET. header: type of its attribute for the header. flags:
 * ETHTOOL_FLAG_*. */
void ethtool_begin(struct ethtool_question *question, uint8_t command, unsigned header,
    const char *netdev, uint32_t flags);
/* All attributes together must fit into ETHTOOL_QUESTION_BYTES. */
void ethtool_add(
    struct ethtool_question *question, unsigned type, const void *data, size_t len);
void ethtool_add_u32(struct ethtool_question *question, unsigned type, uint32_t value);
void ethtool_add_u8(struct ethtool_question *question, unsigned type, uint8_t value);

/* Sends the request. *body: the attributes of the answer, in reply. -EBADMSG: there is
 * no answer. */
int ethtool_ask(const struct counter_kernel *kernel, struct ethtool_question *question,
    uint16_t family, uint8_t *reply, size_t room, struct netlink_reader *body);

#endif
