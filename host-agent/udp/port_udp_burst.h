/*
 * port_udp_burst - the memory of recvmmsg and sendmmsg: headers, addresses, control
 * messages, data. One port_udp_burst serves all sockets of a port: bursts do not
 * overlap.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_BURST_H
#define HOST_AGENT_UDP_PORT_UDP_BURST_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port.h"

struct port_udp_burst;

struct port_udp_burst *port_udp_burst_new(void);        /* NULL when out of memory */
void port_udp_burst_free(struct port_udp_burst *burst); /* NULL is allowed */

/* What else was learnt by reading a burst of arrivals. */
struct port_udp_read {
	size_t taken;    /* packets taken off the queue, arrivals or not */
	size_t arrivals; /* whole ones */
	/* Newest drop count of the socket, if the kernel reported any. */
	uint32_t drops;
	bool has_drops;
};

/* One recvmmsg; arrivals are valid until the next call. -EAGAIN: the queue is empty. */
int port_udp_burst_receive(struct port_udp_burst *burst, int fd,
    struct port_arrival arrivals[PORT_BURST], struct port_udp_read *ret);

/* Queues one packet for the socket's family. */
void port_udp_burst_add(struct port_udp_burst *burst, const struct port_packet *packet);
/* One sendmmsg of the queued packets from first on. Returns the number of packets
 * sent, or -errno. */
int port_udp_burst_send(struct port_udp_burst *burst, int fd, size_t first);
void port_udp_burst_clear(struct port_udp_burst *burst);

struct port_udp_stamp_read {
	uint32_t id; /* OPT_ID */
	int64_t stamp_ns;
	const uint8_t *packet; /* the looped packet from the link header on, cut off */
	size_t len;
	bool stamp; /* false: another error was queued */
};

/* One recvmmsg from the error queue. Returns the number of stamps, or -errno. */
int port_udp_burst_stamps(struct port_udp_burst *burst, int fd,
    struct port_udp_stamp_read stamps[PORT_BURST]);

#endif
