/*
 * tor_aggregator_incidents - what the daemon does about its racks' incidents: alerts,
 * the lane, and keeping them over a restart. A part of the wiring.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_INCIDENTS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_INCIDENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/incident/incident.h"

struct tor_aggregator;
struct tor_rack;

/* tor_rack_callbacks' on_incident. */
void tor_aggregator_on_incident(struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg);

/* What an earlier life had open goes on under its id; Alertmanager hears that it still
 * burns, and everybody what was not told before the end. */
int tor_aggregator_restore_incidents(struct tor_aggregator *aggregator);
/* Writes what has changed since; every tick. */
void tor_aggregator_keep_incidents(struct tor_aggregator *aggregator, rm_wall_t wall);
/* We speak for the tor-th rack from now on: what is open in it goes on, under its id,
 * at the receivers of alerts and the analyzer. */
void tor_aggregator_set_active(struct tor_aggregator *aggregator, size_t tor);
/* We do not any more: nothing is sent on its account, and nothing is taken back. */
void tor_aggregator_go_standby(struct tor_aggregator *aggregator, size_t tor);
/* This one, open, is ours to tell of now: as if we had opened it. */
void tor_aggregator_fire(
    struct tor_aggregator *aggregator, size_t tor, const struct rm_incident *incident);
/* All open ones, as they are now: an analyzer may know none of them. */
void tor_aggregator_report_incidents(void *aggregator);

#endif
