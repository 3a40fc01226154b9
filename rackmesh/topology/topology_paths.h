/*
 * topology_paths - the number of paths between ToRs, and the share of traffic on each
 * link.
 *
 * Equal-cost multipath as Clos fabrics run it: every switch spreads over all cables
 * that lie on a shortest path, each alike. ToRs never carry others' traffic. Every
 * query is for one destination, so a region costs one walk per ToR.
 */
#ifndef RACKMESH_TOPOLOGY_TOPOLOGY_PATHS_H
#define RACKMESH_TOPOLOGY_TOPOLOGY_PATHS_H

#include <stddef.h>
#include <stdint.h>

struct rm_topology;
struct rm_topology_paths;

/* Scratch memory and the neighbour lists; borrows the topology. -ENOMEM. */
int rm_topology_paths_new(
    const struct rm_topology *topology, struct rm_topology_paths **ret);
void rm_topology_paths_free(struct rm_topology_paths *paths);

/* Chooses the destination of the queries below. */
void rm_topology_paths_to(struct rm_topology_paths *paths, size_t destination);

/* Number of shortest paths, parallel cables counted apart, at most
 * RM_TOPOLOGY_MAX_PATHS; 0: none leads there. */
uint32_t rm_topology_paths_from(const struct rm_topology_paths *paths, size_t source);

/*
 * rates[i]: what switch i sends to the destination. Adds to loads[2 * link] what one
 * cable of it carries from a to b, and to loads[2 * link + 1] from b to a.
 */
void rm_topology_paths_load(
    struct rm_topology_paths *paths, const double *rates, double *loads);

/* weights: of cables, as loads. Sets worst[i] to the greatest weight of any cable that
 * traffic from switch i to the destination may take; 0 if there is none. */
void rm_topology_paths_worst(
    struct rm_topology_paths *paths, const double *weights, double *worst);

#endif
