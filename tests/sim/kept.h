/*
 * kept - stores the inputs of the schemes in a run, to judge them again with other
 * values of the parameters.
 */
#ifndef TESTS_SIM_KEPT_H
#define TESTS_SIM_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "tests/sim/score.h"

struct kept; /* one run */

/* Makes its own fabric from the options, and copies the truths; their `kind` texts stay
 * borrowed. -ENOMEM. */
int kept_new(const struct clos_options *fabric, const struct truth *truths,
    size_t count, struct kept **ret);
void kept_free(struct kept *kept);

/* Stores the input of the schemes at this moment of the run. -ENOMEM. */
int kept_report(struct kept *kept, const struct seen *seen, int64_t now_ns);

/* Judges the whole run again by this scheme. values: one per parameter. -ENOMEM. */
int kept_judge(const struct kept *kept, const struct scheme_type *type,
    const double *values, struct score *score);

#endif
