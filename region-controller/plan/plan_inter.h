/*
 * plan_inter - the racks of one plane, and which of them probe each other; private data
 * of plan_inter_tor.c.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_INTER_H
#define REGION_CONTROLLER_PLAN_PLAN_INTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "region-controller/plan/coverage.h"
#include "region-controller/plan/plan_set.h"

/* The racks of a plane that can be probed, sorted by name, so that the neighbours in
 * the ring do not depend on the order in the file. */
struct plan_place {
	const char *name;
	size_t rack;
};

struct plan_ring {
	size_t plane;
	struct plan_place *places;
	size_t count;
	size_t out; /* number of destinations of each rack */
};

struct plan_pair {         /* a ToR that probes another one */
	uint32_t src, dst; /* indexes in the ring */
	uint32_t paths;
	double rate; /* probes per second */
	/* number of RNICs of the source that have a transport in common with the
	 * destination */
	size_t able;
};

enum plan_inter_stage { /* the stages of a plane, in this order */
	INTER_LAY,
	INTER_FIND,
	/* computes the load of each cable if every pair sends one probe per second */
	INTER_MEASURE,
	INTER_ASK,
	INTER_MEASURE_AGAIN,
	INTER_ADD,
};

struct plan_inter {
	struct plan_set *set;
	enum plan_inter_stage stage;
	size_t planes; /* number of planes on which the work has begun */
	/* index of the next place in the ring, or of the next pair, in this stage */
	size_t at;
	struct plan_ring ring;
	struct plan_pair *pairs; /* sorted by destination, then by source */
	size_t pair_count;
	/* for each direction of each link: its load; in some stages instead the factor
	 * by which the load must rise */
	double *loads;
	double *rates; /* per switch */
	double *worst; /* per switch */
	/* results of coverage_flows, indexed by the number of paths; 0: not computed
	 * yet */
	uint32_t flows[COVERAGE_MAX_PATHS + 1];
};

/* Visits all pairs of RNICs by which one rack may probe another, each pair once. The
 * first pairs, however many are used, are spread evenly over both racks. */
struct plan_set;

struct plan_walk {
	size_t src_rack, dst_rack;
	size_t at, end, lap;
	uint64_t src_from, dst_from;
};

#endif
