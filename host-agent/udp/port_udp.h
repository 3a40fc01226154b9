/*
 * port_udp - the transport over kernel UDP sockets, bound to one device and its
 * addresses.
 *
 * One reflector socket per family, opened at once; one prober socket per (family,
 * source port), opened when first sent from and kept until it is idle and others need
 * the room. Times are the kernel's software stamps (SO_TIMESTAMPING), CLOCK_REALTIME.
 * The socket belongs to the given namespace, not to the daemon's own.
 *
 * Packets leave with TTL 255 (so that the length of the path can be seen), ECN capable
 * (so that a congested switch marks instead of dropping) and never in fragments: a path
 * MTU claimed by an ICMP message is ignored, so that a probe that is too large is lost
 * at the faulty part.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_H
#define HOST_AGENT_UDP_PORT_UDP_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct port;
struct rm_loop;

struct port_udp_options {
	const char *device; /* netdev; sockets are bound to it. NULL or "": not bound */
	const char *netns;  /* name or path; NULL or "": the process's own */
	/* Own addresses, at most one per family; family 0: none. Their port field is
	 * ignored. */
	struct wire_address addresses[2];
	uint16_t reflector_port;       /* 0: no reflector sockets */
	uint16_t sport_min, sport_max; /* range of flows; 0, 0: 1024 to 65535 */
	size_t max_flows;              /* prober sockets; 0: 1024 */
	int64_t flow_idle_ns;     /* a socket unused for this long may be closed for
				     another; 0: 30 s */
	int receive_buffer_bytes; /* of each socket; 0: 4 MiB */
};

/* -EINVAL: no address. Else the error of opening the reflector's sockets. */
int port_udp_new(
    struct rm_loop *loop, const struct port_udp_options *options, struct port **ret);

#endif
