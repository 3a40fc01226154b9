/*
 * registry_check - is what an agent says of an RNIC well formed? Pure; the registry's
 * own.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_CHECK_H

#include "region-controller/registry/registry_rnic.h"

/* *name: the one at fault, of REGISTRY_BAD_NAME; borrowed. */
enum registry_refusal registry_check(
    const struct wire_rnic *rnic, const char *host, const char **name);

/* Fills what the wire says; everything else of *ret is left alone. */
void registry_take_over(
    struct registry_rnic *ret, const struct wire_rnic *rnic, const char *host);

/* Is one in the place of the other: under the same ToR, with the same device or an
 * address in common? Both are of one host. */
bool registry_same_place(const struct registry_rnic *a, const struct registry_rnic *b);

bool registry_same_addresses(
    const struct registry_rnic *a, const struct registry_rnic *b);
/* Equal in all that plans are made of. On UDP a restart of the agent changes nothing;
 * with a QPN it does. The link is not part of them: it may change ten times a second.
 */
bool registry_same_plan(const struct registry_rnic *a, const struct registry_rnic *b);

#endif
