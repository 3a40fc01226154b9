/*
 * rnic_address - an RNIC's addresses as text and as keys. Pure.
 *
 * A GID is an IPv6 address; one that maps an IPv4 address is that IPv4 address.
 */
#ifndef REGION_CONTROLLER_TOPOLOGY_RNIC_ADDRESS_H
#define REGION_CONTROLLER_TOPOLOGY_RNIC_ADDRESS_H

#include "schemas/wire.h"

/* Reads what wire_address_format writes: "10.0.0.1", "10.0.0.1:862", "fd00::1",
 * "[fd00::1]:862". -EINVAL: something else. */
int rnic_address_parse(const char *text, struct wire_address *ret);

struct rnic_address_key {
	/* IPv4 addresses are mapped into IPv6; the port is not part of the key */
	uint8_t bytes[16];
};

struct rnic_address_key rnic_address_key(const struct wire_address *address);

#endif
