/*
 * tor_aggregator_incidents - handles the incidents of the racks: alerts, the lane to
 * the analyzer, and keeping them over a restart. A part of the wiring.
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

/* Incidents that were open before a restart continue under their ids; Alertmanager
 * is told that they are still open, and all receivers get what they had not received
 * before the end. */
int tor_aggregator_restore_incidents(struct tor_aggregator *aggregator);
/* Writes changes; call it at every tick. */
void tor_aggregator_keep_incidents(struct tor_aggregator *aggregator, rm_wall_t wall);
/* This aggregator is active for the tor-th rack from now on: its open incidents
 * continue, with their ids, at the receivers of alerts and the analyzer. */
void tor_aggregator_set_active(struct tor_aggregator *aggregator, size_t tor);
/* It is standby from now on: it sends nothing about the rack, and takes nothing
 * back. */
void tor_aggregator_go_standby(struct tor_aggregator *aggregator, size_t tor);
/* This aggregator has to report this open incident from now on, as if it had opened
 * it. */
void tor_aggregator_fire(
    struct tor_aggregator *aggregator, size_t tor, const struct rm_incident *incident);
/* Sends all open incidents in their present state: an analyzer may know none of
 * them. */
void tor_aggregator_report_incidents(void *aggregator);

#endif
