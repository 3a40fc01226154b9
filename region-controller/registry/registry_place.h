/*
 * registry_place - where the topology puts an RNIC. Pure; the registry's own.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_PLACE_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_PLACE_H

#include "region-controller/registry/registry.h"

/* members: of each switch, kept up to date. Both NULL: there is no topology yet. */
void registry_place(
    const struct rm_topology *topology, size_t *members, struct registry_rnic *rnic);
void registry_unplace(size_t *members, const struct registry_rnic *rnic);

#endif
