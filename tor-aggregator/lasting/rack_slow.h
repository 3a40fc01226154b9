/*
 * rack_slow - finds an RNIC whose loss is too small for a window of one second. Pure.
 *
 * It keeps the last five seconds, each once, and explains them as one window. An RNIC
 * that loses a few percent of its packets is named only if it loses them all the time:
 * one outage, even a long one, is not steady loss. An RNIC that loses five percent or
 * more is named after 2.5 s of such loss. Losses that are caused by the stall of a
 * host, by a port that is down, or by a stall of this aggregator do not count. For
 * smaller losses, rack_lasting has windows of up to two minutes.
 *
 * A host that stutters (HOST_STUTTERED) may lose a packet now and then. Its RNICs are
 * named only if they lose five percent or more, and rack_lasting does not count them.
 * What else may excuse a loss: rack_excuse.h.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SLOW_H
#define TOR_AGGREGATOR_LASTING_RACK_SLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/lasting/rack_slow_named.h"

struct rack;
struct rack_blame;
struct rack_slow;
struct window_closed;

int rack_slow_new(struct rack_slow **ret);
void rack_slow_free(struct rack_slow *slow);

/* Call it when the members have changed: the seconds so far are deleted; in the windows
 * of minutes, members that stay keep their data. Returns 0 or -ENOMEM. */
int rack_slow_forget(struct rack_slow *slow, const struct rack *rack);

/* Adds a window of one second, after it was judged. A window that overlaps the last
 * second added is ignored. unsteady: for each member, whether its host stuttered in
 * this window. blame: the RNICs that the explanation of this window names. *ret: the
 * *count present verdicts, valid until the next call. Returns 0, or -ENOMEM: then the
 * second is missing. */
int rack_slow_judge(struct rack_slow *slow, const struct rack *rack,
    const bool *unsteady, const struct window_closed *window, rm_wall_t window_start,
    const struct rack_blame *blame, const struct rack_slow_named **ret, size_t *count);

#endif
