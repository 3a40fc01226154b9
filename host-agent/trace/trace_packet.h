/*
 * trace_packet - a packet that follows a probe's path until its TTL runs out, and the
 * ICMP answer of the switch where that happens.
 *
 * The packet has the 5-tuple and class of the probes of a flow. It is much shorter than
 * any probe, so a reflector that receives it neither answers nor counts it. An answer
 * belongs to a trace if the bytes that it quotes are those of a packet that this agent
 * would build; the caller knows which packets were sent. An attacker who does not see
 * the packets has to guess the flow, the token, and 16 bits that are derived from a
 * secret. The UDP checksum has these bits, because IPv4 switches need not quote more
 * than the UDP header. Pure.
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
	struct wire_address src, dst; /* addresses with both UDP ports, of one family */
	uint8_t dscp;
};

/* Writes a packet from the IP header on; the kernel sets the checksum of an IPv4
 * header. token: not 0; it comes back in the answer. Returns the length. */
size_t trace_packet_build(const struct trace_flow *flow, uint8_t ttl, uint16_t token,
    uint64_t secret, uint8_t packet[TRACE_PACKET_MAX_BYTES]);

struct trace_answer {
	struct trace_flow flow; /* the flow of the quoted packet; its dscp is 0 */
	uint16_t token;
	struct wire_address from; /* port 0 */
	bool expired;             /* the TTL ran out at this address */
	bool reached; /* the destination itself answers "port unreachable" */
};

/*
 * Parses an ICMP message as raw sockets return it: for IPv4 with its IP header, for
 * IPv6 without. from: its sender, used for IPv6. -EBADMSG: malformed. -ENOENT: the
 * message quotes no packet of a trace.
 */
int trace_answer_parse(uint8_t family, const struct wire_address *from,
    const uint8_t *data, size_t len, uint64_t secret, struct trace_answer *ret);

#endif
