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

#define PORT_BURST 32 /* maximum number of packets in one call */

struct port_packet { /* a packet to send */
	const struct wire_address *to;
	uint32_t qpn; /* QPN of the destination; only with QPs */
	uint16_t lid; /* LID of the destination, on InfiniBand; else 0 */
	uint8_t sl;
	/* for a reply: the flow label of the probe, so that the reply takes the same
	 * flow */
	uint32_t label;
	/* the first 16 bytes differ from those of every packet of the same role that
	 * still waits for its stamp */
	const uint8_t *data;
	uint16_t len;
	uint16_t zeros;    /* number of zero bytes that follow data */
	uint16_t src_port; /* for a probe: its flow, as port_flow has returned it */
	uint8_t dscp;
	uint64_t token; /* the token is returned with the stamp */
	/* result: time just before the packet was given to the kernel or NIC (T1) */
	rm_mono_t posted;
	int error; /* result: 0, or -errno if the packet was not sent */
};

struct port_arrival {
	struct wire_address from;
	uint8_t *data; /* the receiver may overwrite it until the callback returns */
	size_t len;
	int64_t stamp_ns;
	uint32_t qpn; /* QPN of the sender; only with QPs */
	uint16_t lid; /* LID of the sender, on InfiniBand */
	uint8_t sl;
	/* 0: not known; the packet may belong to any flow of this host */
	uint16_t local_port;
	uint8_t dscp, ecn, ttl;        /* as it arrived */
	enum wire_stamp_source source; /* the clock of stamp_ns; 0: there is no stamp */
};

struct port_departure {
	uint64_t token;
	int64_t stamp_ns; /* when the packet was given to the NIC */
};

#endif
