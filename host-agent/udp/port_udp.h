/*
 * port_udp - the transport over kernel UDP sockets, bound to one device and its
 * addresses.
 *
 * There is one reflector socket per family, which is opened at once, and one prober
 * socket per family and source port. A prober socket is opened by the first packet from
 * that port, and closed when it is idle and another flow needs its place. Times are the
 * kernel's software stamps (SO_TIMESTAMPING), in CLOCK_REALTIME. Sockets belong to the
 * given network namespace.
 *
 * Packets have TTL 255, so that the receiver sees the length of the path; they are ECN
 * capable, so that a congested switch marks them and does not drop them; and they are
 * never fragmented. A path MTU in an ICMP message is ignored: a probe that is too large
 * has to be lost at the faulty part of the path.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_H
#define HOST_AGENT_UDP_PORT_UDP_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct port;
struct rm_loop;

struct port_udp_options {
	/* network device to which sockets are bound; NULL or "": they are not bound */
	const char *device;
	/* name or path of the network namespace; NULL or "": that of the process */
	const char *netns;
	/* The RNIC's addresses, at most one per family; family 0: none. Their ports are
	 * ignored. */
	struct wire_address addresses[2];
	uint16_t reflector_port; /* 0: no reflector sockets */
	/* source ports that flows may have; 0, 0: 1024 to 65535 */
	uint16_t sport_min, sport_max;
	size_t max_flows; /* maximum number of prober sockets; 0: 1024 */
	/* a socket that was unused for this long may be closed for another flow; 0: 30
	 * s */
	int64_t flow_idle_ns;
	/* receive buffer of each socket, in bytes; 0: 4 MiB */
	int receive_buffer_bytes;
};

/* *ret has its own copy of the options. -EINVAL: no address; else the error of opening
 * the reflector's sockets. */
int port_udp_new(
    struct rm_loop *loop, const struct port_udp_options *options, struct port **ret);

#endif
