/*
 * truth - the faults of a run: for the score, and as a line of JSON, which README.md
 * describes. Pure.
 */
#ifndef TESTS_SIM_TRUTH_H
#define TESTS_SIM_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "tests/sim/clos.h"
#include "tests/sim/life.h"
#include "tests/sim/scenario.h"
#include "tests/sim/score.h"

/* malloc'd. -ENOMEM. */
int truth_of(const struct clos *clos, const struct fault *faults, size_t count,
    const struct life *life, struct truth **ret, size_t *truths);

/* Returns malloc'd text without a line break at its end; NULL: out of memory. */
char *truth_line(const struct scenario *scenario, const struct scenario_draw *draw,
    uint64_t seed, uint32_t number, const struct clos *clos, const struct fault *faults,
    size_t count, const struct life *life);

#endif
