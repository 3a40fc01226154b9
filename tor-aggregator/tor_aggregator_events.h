/*
 * tor_aggregator_events - the daemon's reactions to events inside the loop. Only
 * tor_aggregator.c includes it.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_EVENTS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct aggregator_config;
struct tor_aggregator;
struct tor_rack_callbacks;
struct wire_join;
struct wire_register_view;
struct wire_resolve;

void tor_aggregator_rack_callbacks(
    struct tor_aggregator *aggregator, struct tor_rack_callbacks *ret);
void tor_aggregator_on_register(
    struct agent *agent, const struct wire_register_view *view, void *arg);
void tor_aggregator_on_gone(struct agent *agent, void *arg);
void tor_aggregator_on_session(struct agent *agent, void *arg);
void tor_aggregator_on_resolve(
    struct agent *agent, const struct wire_resolve *resolve, void *arg);
void tor_aggregator_on_join(
    struct agent *agent, const struct wire_join *join, void *arg);
int tor_aggregator_on_drill(const uint8_t *data, size_t len, void *aggregator);
/* call it when the store has a newer plan */
void tor_aggregator_on_plan(size_t tor, void *arg);

/* Loads the plan files that the config names. The first error is logged and
 * returned. */
int tor_aggregator_load_plans(
    struct tor_aggregator *aggregator, const struct aggregator_config *config);
int tor_aggregator_start_ticking(struct tor_aggregator *aggregator);

/* Handles agents' reports of service flows. The flows are kept for display. The peers
 * of these flows are added to the racks, so that probes to them are accepted. */

/* Callback of agent_server; arg is the aggregator. */
void tor_aggregator_on_services(
    struct agent *agent, const struct wire_services_view *view, void *arg);

/* Call it once a second. */
void tor_aggregator_services_tick(struct tor_aggregator *aggregator, rm_mono_t now);

/* Applies changed receivers of alerts from the config. Defined in tor_aggregator.c. 0
 * or a negative errno. */
int tor_aggregator_alert_to(struct tor_aggregator *aggregator);

#endif
