/*
 * trace_packet - a packet that follows a probe's path until its TTL runs out, and the
 * ICMP answer of the switch where that happens.
 *
 * It has the 5-tuple and class of the probes of a flow. It is far too short for a
 * probe, so no reflector answers or counts one that arrives. An answer belongs to a
 * trace if it quotes a packet that this agent would build with exactly these bytes; the
 * caller knows whether it was sent. An attacker who does not see the packets would have
 * to guess 16 bits of each, which are derived from a secret, besides flow and token:
 * with IPv4, whose switches need not quote more, these are the UDP checksum. Pure.
 */
#ifndef HOST_AGENT_TRACE_TRACE_PACKET_H
#define HOST_AGENT_TRACE_TRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define TRACE_PAYLOAD_BYTES 8
#define TRACE_PACKET_MAX_BYTES (40 + 8 + TRACE_PAYLOAD_BYTES) /* IPv6, UDP */

struct trace_flow {
	struct wire_address src, dst; /* with both UDP ports; of one family */
	uint8_t dscp;
};

/* Builds the packet from the IP header on; the kernel sets the checksum of IPv4.
 * token: not 0. Returns the length. */
size_t trace_packet_build(const struct trace_flow *flow, uint8_t ttl, uint16_t token,
    uint64_t secret, uint8_t packet[TRACE_PACKET_MAX_BYTES]);

struct trace_answer {
	struct trace_flow flow; /* as quoted; its dscp is 0 */
	uint16_t token;
	struct wire_address from; /* port 0 */
	bool expired;             /* the TTL ran out there */
	bool reached; /* the destination itself answers "port unreachable" */
};

/*
 * data: an ICMP message as a raw socket returns it: for IPv4 with its IP header, for
 * IPv6 without; from: its sender, for IPv6. -EBADMSG: malformed. -ENOENT: the message
 * is about no packet of a trace.
 */
int trace_answer_parse(uint8_t family, const struct wire_address *from,
    const uint8_t *data, size_t len, uint64_t secret, struct trace_answer *ret);

#endif
