/*
 * sim_aggregator - the tor-aggregator's pure code, fed by sim_agents: the part of the
 * daemon between its sockets, that is agents, ingest and one rack.
 *
 * The caller gives the time.
 */
#ifndef BENCH_SIM_AGGREGATOR_H
#define BENCH_SIM_AGGREGATOR_H

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/ingest.h"

struct agent;
struct agents;
struct sim_agents;
struct tor_rack;

#define SIM_TICK_NS (50 * RM_NS_PER_MS) /* the daemon's default */

typedef void sim_on_summary(const struct wire_summary *summary, void *arg);

struct sim_aggregator {
	struct agents *agents;
	struct agent *by_number[WIRE_MAX_MEMBERS];
	struct ingest ingest;
	struct tor_rack *rack;
	uint8_t *plan;
	struct wire_plan_view plan_view;
	uint64_t incidents;         /* events of incidents; 0 if nothing is broken */
	sim_on_summary *on_summary; /* may be NULL */
	void *arg;
};

int sim_aggregator_init(struct sim_aggregator *aggregator, struct sim_agents *from);
void sim_aggregator_clear(struct sim_aggregator *aggregator);

/* data: aligned to 8 bytes. */
int sim_aggregator_take(struct sim_aggregator *aggregator, size_t agent, rm_mono_t at,
    const uint8_t *data, size_t len);
void sim_aggregator_tick(struct sim_aggregator *aggregator, rm_mono_t now);

#endif
