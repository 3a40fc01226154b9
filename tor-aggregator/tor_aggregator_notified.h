/*
 * tor_aggregator_notified - which openings and ends of incidents all receivers know. A
 * part of the wiring.
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

/* Callback on_notified of rm_alert_options: it need not be sent again after a
 * restart. */
void tor_aggregator_on_notified(uint64_t incident, bool resolved, void *aggregator);

/* True: this aggregator has to send its alerts now. */
bool tor_aggregator_alerts_on(const struct tor_rack *rack, const struct rm_part *part);

/* For the tor-th rack. */
void tor_aggregator_mark_notified(
    struct tor_aggregator *aggregator, size_t tor, uint64_t id, bool resolved);
/* True: another opening for the same part was notified: then this one counts as
 * notified, too. */
bool tor_aggregator_opening_was_notified(
    const struct tor_aggregator *aggregator, const struct rm_part *part);
/* If the alert is not to be sent by this aggregator, nothing waits for it. Openings
 * while the other one is active were not notified by this one: it may have to do it. */
void tor_aggregator_note_notified(struct tor_aggregator *aggregator,
    const struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident);

#endif
