/*
 * tcp - what a link asks of its TCP socket.
 */
#ifndef RACKMESH_NET_TCP_H
#define RACKMESH_NET_TCP_H

#include <stdint.h>

/* No delay, and keep-alives. */
int rm_tcp_prepare(int fd);

/* As rm_link_peer_ack. */
int rm_tcp_peer_ack(int fd, int64_t *since_ns, uint32_t *unacked);

#endif
