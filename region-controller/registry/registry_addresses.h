/*
 * registry_addresses - finds the RNIC of an address. Pure; private to the registry.
 * Several RNICs may register one address, by mistake or after the exchange of a part;
 * the newest registration counts.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_ADDRESSES_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_ADDRESSES_H

#include "region-controller/registry/registry_rnic.h"

struct registry_addresses;

int registry_addresses_new(struct registry_addresses **ret);
void registry_addresses_free(struct registry_addresses *addresses);

/* Adds an RNIC, which is borrowed until it is dropped. Returns 1: another RNIC has one
 * of its addresses, too; 0: no other RNIC has them; -ENOMEM: some of its addresses
 * cannot be found later. */
int registry_addresses_add(
    struct registry_addresses *addresses, const struct registry_rnic *rnic);
void registry_addresses_drop(
    struct registry_addresses *addresses, const struct registry_rnic *rnic);

const struct registry_rnic *registry_addresses_find(
    const struct registry_addresses *addresses, const struct wire_address *address);
/* Returns the i-th address that several RNICs have. False: there is none. */
bool registry_addresses_shared(
    const struct registry_addresses *addresses, size_t i, struct registry_shared *ret);

#endif
