/*
 * port_udp_socket - one bound UDP socket with time stamps, and its address format.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_SOCKET_H
#define HOST_AGENT_UDP_PORT_UDP_SOCKET_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

union port_udp_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Returns the length of the socket address; 0: the family is neither 4 nor 6. */
socklen_t port_udp_address_from_wire(
    const struct wire_address *address, uint16_t port, union port_udp_address *ret);
void port_udp_address_to_wire(
    const union port_udp_address *address, struct wire_address *ret);

struct port_udp_binding {
	int netns_fd;
	const char *device; /* "": not bound to a device */
	struct wire_address address;
	uint16_t port;
	int receive_buffer_bytes;
};

/* Opens the socket in the binding's namespace; the caller closes *ret. */
int port_udp_socket_open(const struct port_udp_binding *binding, int *ret);

/* Number of packets that the kernel has dropped at this socket, modulo 2^32. */
int port_udp_socket_drops(int fd, uint32_t *ret);

#endif
