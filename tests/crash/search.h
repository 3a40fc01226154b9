/*
 * search - all that a crash may leave behind, at every point of a workload: makes it,
 * starts a spool on it, and looks whether that kept every promise.
 */
#ifndef TESTS_CRASH_SEARCH_H
#define TESTS_CRASH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/crash/life.h"
#include "tests/crash/workload.h"

struct search_options {
	uint64_t states;     /* distinct ones, at least */
	uint64_t first_seed; /* of the workloads: this one, the next .. */
	uint64_t workloads;  /* at most; 0: as many as it takes */
	bool loud;           /* says what was found wrong */
	uint64_t faults;     /* enough, then */
};

struct search_counts {
	uint64_t distinct, tried, workloads, points;
	uint64_t in_recovery; /* of the distinct: a crash of the start after a crash */
	uint64_t exhausted;   /* points of which all states were tried */
	int64_t slowest_ns;   /* start */
	struct workload_counts work;
	struct life_faults faults;
};

/* root: a folder of our own, in memory. */
void search_run(
    const char *root, const struct search_options *options, struct search_counts *ret);

#endif
