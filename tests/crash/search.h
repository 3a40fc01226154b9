/*
 * search - all that a crash may leave at every point of a workload: creates each state,
 * starts a spool on it, and checks that it kept every promise.
 */
#ifndef TESTS_CRASH_SEARCH_H
#define TESTS_CRASH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/crash/life.h"
#include "tests/crash/workload.h"

struct search_options {
	uint64_t states; /* number of distinct states, at least */
	/* The seed of the first workload; the next workload uses the next seed. */
	uint64_t first_seed;
	uint64_t workloads; /* maximum; 0: as many as needed */
	bool loud;          /* prints the faults */
	uint64_t faults;    /* stop after this number of faults */
};

struct search_counts {
	uint64_t distinct, tried, workloads, points;
	/* Distinct states after a crash of the start after a crash. */
	uint64_t in_recovery;
	uint64_t exhausted; /* points of which all states were tried */
	int64_t slowest_ns; /* slowest start */
	struct workload_counts work;
	struct life_faults faults;
};

/* root: a new folder in memory. */
void search_run(
    const char *root, const struct search_options *options, struct search_counts *ret);

#endif
