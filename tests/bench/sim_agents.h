/*
 * sim_agents - the agents of a rack, made up: the messages that they send, with their
 * times.
 *
 * Each host has one RNIC, which probes its ToR-mesh peers and a few RNICs of other
 * racks in turn, in two classes, and sends a batch every 200 ms. Nothing is lost,
 * unless RNICs are broken. The messages are the same in each run.
 */
#ifndef BENCH_SIM_AGENTS_H
#define BENCH_SIM_AGENTS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SIM_TOR "tor-0"
#define SIM_INCARNATION 7
#define SIM_START_NS (1000 * RM_NS_PER_S)   /* start of all clocks */
#define SIM_TIMEOUT_NS (500 * RM_NS_PER_MS) /* of the probes */
#define SIM_MAX_FAR_TORS 64
#define SIM_COUNT_ROWS 20   /* ten probers, two classes */
#define SIM_MAX_RESULTS 256 /* in a batch */

struct sim_agents;

struct sim_message { /* a batch, when it arrives */
	size_t agent;
	rm_mono_t at;
	struct wire_bytes bytes; /* valid until the next call */
	const struct wire_result *results;
	size_t count;
};

/* far_tors: number of other racks that are probed. */
int sim_agents_new(
    size_t count, uint64_t results_per_s, size_t far_tors, struct sim_agents **ret);
void sim_agents_free(struct sim_agents *agents);

/* From the second second on, the first `dead` RNICs lose all packets, and the next
 * `lossy` ones lose 2 %. */
void sim_agents_break(struct sim_agents *agents, size_t dead, size_t lossy);

size_t sim_agents_count(const struct sim_agents *agents);
void sim_agents_host(size_t agent, char text[32]);

/* Each is valid until the next call of any of them. */
int sim_agents_plan(struct sim_agents *agents, struct wire_bytes *ret);
int sim_agents_registration(
    struct sim_agents *agents, size_t agent, struct wire_bytes *ret);
int sim_agents_next(struct sim_agents *agents, struct sim_message *ret);

/* What the agent's reflector has received, SIM_COUNT_ROWS rows. number: from 1. */
int sim_agents_counts(struct sim_agents *agents, size_t agent, uint64_t number,
    rm_mono_t at, struct wire_bytes *ret);

#endif
