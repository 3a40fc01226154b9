/*
 * port_udp_burst - the memory of recvmmsg and sendmmsg: headers, addresses, control
 * messages, data. One of it serves all sockets of a port: bursts do not overlap.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_BURST_H
#define HOST_AGENT_UDP_PORT_UDP_BURST_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port.h"

struct port_udp_burst;

struct port_udp_burst *port_udp_burst_new(void);        /* NULL when out of memory */
void port_udp_burst_free(struct port_udp_burst *burst); /* NULL is fine */

/* Further results of a burst of arrivals. */
struct port_udp_read {
	size_t taken;    /* packets off the queue, arrivals or not */
	size_t arrivals; /* whole ones */
	uint32_t drops;  /* newest drop count of the socket, if any was told */
	bool has_drops;
};

/* One recvmmsg; arrivals live until the next. -EAGAIN: nothing there. */
int port_udp_burst_receive(struct port_udp_burst *burst, int fd,
    struct port_arrival arrivals[PORT_BURST], struct port_udp_read *ret);

/* Queues one packet for the socket's family. */
void port_udp_burst_add(struct port_udp_burst *burst, const struct port_packet *packet);
/* One sendmmsg of what is queued from first on. Returns how many left, or -errno. */
int port_udp_burst_send(struct port_udp_burst *burst, int fd, size_t first);
void port_udp_burst_clear(struct port_udp_burst *burst);

struct port_udp_stamp_read {
	uint32_t id; /* OPT_ID */
	int64_t stamp_ns;
	const uint8_t *packet; /* looped, from the link header on; cut */
	size_t len;
	bool stamp; /* else some other error that was queued */
};

/* One recvmmsg off the error queue. Returns how many, or -errno. */
int port_udp_burst_stamps(struct port_udp_burst *burst, int fd,
    struct port_udp_stamp_read stamps[PORT_BURST]);

#endif
