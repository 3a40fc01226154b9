/*
 * sim_aggregators - what many racks would tell an analyzer, made up, and the sums that
 * a database must hold once all of it has arrived.
 *
 * The n-th message of an aggregator is always the same: what was not acknowledged is
 * made again, and whoever counts need not keep anything. One rack an aggregator.
 */
#ifndef BENCH_SIM_AGGREGATORS_H
#define BENCH_SIM_AGGREGATORS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define SIM_MAX_ROWS 256
#define SIM_SERVICE_SENT 7 /* probes of sim.service, by every summary */
#define SIM_LOSSY_EVERY 16 /* summaries: one of so many has a path that lost */

struct sim_aggregators;

struct sim_aggregators_options {
	size_t aggregators;
	size_t rows, rnics;              /* of a summary, SIM_MAX_ROWS at most */
	uint64_t start_wall_ns, step_ns; /* of the first message; between two */
	uint64_t incarnation;
	const char *region; /* borrowed */
};

struct sim_sums { /* what a database has of it */
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

/* Adds what that message brings. */
void sim_aggregators_sum_summary(const struct sim_aggregators *sim, size_t aggregator,
    uint64_t seq, struct sim_sums *sums);
void sim_aggregators_sum_incident(
    size_t aggregator, uint64_t seq, struct sim_sums *sums);

#endif
