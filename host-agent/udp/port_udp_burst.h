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

/* The results of receiving one burst, besides the packets. */
struct port_udp_read {
	/* packets taken off the queue, including those that are not delivered */
	size_t taken;
	size_t arrivals; /* number of these packets that were delivered as arrivals */
	/* The socket's number of drops in the newest packet that carries it; has_drops
	 * false: no packet does. */
	uint32_t drops;
	bool has_drops;
};

/* Receives packets with one recvmmsg; arrivals are borrowed until the next call.
 * -EAGAIN: the queue is empty. */
int port_udp_burst_receive(struct port_udp_burst *burst, int fd,
    struct port_arrival arrivals[PORT_BURST], struct port_udp_read *ret);

/* Queues one packet for the socket's family. */
void port_udp_burst_add(struct port_udp_burst *burst, const struct port_packet *packet);
/* Sends the packets from index first on with one sendmmsg. Returns how many were sent,
 * or -errno. */
int port_udp_burst_send(struct port_udp_burst *burst, int fd, size_t first);
void port_udp_burst_clear(struct port_udp_burst *burst);

struct port_udp_stamp_read {
	uint32_t id; /* the packet's number (OPT_ID) */
	int64_t stamp_ns;
	const uint8_t *packet; /* the packet from its link header on */
	size_t len;
	bool stamp; /* false: the kernel queued an error that is not a time stamp */
};

/* Reads stamps from the error queue with one recvmmsg. Returns how many, or -errno. */
int port_udp_burst_stamps(struct port_udp_burst *burst, int fd,
    struct port_udp_stamp_read stamps[PORT_BURST]);

#endif
