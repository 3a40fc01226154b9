/*
 * gid - the 16 bytes that name an RDMA port, and the IP address inside them.
 *
 * RoCE writes an IPv4 address as the IPv6 address ::ffff:a.b.c.d. Pure.
 */
#ifndef HOST_AGENT_PACKET_GID_H
#define HOST_AGENT_PACKET_GID_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/wire.h"

#define GID_BYTES 16

bool gid_is_zero(const uint8_t gid[GID_BYTES]);

/* The result's port is 0. The result has family 4 when the GID is an IPv4-mapped
 * IPv6 address. */
void gid_to_address(const uint8_t gid[GID_BYTES], struct wire_address *ret);
/* -EAFNOSUPPORT: the address has neither family. */
int gid_from_address(const struct wire_address *address, uint8_t ret[GID_BYTES]);

/* True: the GID is reachable from other links: it is not link-local, loopback,
 * multicast or zero. */
bool gid_is_global(const uint8_t gid[GID_BYTES]);

#endif
