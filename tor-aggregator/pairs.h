/*
 * pairs - our ToRs' other aggregators: who of the two speaks, and what both know of the
 * rack's incidents. A part of the wiring.
 *
 * The speaker tells the other one of every incident: that it is open, with "opened"
 * until everybody has taken the alert and "updated" from then on, and "resolved" at its
 * end, and again once everybody has heard of that. The other one holds them, goes on
 * with them, and tells of an end that was not told.
 */
#ifndef TOR_AGGREGATOR_PAIRS_H
#define TOR_AGGREGATOR_PAIRS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct pairs;
struct rm_incident;
struct rm_metrics;
struct tor_aggregator;

/* After the incidents are restored, the links of agents made, and before they listen.
 * ToRs without another aggregator speak, or not, as their config says. */
int pairs_new(struct tor_aggregator *aggregator, struct pairs **ret);
void pairs_free(struct pairs *pairs); /* before the links of agents */

/* Every tick. */
void pairs_tick(struct pairs *pairs, rm_mono_t now);
void pairs_stalled(struct pairs *pairs, int64_t for_ns, rm_mono_t now);

/* Of the tor-th ToR; something of it has changed that the other one should know. */
void pairs_tell(struct pairs *pairs, size_t tor, const struct rm_incident *incident);

/* NULL: it has no other aggregator. New reference. */
json_t *pairs_show(const struct pairs *pairs, size_t tor, rm_mono_t now);
/* A ToR at which both of the two are told to speak, or neither is; NULL: none. */
const char *pairs_quarrel(const struct pairs *pairs);
int pairs_metrics(struct pairs *pairs, struct rm_metrics *metrics);

#endif
