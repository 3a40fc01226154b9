/*
 * registry_check - checks that a registration of an RNIC is well formed. Pure; private
 * to the registry.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H

#include "region-controller/registry/registry_rnic.h"

/* *name: the malformed one, for REGISTRY_BAD_NAME; borrowed. */
enum registry_refusal registry_check(
    const struct wire_rnic *rnic, const char *host, const char **name);

/* Fills the wire's fields; the rest of *ret is not changed. */
void registry_take_over(
    struct registry_rnic *ret, const struct wire_rnic *rnic, const char *host);

/* True: one replaces the other: under the same ToR, with the same device or an address
 * in common. Both are of one host. */
bool registry_same_place(const struct registry_rnic *a, const struct registry_rnic *b);

bool registry_same_addresses(
    const struct registry_rnic *a, const struct registry_rnic *b);
/* True: equal in all that plans depend on. On UDP a restart of the agent changes
 * nothing; with a QPN it does. The link is not part of them: it may change ten times a
 * second.
 */
bool registry_same_plan(const struct registry_rnic *a, const struct registry_rnic *b);

#endif
