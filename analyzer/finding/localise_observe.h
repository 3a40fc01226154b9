/*
 * localise_observe - what ways say, as the judge's observations. Pure.
 *
 * What a lossy way lost on its way out lies on its elements. What became of replies
 * lies on those by which a reply may have come back, by their shares. What arrived
 * elsewhere speaks for each element by itself. -ENOMEM, all of them.
 */
#ifndef ANALYZER_FINDING_LOCALISE_OBSERVE_H
#define ANALYZER_FINDING_LOCALISE_OBSERVE_H

#include "analyzer/finding/localise_losses.h"

/* What was seen of ways, in witnesses: of flows that a hash picks, which die whole
 * while others live, each is one, however many probes it sent. */
struct localise_sum localise_observe_witnesses(
    const struct localise_case *c, const struct localise_sum *sum);

int localise_observe_path(struct localise_case *c, const struct localise_lossy *lossy);
int localise_observe_arrivals(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* Of a switch, or a link at a ToR: replies that came back, and may have crossed it. */
int localise_observe_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local);
/* An element may have thousands of ways: so many of them, from 0 on, stand for all. */
size_t localise_observe_asked(const struct localise_element *at);
const struct localise_path *localise_observe_asked_path(
    const struct localise_element *at, size_t nth);
/* What was lost on the way out over a suspect's ways, or nobody knows where, of what
 * was sent, in witnesses: 0 .. 1. Of an element with many ways some stand for all. */
double localise_observe_share(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *suspect);

/* Room for `need` items of `size` bytes in *(void **)array. -ENOMEM. */
int localise_losses_grow(void *array, size_t *have, size_t need, size_t size);

#endif
