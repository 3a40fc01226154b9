/*
 * localise_observe - makes the judge's observations from the counts of paths. Pure.
 * Losses of a path on its way out are an observation of its elements; if the path is
 * not known, they are an observation of the elements that it may have, with shares.
 * Lost replies, and replies that arrived, are observations of the elements that they
 * may have crossed, with shares (localise_fan). Probes that arrived over other paths of
 * an element are an observation of this element alone. Functions that return int return
 * 0 or -ENOMEM.
 */
#ifndef ANALYZER_FINDING_LOCALISE_OBSERVE_H
#define ANALYZER_FINDING_LOCALISE_OBSERVE_H

#include "analyzer/finding/localise_losses.h"

/* Returns the counts in independent observations. If flows lose all their probes
 * (by_flow), the probes of one flow are not independent: then a flow counts once,
 * whatever its number of probes. Otherwise the counts of probes are returned unchanged.
 */
struct localise_sum localise_observe_witnesses(
    const struct localise_case *c, const struct localise_sum *sum);

/* A lossy path. */
int localise_observe_path(struct localise_case *c, const struct localise_lossy *lossy);
/* Adds the probes that arrived over those paths of this local that are not lossy. */
int localise_observe_arrivals(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* Adds the replies that arrived and may have crossed this local, which is a switch, a
 * link at a ToR, a pair or a transit. */
int localise_observe_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* Adds the probes inside the rack of this local, if it is a ToR: each probe and each
 * reply has crossed the ToR and no other switch. They decide between the ToR and other
 * parts, but do not accuse the ToR alone: no more of their losses count than it has on
 * paths between racks. */
int localise_observe_inside(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* An element may have thousands of paths, so a sample represents them. The first
 * function returns the size of the sample; the second one returns its nth path, from 0
 * on. */
size_t localise_observe_asked(const struct localise_element *at);
const struct localise_path *localise_observe_asked_path(
    const struct localise_element *at, size_t nth);
/* Returns the share of a suspect's probes that are lost on the way out, or in an
 * unknown direction: 0 .. 1, in independent observations, from a sample of its paths.
 */
double localise_observe_share(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *suspect);

#endif
