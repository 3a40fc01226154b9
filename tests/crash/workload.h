/*
 * workload - some runs of a spool, one after the other, the same for the same seed:
 * appends and acknowledgements over several segments, kill -9 at any call, calls that
 * fail, foreign and damaged files.
 */
#ifndef TESTS_CRASH_WORKLOAD_H
#define TESTS_CRASH_WORKLOAD_H

#include <stdint.h>

#include "rackmesh/spool/spool.h"

struct life;

/* The options of the spool for this seed; the caller sets the folder. */
void workload_options(uint64_t seed, struct rm_spool_options *options);

struct workload_counts {
	uint64_t appended, syncs_failed, calls_failed, kills, restarts, damaged;
	uint64_t dropped;
};

/* The recorder is active. life is not running before and after. */
void workload_run(uint64_t seed, struct life *life, struct workload_counts *counts);

#endif
