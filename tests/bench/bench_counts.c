/*
 * bench_counts - what a row of an agent's receive counts costs the aggregator. 256
 * agents send four reports a second of 20 rows each: an agent sends about as many rows
 * as results (100 a second).
 *
 * Only verify and ingest are timed.
 *
 * Yardstick: memcpy of the same reports.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/figure.h"
#include "tests/bench/sim_agents.h"
#include "tests/bench/sim_aggregator.h"

#define RNICS 256
#define REPORTS 20 /* size of each report */
#define MAX_BYTES 2048
#define ROWS ((double)REPORTS * RNICS * SIM_COUNT_ROWS)

struct report {
	_Alignas(64) uint8_t data[MAX_BYTES];
	size_t len;
};

static struct report reports[RNICS], copies[RNICS];

static int
encode(struct sim_agents *agents, uint64_t number, rm_mono_t at)
{
	for (size_t i = 0; i < RNICS; i++) {
		struct wire_bytes bytes;
		int r = sim_agents_counts(agents, i, number, at, &bytes);

		if (r < 0)
			return r;
		if (bytes.len > MAX_BYTES)
			return -ENOSPC;
		memcpy(reports[i].data, bytes.data, bytes.len);
		reports[i].len = bytes.len;
	}
	return 0;
}

static int
measure(struct sim_agents *agents, double *best, double *best_copy)
{
	struct sim_aggregator aggregator;
	rm_mono_t at = { SIM_START_NS };
	uint64_t took = 0, copied = 0;
	int r = sim_aggregator_init(&aggregator, agents);

	for (uint64_t number = 1; r == 0 && number <= REPORTS; number++) {
		uint64_t start, between;

		at = rm_mono_add(at, RM_NS_PER_S / 4);
		r = encode(agents, number, at);
		start = figure_cpu_ns();
		for (size_t i = 0; i < RNICS && r == 0; i++)
			r = ingest_receive_counts(&aggregator.ingest,
			    aggregator.by_number[i], at, reports[i].data,
			    reports[i].len);
		between = figure_cpu_ns();
		for (size_t i = 0; i < RNICS; i++)
			memcpy(copies[i].data, reports[i].data, reports[i].len);
		copied += figure_cpu_ns() - between;
		took += between - start;
		sim_aggregator_tick(&aggregator, at);
	}
	if (r == 0 && aggregator.ingest.counts.count_rows_invalid > 0)
		r = -EPROTO;
	sim_aggregator_clear(&aggregator);
	figure_keep_best(best, (double)took / ROWS);
	figure_keep_best(best_copy, (double)copied / ROWS);
	return r;
}

int
main(int argc, char **argv)
{
	int rounds = figure_argument(argc, argv, "--smoke") ? 3 : 7;
	struct sim_agents *agents = NULL;
	double row = 0, copy = 0;
	int r = sim_agents_new(RNICS, 100, 1, &agents);

	for (int i = 0; i < rounds && r == 0; i++)
		r = measure(agents, &row, &copy);
	sim_agents_free(agents);
	if (r < 0) {
		fprintf(stderr, "bench_counts: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	figure_print(&(struct figure){
	    "beside it: receive counts", "ns/row", row, "memcpy", copy });
	return EXIT_SUCCESS;
}
