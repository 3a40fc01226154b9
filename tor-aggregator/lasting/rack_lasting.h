/*
 * rack_lasting - RNICs that lose a small share of packets all the time. Pure.
 *
 * For losses that windows of one and of five seconds are too short for: once a second
 * the last 20 seconds to two minutes (rack_blocks) are explained jointly, if an RNIC
 * lost packets in more of the seconds than chance allows (rack_steady). A verdict
 * stands until the loss is over, also a verdict of a shorter window; then all losses of
 * the member are forgotten, so that no other is blamed for them later. In a rack of two
 * RNICs without other probes the verdict is "A or B".
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

/* The members, or numbers of remote RNICs, have changed: members that stay keep
 * their state. -ENOMEM: no verdicts until the next change. */
int rack_lasting_renumber(struct rack_lasting *lasting, const struct rack *rack);

/* A shorter window has named a member. A fault that is no steady loss explains all
 * its losses. */
void rack_lasting_take(struct rack_lasting *lasting,
    const struct rack_slow_named *named, const struct rack_tally *tally);

/* Takes one new second, which begins at `start`; blame: whom its own explanation
 * blames. *ret: the standing verdicts, until the next call. -ENOMEM: some are
 * missing. */
int rack_lasting_judge(struct rack_lasting *lasting, const struct rack *rack,
    const struct window_closed *second, rm_wall_t start, const struct rack_blame *blame,
    const struct rack_slow_named **ret, size_t *count);

#endif
