/*
 * rack_lasting - RNICs that lose little, but all the time. Pure.
 *
 * What windows of a second and of five seconds are too short for: once a second the
 * last 20 seconds to two minutes (rack_blocks) are explained jointly, if an RNIC lost
 * something in more seconds of them than chance allows (rack_steady). A verdict stands
 * until its loss is over, also one that a shorter window came to; then all that the
 * member lost is forgotten, so that nobody is blamed for it later. In a rack of two
 * that nobody else tells apart it is "A or B".
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_LASTING_H
#define TOR_AGGREGATOR_LASTING_RACK_LASTING_H

#include <stddef.h>

#include "rackmesh/core/clock.h"

struct rack;
struct rack_blame;
struct rack_lasting;
struct rack_slow_named;
struct rack_tally;
struct window_closed;

int rack_lasting_new(struct rack_lasting **ret);
void rack_lasting_free(struct rack_lasting *lasting);

/* Its members, or others' numbers, have changed: what is known of those that it still
 * has goes on. -ENOMEM: it names nobody until the next change. */
int rack_lasting_renumber(struct rack_lasting *lasting, const struct rack *rack);

/* A shorter window has named one. What is no steady loss explains all of its. */
void rack_lasting_take(struct rack_lasting *lasting,
    const struct rack_slow_named *named, const struct rack_tally *tally);

/* One new second, that begins at `start`; blame: what its own explanation says. *ret:
 * what stands, until the next call. -ENOMEM: some of it is missing. */
int rack_lasting_judge(struct rack_lasting *lasting, const struct rack *rack,
    const struct window_closed *second, rm_wall_t start, const struct rack_blame *blame,
    const struct rack_slow_named **ret, size_t *count);

#endif
