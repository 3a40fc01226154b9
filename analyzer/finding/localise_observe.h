/*
 * localise_observe - paths as observations of the judge. Pure. Losses of a path on its
 * way out are assigned to its elements. Lost or arrived replies are assigned to the
 * elements by which they may have returned, by their shares. Arrivals elsewhere are
 * observations of each element separately. All return -ENOMEM.
 */
#ifndef ANALYZER_FINDING_LOCALISE_OBSERVE_H
#define ANALYZER_FINDING_LOCALISE_OBSERVE_H

#include "analyzer/finding/localise_losses.h"

/* Observations of paths, in independent ones: each flow that a hash selects, so that it
 * loses all packets while others lose none, counts as one, with any number of probes.
 */
struct localise_sum localise_observe_witnesses(
    const struct localise_case *c, const struct localise_sum *sum);

int localise_observe_path(struct localise_case *c, const struct localise_lossy *lossy);
int localise_observe_arrivals(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* Of a switch, or a link at a ToR: replies that came back, and may have crossed it. */
int localise_observe_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* An element may have thousands of paths: this many of them, from 0 on, represent all.
 */
size_t localise_observe_asked(const struct localise_element *at);
const struct localise_path *localise_observe_asked_path(
    const struct localise_element *at, size_t nth);
/* Losses over a suspect's paths on the way out, or in an unknown direction, as a share
 * of the sent probes, in independent observations: 0 .. 1. For an element with many
 * paths some represent all. */
double localise_observe_share(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *suspect);

/* Room for `need` items of `size` bytes in *(void **)array. -ENOMEM. */
int localise_losses_grow(void *array, size_t *have, size_t need, size_t size);

#endif
