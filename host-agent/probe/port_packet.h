/*
 * port_packet - packets of a transport: one to send, one that arrived, and the stamp of
 * one that was sent.
 *
 * Times of arrival and departure are ns of the port's own clock (see port.h).
 */
#ifndef HOST_AGENT_PROBE_PORT_PACKET_H
#define HOST_AGENT_PROBE_PORT_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define PORT_BURST 32 /* most packets in one call */

struct port_packet { /* a packet to send */
	const struct wire_address *to;
	uint32_t qpn; /* only with QPs: the destination's */
	uint16_t lid; /* InfiniBand: the destination's; else 0 */
	uint8_t sl;
	uint32_t label; /* of a reply: the probe's flow label, so that it takes the same
			   flow */
	const uint8_t *data; /* its first 16 bytes differ from those of any packet of
				the same role that still waits for its stamp */
	uint16_t len;
	uint16_t zeros;    /* number of zero bytes that follow data */
	uint16_t src_port; /* of a probe: its flow, as port_flow gave it */
	uint8_t dscp;
	uint64_t token;   /* returned with the stamp */
	rm_mono_t posted; /* out: time just before the packet was given to the kernel or
			     NIC (T1) */
	int error;        /* out: 0, or -errno if it was not sent */
};

struct port_arrival {
	struct wire_address from;
	uint8_t *data; /* may be overwritten until the callback returns */
	size_t len;
	int64_t stamp_ns;
	uint32_t qpn; /* the sender's, only with QPs */
	uint16_t lid; /* InfiniBand */
	uint8_t sl;
	uint16_t local_port;    /* 0: not known, it may be any flow of this host */
	uint8_t dscp, ecn, ttl; /* as it arrived */
	enum wire_stamp_source source; /* of stamp_ns; 0: there is no stamp */
};

struct port_departure {
	uint64_t token;
	int64_t stamp_ns; /* when the packet was given to the NIC */
};

#endif
