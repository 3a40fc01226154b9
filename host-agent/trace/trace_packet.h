/*
 * trace_packet - a packet that follows a probe's path up to its TTL, and the ICMP
 * answer of the switch where the TTL ran out.
 *
 * The same 5-tuple and class as the probes of a flow. Far too short for a probe, so
 * that no reflector answers or counts one that arrives. An answer is ours when it
 * quotes a packet that we would build exactly so; whether it was sent is the caller's
 * to know. Who does not see our packets would have to guess 16 bits of each, which come
 * from a secret, besides its flow and token: with IPv4, whose switches need not quote
 * more, they are those of the UDP checksum. Pure.
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
	struct wire_address src, dst; /* with both UDP ports; one family */
	uint8_t dscp;
};

/* From the IP header on; all of it but IPv4's checksum, which the kernel sets. token:
 * not 0. Returns the length. */
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
 * data: an ICMP message as a raw socket hands it out: of IPv4 with its IP header, of
 * IPv6 without; from: who sent it, for IPv6. -EBADMSG: malformed. -ENOENT: about no
 * packet of a trace.
 */
int trace_answer_parse(uint8_t family, const struct wire_address *from,
    const uint8_t *data, size_t len, uint64_t secret, struct trace_answer *ret);

#endif
