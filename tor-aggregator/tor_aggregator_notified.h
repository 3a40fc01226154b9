/*
 * tor_aggregator_notified - marks which openings and ends of incidents all receivers of
 * alerts have accepted.
 *
 * This is saved over a restart, and sent to the other aggregator of the ToR.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_NOTIFIED_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_NOTIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"

struct tor_aggregator;
struct tor_rack;

/* Callback on_notified of rm_alert_options: all receivers have accepted the opening, or
 * the end, of the incident. It is not sent again after a restart. */
void tor_aggregator_on_notified(uint64_t incident, bool resolved, void *aggregator);

/* True: this aggregator has to send alerts on this part of the rack now. */
bool tor_aggregator_alerts_on(const struct tor_rack *rack, const struct rm_part *part);

/* As tor_aggregator_on_notified, for an incident of ToR number tor only. */
void tor_aggregator_mark_notified(
    struct tor_aggregator *aggregator, size_t tor, uint64_t id, bool resolved);
/* True: the receivers have accepted the opening of another rack's incident on the same
 * part. Then the opening of this incident counts as accepted, too. */
bool tor_aggregator_opening_was_notified(
    const struct tor_aggregator *aggregator, const struct rm_part *part);
/* Notes an event of an incident. If this aggregator does not send alerts on the part,
 * the event counts as notified. An exception are openings while the other aggregator is
 * active: this one may have to send them when it becomes active. */
void tor_aggregator_note_notified(struct tor_aggregator *aggregator,
    const struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident);

#endif
