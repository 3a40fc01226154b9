/*
 * rack_slow - loss of one RNIC that a window of a second is too short for. Pure.
 *
 * Keeps the last five seconds, each once, and explains them as one window. What loses a
 * few of a hundred packets is named only if it does so all the time: an outage, however
 * long, is no steady loss. What loses a twentieth and more does so for 2.5 s. What a
 * host's stall, a port that is down or we ourselves took away of a second is not in it.
 * For what loses less, rack_lasting has windows of up to two minutes.
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

/* Its members have changed: of the last seconds begins afresh, of the last minutes with
 * those that it still has. -ENOMEM. */
int rack_slow_forget(struct rack_slow *slow, const struct rack *rack);

/* A window that was just judged, of a second; every other than the next second is
 * passed over. blame: what its own explanation says. *ret: what stands, until the next
 * call. -ENOMEM: that second is missing. */
int rack_slow_judge(struct rack_slow *slow, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    const struct rack_blame *blame, const struct rack_slow_named **ret, size_t *count);

#endif
