/*
 * registry_addresses - finds the RNIC of an address. Pure; private to the registry. Two
 * RNICs may claim one address, by mistake or because of a spare part; the newest claim
 * counts.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_ADDRESSES_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_ADDRESSES_H

#include "region-controller/registry/registry_rnic.h"

struct registry_addresses;

int registry_addresses_new(struct registry_addresses **ret);
void registry_addresses_free(struct registry_addresses *addresses);

/* Borrows the RNIC until it is dropped. 1: another RNIC claims one of its addresses
 * too. -ENOMEM: some of them are not found. */
int registry_addresses_add(
    struct registry_addresses *addresses, const struct registry_rnic *rnic);
void registry_addresses_drop(
    struct registry_addresses *addresses, const struct registry_rnic *rnic);

const struct registry_rnic *registry_addresses_find(
    const struct registry_addresses *addresses, const struct wire_address *address);
/* Each address that several claim; false: there is no i-th. */
bool registry_addresses_shared(
    const struct registry_addresses *addresses, size_t i, struct registry_shared *ret);

#endif
