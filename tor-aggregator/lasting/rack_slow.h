/*
 * rack_slow - loss of one RNIC that a window of one second is too short for. Pure.
 *
 * Keeps the last five seconds, each once, and explains them as one window. An RNIC that
 * loses a few percent of its packets is named only if it does so all the time: an
 * outage, however long, is not steady loss. An RNIC that loses five percent or more is
 * named if it does so for 2.5 s. Losses caused by a host's stall, a port that is down
 * or a stall of this aggregator are not included. For smaller losses, rack_lasting has
 * windows of up to two minutes.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SLOW_H
#define TOR_AGGREGATOR_LASTING_RACK_SLOW_H

#include <stddef.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/lasting/rack_slow_named.h"

struct rack;
struct rack_blame;
struct rack_slow;
struct window_closed;

int rack_slow_new(struct rack_slow **ret);
void rack_slow_free(struct rack_slow *slow);

/* The members have changed: the last seconds start anew, the last minutes keep the
 * members that stay. -ENOMEM. */
int rack_slow_forget(struct rack_slow *slow, const struct rack *rack);

/* Takes a window of a second that was just judged; windows other than the next
 * second are ignored. blame: whom its own explanation blames. *ret: the standing
 * verdicts, until the next call. -ENOMEM: that second is missing. */
int rack_slow_judge(struct rack_slow *slow, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    const struct rack_blame *blame, const struct rack_slow_named **ret, size_t *count);

#endif
