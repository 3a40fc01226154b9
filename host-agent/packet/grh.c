#include "host-agent/packet/grh.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "host-agent/packet/gid.h"

#define IPV4_AT 20 /* the IPv4 header is at the end of the 40 bytes */
#define IPV4_PROTOCOL_UDP 17

static bool
ipv4_checksum_is_right(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static void
take_class(uint8_t class, struct grh *grh)
{
	grh->dscp = class >> 2;
	grh->ecn = class & 3;
}

static void
take_ipv4(const uint8_t *header, struct grh *ret)
{
	*ret = (struct grh){ .src.family = 4, .dst.family = 4, .ttl = header[8] };
	take_class(header[1], ret);
	memcpy(ret->src.bytes, header + 12, 4);
	memcpy(ret->dst.bytes, header + 16, 4);
}

static int
take_ipv6(const uint8_t *header, struct grh *ret)
{
	struct grh grh = { .ttl = header[7] };

	take_class((uint8_t)(header[0] << 4 | header[1] >> 4), &grh);
	grh.flow_label =
	    (uint32_t)(header[1] & 0x0f) << 16 | (uint32_t)header[2] << 8 | header[3];
	/* With RoCE v1 the two GIDs of a GRH may be mapped IPv4 addresses. */
	gid_to_address(header + 8, &grh.src);
	gid_to_address(header + 24, &grh.dst);
	if (grh.src.family != grh.dst.family || gid_is_zero(header + 8) ||
	    gid_is_zero(header + 24))
		return -EBADMSG;
	*ret = grh;
	return 0;
}

/*
 * The layouts are tried in the order of rdma-core's ibv_init_ah_from_wc. With IPv4 the
 * first 20 bytes are undefined and may begin with a 6 by chance: then the checksum of
 * the IPv4 header decides. If they do not begin with a 6, the checksum is not checked,
 * because rxe delivers packets between QPs of one device without having set it.
 */
int
grh_parse(const uint8_t *bytes, size_t len, struct grh *ret)
{
	const uint8_t *ipv4 = bytes + IPV4_AT;
	bool may_be_ipv4;

	if (len < GRH_BYTES)
		return -EBADMSG;
	may_be_ipv4 = ipv4[0] == 0x45 && ipv4[9] == IPV4_PROTOCOL_UDP;
	if (bytes[0] >> 4 == 6 && !(may_be_ipv4 && ipv4_checksum_is_right(ipv4)))
		return take_ipv6(bytes, ret);
	if (!may_be_ipv4)
		return -EBADMSG;
	take_ipv4(ipv4, ret);
	return 0;
}
