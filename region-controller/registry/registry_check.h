/*
 * registry_check - checks that a registration of an RNIC is well formed. Pure; private
 * to the registry.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H

#include "region-controller/registry/registry_rnic.h"

/* Returns why a registration is malformed. *name: for REGISTRY_BAD_NAME the malformed
 * name, borrowed. */
enum registry_refusal registry_check(
    const struct wire_rnic *rnic, const char *host, const char **name);

/* Fills in the members that the message has; other members of *ret are not changed. */
void registry_take_over(
    struct registry_rnic *ret, const struct wire_rnic *rnic, const char *host);

/* True: one of the two may have replaced the other: they have a ToR in common, and the
 * device name or an address. Both must be of one host. */
bool registry_same_place(const struct registry_rnic *a, const struct registry_rnic *b);

bool registry_same_addresses(
    const struct registry_rnic *a, const struct registry_rnic *b);
/* True: all that plans depend on is equal. A restart of the agent matters only for an
 * RNIC with a QPN. The state of the link does not count, because it may change ten
 * times a second. */
bool registry_same_plan(const struct registry_rnic *a, const struct registry_rnic *b);

#endif
