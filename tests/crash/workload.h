/*
 * workload - some lives of a spool, one after the other, the same ones for the same
 * seed: appends and acknowledgements over several segments, kill -9 at any call, calls
 * that fail, foreign and damaged files.
 */
#ifndef TESTS_CRASH_WORKLOAD_H
#define TESTS_CRASH_WORKLOAD_H

#include <stdint.h>

#include "rackmesh/spool/spool.h"

struct life;

/* Of the spool that this seed means; the folder's name is the caller's. */
void workload_options(uint64_t seed, struct rm_spool_options *options);

struct workload_counts {
	uint64_t appended, syncs_failed, calls_failed, kills, restarts, damaged;
	uint64_t dropped;
};

/* The recorder runs; life is not alive before and after. */
void workload_run(uint64_t seed, struct life *life, struct workload_counts *counts);

#endif
