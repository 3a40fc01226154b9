/*
 * rack_run - one simulated rack with faults, and the verdicts that they must cause.
 *
 * A run fails its test at once on any other verdict, on a late verdict, and on a part
 * that is not healthy again in time.
 */
#ifndef TESTS_RACK_RUN_H
#define TESTS_RACK_RUN_H

#include "rack_sim.h"

#define RUN_MAX_EXPECTED 3

/* Latencies are measured in simulated time: from the fault to the end of the window
 * that named it, without the wait for the time-out of probes. */
#define RUN_DEADLINE_NS (1500 * RM_NS_PER_MS)
#define RUN_HOST_DEADLINE_NS (2500 * RM_NS_PER_MS)
/* Until then the direction must be reported as well. */
#define RUN_DIRECTION_NS (10000 * RM_NS_PER_MS)
/* Until then all parts must have been healthy for 2 s. */
#define RUN_RECOVERED_NS (4000 * RM_NS_PER_MS)

struct run_expected {
	enum rm_part_type type;
	enum rm_kind kind;
	char name[64];
	/* The only direction that may be reported. */
	enum rm_direction direction;
	int64_t from_ns, to_ns, deadline_ns;
	int64_t named_ns; /* 0: not named yet */
	int64_t direction_reported_ns;
};

struct run {
	struct sim *sim;
	struct run_expected expected[RUN_MAX_EXPECTED];
	size_t expected_count;
	double share;          /* share of the packets that a lossy part loses */
	int64_t afterglow_ns;  /* how long verdicts may continue; 0: a second */
	unsigned well_windows; /* consecutive windows in which all parts were healthy */
	const char *what;      /* name of the run, for messages */
	struct sim_options options;
};

/* A quarter of `base`, or what tests/support/trials.h says; multiplied by the
 * environment's RACKMESH_SEEDS, for a long run. */
unsigned run_seeds(unsigned base);

/* Options may be changed between these two calls. */
struct run run_new(const char *what, size_t members, uint64_t seed);
void run_begin(struct run *run);

/* A random time within a second after after_ns, so that the fault is not in step with
 * the bins. */
int64_t run_random_time(struct run *run, int64_t after_ns);

/* Breaks a part, and expects the verdict that the fault must cause. Returns NULL if it
 * must cause none. */
struct run_expected *run_break(struct run *run, enum sim_fault_kind kind, size_t index,
    int64_t from_ns, int64_t for_ns);

/* Judges bin after bin until end_ns. Before well_by_ns every RNIC and host must have
 * been healthy for as long as it takes to resolve an incident; 0: not checked. */
void run_until(struct run *run, int64_t end_ns, int64_t well_by_ns);

void run_end(struct run *run);                             /* adds to the latencies */
void run_print_latencies(const char *what, unsigned runs); /* since the last call */

#endif
