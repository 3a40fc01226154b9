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
	struct kept **keep; /* stores the inputs of the schemes; owned by the caller;
			       NULL: they are not stored */
	/* gets what the aggregators receive (record.h); NULL: it is not recorded */
	FILE *record;
	/* gets each opening, change and end as a sentence; NULL: they are not written
	 */
	FILE *verdicts;
};

struct run_result {
	/* score of our judges; the caller frees it, and the scores of the schemes */
	struct score *own;
	struct score *schemes[RUN_MAX_SCHEMES];
	char *truth; /* the run's truth as a line of JSON, malloc'd */
	uint64_t probes, lost, results, windows;
};

/* -EINVAL, with error: the run cannot be simulated; -ENOMEM. Then *ret is unchanged. */
int run_whole(const struct scenario *scenario, const struct run_options *options,
    struct run_result *ret, struct rm_error *error);
void run_result_clear(struct run_result *result);

#endif
