/*
 * plan_inter - the racks of one plane and which of them probe each other; working data
 * of plan_inter_tor.c.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_INTER_H
#define REGION_CONTROLLER_PLAN_PLAN_INTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "region-controller/plan/coverage.h"
#include "region-controller/plan/plan_set.h"

/* A plane's racks that can be probed, by name: neighbours in the ring of a pair do not
 * depend on the file's order. */
struct plan_place {
	const char *name;
	size_t rack;
};

struct plan_ring {
	size_t plane;
	struct plan_place *places;
	size_t count;
	size_t out; /* destinations of each */
};

struct plan_pair {         /* one ToR probes another */
	uint32_t src, dst; /* places in the ring */
	uint32_t paths;
	double rate; /* probes a second */
	size_t able; /* RNICs of the source that share a transport with the other */
};

enum plan_inter_stage { /* of a plane, in this order */
	INTER_LAY,
	INTER_FIND,
	INTER_MEASURE, /* what the cables carry at one probe a second of each pair */
	INTER_ASK,
	INTER_MEASURE_AGAIN,
	INTER_ADD,
};

struct plan_inter {
	struct plan_set *set;
	enum plan_inter_stage stage;
	size_t planes; /* begun */
	size_t at;     /* the place in the ring, or pair, that is next in this stage */
	struct plan_ring ring;
	struct plan_pair *pairs; /* by destination, then source */
	size_t pair_count;
	double *loads; /* per direction of a link; then what is asked for */
	double *rates; /* per switch */
	double *worst; /* per switch */
	uint32_t flows[COVERAGE_MAX_PATHS +
		       1]; /* results of coverage; 0: not computed yet */
};

/* All pairs of RNICs by which one rack may probe another, each once, spread evenly over
 * both racks from the first on. */
struct plan_set;

struct plan_walk {
	size_t src_rack, dst_rack;
	size_t at, end, lap;
	uint64_t src_from, dst_from;
};

#endif
