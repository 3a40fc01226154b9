/*
 * tor_aggregator_notified - which incidents' openings and ends everybody has heard of.
 * A part of the wiring.
 *
 * It is kept over a restart, and the other aggregator of the ToR knows it, too.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_NOTIFIED_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_NOTIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"

struct tor_aggregator;
struct tor_rack;

/* rm_alert_options' on_notified: it need not be told again after a restart. */
void tor_aggregator_on_notified(uint64_t incident, bool resolved, void *aggregator);

/* Is it ours, now, to send alerts of? */
bool tor_aggregator_alerts_on(const struct tor_rack *rack, const struct rm_part *part);

/* Of the tor-th rack. */
void tor_aggregator_mark_notified(
    struct tor_aggregator *aggregator, size_t tor, uint64_t id, bool resolved);
/* Whether somebody else's opening on the same part was told: then this one was, too. */
bool tor_aggregator_opening_was_notified(
    const struct tor_aggregator *aggregator, const struct rm_part *part);
/* What is not ours to alert on is no news that waits for anybody. Of what is open while
 * another one speaks, nobody was told by us: we may have to. */
void tor_aggregator_note_notified(struct tor_aggregator *aggregator,
    const struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident);

#endif
