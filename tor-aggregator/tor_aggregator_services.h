/*
 * tor_aggregator_services - what agents tell of service flows: kept to be shown, and
 * their peers made known to the racks whose RNICs probe them.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_SERVICES_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_SERVICES_H

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct tor_aggregator;

/* For agent_links; arg is the aggregator. */
void tor_aggregator_on_services(
    struct agent *agent, const struct wire_services_view *view, void *arg);

/* Once a second. */
void tor_aggregator_services_tick(struct tor_aggregator *aggregator, rm_mono_t now);

#endif
