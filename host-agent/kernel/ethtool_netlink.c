#include "host-agent/kernel/ethtool_netlink.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"

#define FAMILY_BYTES (16 << 10) /* the kernel lists all features of the family */

void
ethtool_add(
    struct ethtool_question *question, unsigned type, const void *data, size_t len)
{
	const struct nlattr head = { (uint16_t)(NLA_HDRLEN + len), (uint16_t)type };

	memcpy(question->rest + question->len, &head, sizeof(head));
	memcpy(question->rest + question->len + NLA_HDRLEN, data, len);
	question->len += NLA_ALIGN(NLA_HDRLEN + len);
}

void
ethtool_add_u32(struct ethtool_question *question, unsigned type, uint32_t value)
{
	ethtool_add(question, type, &value, sizeof(value));
}

void
ethtool_add_u8(struct ethtool_question *question, unsigned type, uint8_t value)
{
	ethtool_add(question, type, &value, sizeof(value));
}

void
ethtool_begin(struct ethtool_question *question, uint8_t command, unsigned header,
    const char *netdev, uint32_t flags)
{
	struct ethtool_question inside = { .len = 0 };
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "%s", netdev);
	ethtool_add(&inside, ETHTOOL_A_HEADER_DEV_NAME, name, strlen(name) + 1);
	if (flags != 0)
		ethtool_add_u32(&inside, ETHTOOL_A_HEADER_FLAGS, flags);
	*question = (struct ethtool_question){
		.generic = { .cmd = command, .version = ETHTOOL_GENL_VERSION },
	};
	ethtool_add(question, header | NLA_F_NESTED, inside.rest, inside.len);
}

int
ethtool_ask(const struct counter_kernel *kernel, struct ethtool_question *question,
    uint16_t family, uint8_t *reply, size_t room, struct netlink_reader *body)
{
	struct netlink_reader message;
	const uint8_t *at = reply;
	bool found = false;
	uint16_t of;
	size_t len;
	int r;

	question->head = (struct nlmsghdr){
		.nlmsg_len =
		    (uint32_t)(offsetof(struct ethtool_question, rest) + question->len),
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};
	if (kernel->netlink == NULL)
		return -EOPNOTSUPP;
	r = kernel->netlink(kernel->arg, NETLINK_GENERIC, &question->head, reply, room);
	if (r < 0)
		return r;
	len = (size_t)r;
	while ((r = netlink_message(&at, &len, GENL_HDRLEN, &of, &message)) > 0) {
		if (of != family || found)
			continue;
		*body = message;
		found = true;
	}
	return r < 0 ? r : found ? 0 : -EBADMSG;
}

int
ethtool_family(const struct counter_kernel *kernel, uint16_t *ret)
{
	struct ethtool_question question = { .generic = { .cmd = CTRL_CMD_GETFAMILY,
						 .version = 1 } };
	struct netlink_attribute attribute;
	uint8_t reply[FAMILY_BYTES];
	struct netlink_reader body;
	int r;

	ethtool_add(&question, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME,
	    sizeof(ETHTOOL_GENL_NAME));
	r = ethtool_ask(kernel, &question, GENL_ID_CTRL, reply, sizeof(reply), &body);
	if (r < 0)
		return r;
	while (netlink_next(&body, &attribute)) {
		if (attribute.type != CTRL_ATTR_FAMILY_ID)
			continue;
		if (attribute.len != sizeof(*ret))
			return -EBADMSG;
		memcpy(ret, attribute.data, sizeof(*ret));
		return 0;
	}
	return -EBADMSG;
}
