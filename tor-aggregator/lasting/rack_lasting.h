/*
 * rack_lasting - finds RNICs that lose a small share of their packets all the time.
 * Pure.
 *
 * Windows of one and of five seconds are too short for such losses. Therefore, once a
 * second, windows of the last 20 seconds to two minutes (rack_blocks) are examined. If
 * an RNIC lost packets in more seconds than chance allows (rack_steady), the losses of
 * the window are explained together. A verdict, also one of a shorter window, stays
 * until the loss is over. Then all losses of the member are deleted, so that no other
 * RNIC is blamed for them later. In a rack of two RNICs without probes to other racks
 * the verdict is "A or B".
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

/* Call it when the members, or the numbers of remote RNICs, have changed: members that
 * stay keep their state. Returns 0, or -ENOMEM: then there are no verdicts until the
 * next change. */
int rack_lasting_renumber(struct rack_lasting *lasting, const struct rack *rack);

/* Takes over the verdict of a shorter window on a member. If the fault is no steady
 * loss, all losses of the member so far are explained by it, and deleted. */
void rack_lasting_take(struct rack_lasting *lasting,
    const struct rack_slow_named *named, const struct rack_tally *tally);

/* Adds one new second, which begins at `start`. blame: the RNICs that the explanation
 * of this second names. *ret: the *count present verdicts, valid until the next call.
 * Returns 0, or -ENOMEM: then some verdicts are missing. */
int rack_lasting_judge(struct rack_lasting *lasting, const struct rack *rack,
    const struct window_closed *second, rm_wall_t start, const struct rack_blame *blame,
    const struct rack_slow_named **ret, size_t *count);

#endif
