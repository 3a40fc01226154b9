/*
 * sim_aggregators - the messages of many racks to an analyzer, made up, and the sums
 * that a database must contain once all of them have arrived.
 *
 * The n-th message of an aggregator is always the same: a message that was not
 * acknowledged is made again, and nothing must be kept for counting. Each aggregator
 * has one rack.
 */
#ifndef BENCH_SIM_AGGREGATORS_H
#define BENCH_SIM_AGGREGATORS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define SIM_MAX_ROWS 256
#define SIM_SERVICE_SENT 7 /* probes of sim.service in each summary */
#define SIM_LOSSY_EVERY 16 /* one in this number of summaries has a path with loss */

struct sim_aggregators;

struct sim_aggregators_options {
	size_t aggregators;
	size_t rows, rnics; /* number of them in a summary, at most SIM_MAX_ROWS */
	/* The time of the first message, and the time between two messages. */
	uint64_t start_wall_ns, step_ns;
	uint64_t incarnation;
	const char *region; /* borrowed */
};

struct sim_sums { /* what a database must contain of the message */
	uint64_t path_points, path_sent;
	uint64_t route_points, route_lost;
	uint64_t rnic_points, rnic_sent;
	uint64_t rack_points, rack_taken;
	uint64_t incident_points, incident_ids;
};

int sim_aggregators_new(
    const struct sim_aggregators_options *options, struct sim_aggregators **ret);
void sim_aggregators_free(struct sim_aggregators *sim);

void sim_aggregators_name(size_t aggregator, char text[32]);
void sim_aggregators_tor(size_t aggregator, char text[32]);

/* seq: from 1. bytes: valid until the next call of any. */
int sim_aggregators_hello(
    struct sim_aggregators *sim, size_t aggregator, struct wire_bytes *ret);
int sim_aggregators_summary(struct sim_aggregators *sim, size_t aggregator,
    uint64_t seq, struct wire_bytes *ret);
int sim_aggregators_incident(struct sim_aggregators *sim, size_t aggregator,
    uint64_t seq, struct wire_bytes *ret);
int sim_aggregators_ping(struct sim_aggregators *sim, struct wire_bytes *ret);

/* Adds the sums of this message. */
void sim_aggregators_sum_summary(const struct sim_aggregators *sim, size_t aggregator,
    uint64_t seq, struct sim_sums *sums);
void sim_aggregators_sum_incident(
    size_t aggregator, uint64_t seq, struct sim_sums *sums);

#endif
