#include "host-agent/kernel/netlink_reply.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

bool
netlink_next(struct netlink_reader *reader, struct netlink_attribute *ret)
{
	struct nlattr head;
	size_t whole;

	if (reader->left == 0)
		return false;
	if (reader->left >= sizeof(head)) {
		memcpy(&head, reader->at, sizeof(head));
		if (head.nla_len >= NLA_HDRLEN && head.nla_len <= reader->left) {
			whole = NLA_ALIGN(head.nla_len);
			*ret = (struct netlink_attribute){ head.nla_type &
							       NLA_TYPE_MASK,
				reader->at + NLA_HDRLEN, head.nla_len - NLA_HDRLEN };
			if (whole >
			    reader->left) /* the last attribute needs no padding */
				whole = reader->left;
			reader->at += whole;
			reader->left -= whole;
			return true;
		}
	}
	reader->damaged = true;
	return false;
}

struct netlink_reader
netlink_inside(const struct netlink_attribute *attribute)
{
	return (struct netlink_reader){ attribute->data, attribute->len, false };
}

bool
netlink_u32(const struct netlink_attribute *attribute, uint32_t *ret)
{
	if (attribute->len != sizeof(*ret))
		return false;
	memcpy(ret, attribute->data, sizeof(*ret));
	return true;
}

bool
netlink_u64(const struct netlink_attribute *attribute, uint64_t *ret)
{
	if (attribute->len != sizeof(*ret))
		return false;
	memcpy(ret, attribute->data, sizeof(*ret));
	return true;
}

int
netlink_message(const uint8_t **data, size_t *len, size_t skip, uint16_t *type,
    struct netlink_reader *body)
{
	struct nlmsghdr head;
	int32_t error = 0;
	size_t whole;

	if (*len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, *data, sizeof(head));
	if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > *len)
		return -EBADMSG;
	*body = (struct netlink_reader){ *data + sizeof(head),
		head.nlmsg_len - sizeof(head), false };
	if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) {
		if (body->left >= sizeof(error))
			memcpy(&error, body->at, sizeof(error));
		else if (head.nlmsg_type == NLMSG_ERROR)
			return -EBADMSG;
		return error > 0 || error < -4095 ? -EBADMSG : error;
	}
	if (body->left < skip)
		return -EBADMSG;
	body->at += skip;
	body->left -= skip;
	*type = head.nlmsg_type;
	whole = NLMSG_ALIGN((size_t)head.nlmsg_len);
	if (whole > *len)
		whole = *len;
	*data += whole;
	*len -= whole;
	return 1;
}
