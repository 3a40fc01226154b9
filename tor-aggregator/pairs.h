/*
 * pairs - the other aggregators of this aggregator's ToRs: which of the two is active,
 * and the incidents that both know. Part of the wiring.
 *
 * The active one sends the other one every incident: "opened" until all receivers have
 * accepted the alert, "updated" from then on, and "resolved" at its end and once more
 * when all receivers have accepted that. The other one holds the incidents, continues
 * them when it becomes active, and sends ends that were not delivered.
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

/* Call it after the incidents are restored and the agents' server is created, and
 * before that listens. ToRs without another aggregator are active or not by their
 * config. */
int pairs_new(struct tor_aggregator *aggregator, struct pairs **ret);
void pairs_free(struct pairs *pairs); /* before the links of agents are freed */

/* Every tick. */
void pairs_tick(struct pairs *pairs, rm_mono_t now);
void pairs_stalled(struct pairs *pairs, int64_t for_ns, rm_mono_t now);

/* The incident of the tor-th ToR has changed: sends it to the other aggregator. */
void pairs_report(struct pairs *pairs, size_t tor, const struct rm_incident *incident);

/* NULL: it has no other aggregator. New reference. */
json_t *pairs_show(const struct pairs *pairs, size_t tor, rm_mono_t now);
/* A ToR for which both configs say primary, or neither does; NULL: none. */
const char *pairs_quarrel(const struct pairs *pairs);
int pairs_metrics(struct pairs *pairs, struct rm_metrics *metrics);

#endif
