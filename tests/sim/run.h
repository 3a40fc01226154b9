/*
 * run - simulates one draw of a scenario: the fabric, its faults, probes by the real
 * plan, and the real judges of racks and region; scores the parts that they name.
 *
 * The result depends only on scenario, seed and number. No clock is read.
 */
#ifndef TESTS_SIM_RUN_H
#define TESTS_SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rackmesh/core/error.h"
#include "tests/sim/scheme.h"
#include "tests/sim/score.h"

struct kept;
struct scenario;

#define RUN_MAX_SCHEMES 32

struct run_scheme {
	const struct scheme_type *type;
	double values[SCHEME_PARAMETERS];
	char name[40];
};

struct run_options {
	uint64_t seed;
	uint32_t number; /* of the run */
	struct run_scheme schemes[RUN_MAX_SCHEMES];
	size_t scheme_count;
	struct kept *
	    *keep; /* stores the inputs of the schemes; owned by the caller; or NULL */
	FILE *record;   /* what its aggregators receive (record.h); or NULL */
	FILE *verdicts; /* each opening, change and end, as a sentence; or NULL */
};

struct run_result {
	struct score *own; /* the caller frees it, and the scores of the schemes */
	struct score *schemes[RUN_MAX_SCHEMES];
	char *truth; /* JSON line of the run's truth, malloc'd */
	uint64_t probes, lost, results, windows;
};

/* -EINVAL and error: it cannot be simulated; -ENOMEM. *ret is untouched then. */
int run_whole(const struct scenario *scenario, const struct run_options *options,
    struct run_result *ret, struct rm_error *error);
void run_result_clear(struct run_result *result);

#endif
