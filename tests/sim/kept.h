/*
 * kept - what schemes are told in runs, kept to be judged again with other values of
 * their parameters.
 */
#ifndef TESTS_SIM_KEPT_H
#define TESTS_SIM_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "tests/sim/score.h"

struct kept; /* one run */

/* Makes a fabric of its own by the options, and copies the truths but for their kinds'
 * words. -ENOMEM. */
int kept_new(const struct clos_options *fabric, const struct truth *truths,
    size_t count, struct kept **ret);
void kept_free(struct kept *kept);

/* What schemes are told at this moment of the run. -ENOMEM: it is not kept. */
int kept_report(struct kept *kept, const struct seen *seen, int64_t now_ns);

/* The whole run once more, by such a scheme. values: one for each parameter. -ENOMEM.
 */
int kept_judge(const struct kept *kept, const struct scheme_type *type,
    const double *values, struct score *score);

#endif
