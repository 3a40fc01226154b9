/*
 * identity - parts that many messages contain: RNICs, addresses, and the head of
 * summaries and incidents (lane messages).
 */
#ifndef SCHEMAS_WIRE_IDENTITY_H
#define SCHEMAS_WIRE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Node GUID and port (from 1); port 0: guid holds a MAC; port 255: the reflector of
 * a switch, guid a hash of its name. */
struct wire_rnic_id {
	uint64_t guid;
	uint8_t port;
};

struct wire_address {
	uint8_t family; /* 4 or 6 */
	/* address in network order; an IPv4 address is in the first 4 bytes */
	uint8_t bytes[16];
	uint16_t port; /* UDP port of the reflector; 0 in a roster */
};

#define WIRE_MAX_ADDRESSES 4
#define WIRE_MAX_ATTACHMENTS 2

struct wire_rnic {
	struct wire_rnic_id id;
	const char *host;
	/* name of a netdev or RDMA device; an attribute that may change */
	const char *device;
	const char *driver;
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	const char *plane; /* "" until the controller has found it in the topology */
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	/* number of the UD QP that answers probes; 0: the RNIC is probed over UDP */
	uint32_t qpn;
	/* for UDP: MTU of the network device; for RoCE: active MTU of the port, the
	 * largest size of a UD message */
	uint32_t mtu_bytes;
	/* number of the run of the agent that registered the RNIC: it is new at every
	 * start of the agent */
	uint64_t incarnation;
	/* QP number for probes above WIRE_ROCE_SMALL_BYTES; 0: there is none */
	uint32_t large_qpn;
	uint16_t lid; /* InfiniBand only; 0: RoCE or UDP */
	uint8_t link; /* enum wire_link: state of the RNIC's port */
	/* the agent can authenticate probes as soon as it has keys */
	bool authenticates;
};

/* A probe of at most this many bytes is sent to qpn, which has many small buffers; a
 * larger one is sent to large_qpn, which has a few large ones. */
#define WIRE_ROCE_SMALL_BYTES 256
#define WIRE_ROCE_PORT 4791

enum wire_link { WIRE_LINK_UNKNOWN = 0, WIRE_LINK_UP, WIRE_LINK_DOWN };

/* The sender and the lane of a message that must be acknowledged. */
struct wire_lane_head {
	const char *aggregator;
	const char *region;
	uint64_t incarnation;
	/* number of the message: one more than that of the message before, in this lane
	 */
	uint64_t seq;
};

#ifdef __cplusplus
}
#endif

#endif
