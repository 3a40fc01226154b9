/*
 * pairs - decides, for each ToR with two aggregators, which of the two is active, and
 * exchanges incidents between them. Part of the daemon's root.
 *
 * The active aggregator sends every incident to the standby: as "opened" until all
 * receivers have accepted the alert, then as "updated", as "resolved" when the incident
 * ends, and once more when all receivers have accepted the end. The standby stores the
 * incidents. When it becomes active, it continues them, and sends the ends that were
 * not delivered to all receivers.
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

/* Call it after the incidents are restored and the server for agents is created, and
 * before that server listens. For a ToR without a second aggregator the config decides
 * whether this one is active. */
int pairs_new(struct tor_aggregator *aggregator, struct pairs **ret);
void pairs_free(struct pairs *pairs); /* free it before the server for agents */

/* Call it at every tick. */
void pairs_tick(struct pairs *pairs, rm_mono_t now);
void pairs_stalled(struct pairs *pairs, int64_t for_ns, rm_mono_t now);

/* Sends an incident of ToR number tor, which has changed, to the other aggregator. */
void pairs_report(struct pairs *pairs, size_t tor, const struct rm_incident *incident);

/* The pair's state for the API; the caller owns the reference. NULL: the ToR has one
 * aggregator. */
json_t *pairs_show(const struct pairs *pairs, size_t tor, rm_mono_t now);
/* Returns the name of a ToR for which both configs say primary, or neither does; NULL:
 * there is none. Borrowed. */
const char *pairs_quarrel(const struct pairs *pairs);
int pairs_metrics(struct pairs *pairs, struct rm_metrics *metrics);

#endif
