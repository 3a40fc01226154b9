/*
 * topology_paths - the number of paths between ToRs, and the share of traffic on each
 * link.
 *
 * Routing is equal-cost multipath, as in Clos fabrics: every switch spreads its traffic
 * evenly over all cables that are on a shortest path. A ToR carries only the traffic of
 * its own rack. Every query is about one destination, so a whole region needs one
 * search per ToR.
 */
#ifndef RACKMESH_TOPOLOGY_TOPOLOGY_PATHS_H
#define RACKMESH_TOPOLOGY_TOPOLOGY_PATHS_H

#include <stddef.h>
#include <stdint.h>

struct rm_topology;
struct rm_topology_paths;

/* Makes scratch memory and lists of neighbours; borrows the topology. -ENOMEM. */
int rm_topology_paths_new(
    const struct rm_topology *topology, struct rm_topology_paths **ret);
void rm_topology_paths_free(struct rm_topology_paths *paths);

/* Sets the destination of the queries below. */
void rm_topology_paths_to(struct rm_topology_paths *paths, size_t destination);

/* Returns the number of shortest paths from source to the destination, where parallel
 * cables count separately, at most RM_TOPOLOGY_MAX_PATHS; 0: there is no path. */
uint32_t rm_topology_paths_from(const struct rm_topology_paths *paths, size_t source);

/*
 * rates[i]: the traffic from switch i to the destination. Adds the traffic of one cable
 * of each link to loads: of the direction from a to b at 2 * link, of the other
 * direction at 2 * link + 1.
 */
void rm_topology_paths_load(
    struct rm_topology_paths *paths, const double *rates, double *loads);

/* weights: the weight of each cable, with the same indexes as loads. Sets worst[i] to
 * the largest weight of all cables that traffic from switch i to the destination may
 * use; 0: there are none. */
void rm_topology_paths_worst(
    struct rm_topology_paths *paths, const double *weights, double *worst);

#endif
