/*
 * grh - the 40 bytes in front of every UD payload: source address, DSCP, ECN and TTL of
 * a packet.
 *
 * With RoCE v2 over IPv4 they are 20 undefined bytes and the IPv4 header; over IPv6 and
 * InfiniBand an IPv6 header or a GRH, which have the same layout. The completion does
 * not say which layout the bytes have. Pure.
 */
#ifndef HOST_AGENT_PACKET_GRH_H
#define HOST_AGENT_PACKET_GRH_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define GRH_BYTES 40

struct grh {
	struct wire_address src, dst; /* both of one family; port 0 */
	uint32_t flow_label;          /* 20 bits; 0 with an IPv4 header */
	uint8_t dscp, ecn;
	uint8_t ttl; /* TTL or hop limit, as the packet arrived */
};

/* len: the number of bytes received, from the completion, with the payload. -EBADMSG:
 * fewer than 40 bytes, or none of the layouts. */
int grh_parse(const uint8_t *bytes, size_t len, struct grh *ret);

#endif
