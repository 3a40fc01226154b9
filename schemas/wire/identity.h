/*
 * identity - parts that many messages have: RNICs, addresses, and the head of lane
 * messages.
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
	uint8_t family;    /* 4 or 6 */
	uint8_t bytes[16]; /* network order; IPv4 in the first 4 */
	uint16_t port;     /* UDP port of the reflector; 0 in a roster */
};

#define WIRE_MAX_ADDRESSES 4
#define WIRE_MAX_ATTACHMENTS 2

struct wire_rnic {
	struct wire_rnic_id id;
	const char *host;
	const char *device; /* netdev or RDMA device, an attribute that may change */
	const char *driver;
	const char *tors[WIRE_MAX_ATTACHMENTS];
	size_t tor_count;
	const char *plane; /* "" until the controller has looked it up */
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	/* number of the UD QP that answers probes; 0: the RNIC is probed over UDP */
	uint32_t qpn;
	/* UDP: of the network device; RoCE: the active MTU of the port, the largest
	 * size of a UD message */
	uint32_t mtu_bytes;
	/* of the agent that registered it: new at every start of the agent */
	uint64_t incarnation;
	uint32_t large_qpn; /* for probes above WIRE_ROCE_SMALL_BYTES; 0: none */
	uint16_t lid;       /* InfiniBand only; 0: RoCE or UDP */
	uint8_t link;       /* enum wire_link, of its port */
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
	uint64_t seq; /* +1 per message of this lane */
};

#ifdef __cplusplus
}
#endif

#endif
