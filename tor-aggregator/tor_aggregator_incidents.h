/*
 * tor_aggregator_incidents - handles the incidents of the racks: sends alerts, reports
 * them to the analyzer, and keeps them over a restart.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_INCIDENTS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_INCIDENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/incident/incident.h"

struct tor_aggregator;
struct tor_rack;

/* Callback on_incident of tor_rack_callbacks. */
void tor_aggregator_on_incident(struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg);

/* Continues incidents that were open before a restart, with their ids. Alertmanager
 * gets them again as open; other receivers get only what they had not accepted before.
 * 0 or a negative errno. */
int tor_aggregator_restore_incidents(struct tor_aggregator *aggregator);
/* Writes changes; call it at every tick. */
void tor_aggregator_keep_incidents(struct tor_aggregator *aggregator, rm_wall_t wall);
/* Call it when this aggregator becomes active for ToR number tor: sends the rack's open
 * incidents, with their ids, to the receivers of alerts and to the analyzer. */
void tor_aggregator_set_active(struct tor_aggregator *aggregator, size_t tor);
/* Call it when this aggregator becomes standby for the ToR: from now on it sends
 * nothing about the rack. It does not send "resolved" for what it has sent. */
void tor_aggregator_go_standby(struct tor_aggregator *aggregator, size_t tor);
/* From now on this aggregator reports this open incident, as if it had opened the
 * incident. */
void tor_aggregator_fire(
    struct tor_aggregator *aggregator, size_t tor, const struct rm_incident *incident);
/* Sends all open incidents in their present state: an analyzer may know none of
 * them. */
void tor_aggregator_report_incidents(void *aggregator);

#endif
