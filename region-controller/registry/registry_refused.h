/*
 * registry_refused - malformed registrations, remembered for people. Pure; the
 * registry's own.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_REFUSED_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_REFUSED_H

#include "region-controller/registry/registry.h"

struct registry_refusals {                                     /* zeroed at first */
	struct registry_refused entries[REGISTRY_MAX_REFUSED]; /* the newest first */
	size_t count;
};

void registry_refused_note(struct registry_refusals *refusals,
    const struct wire_rnic *rnic, const struct registry_told *told,
    enum registry_refusal refusal);

#endif
