/*
 * tune - the values of a scheme's parameters that do best, by the same search for all.
 *
 * From the values given: of every two parameters, all pairs of their grids; a second
 * round follows where the first one brought something. The mark should be one in which
 * precision weighs more than recall: an alert in vain costs more than a fault that the
 * next window finds.
 */
#ifndef TESTS_SIM_TUNE_H
#define TESTS_SIM_TUNE_H

#include "tests/sim/scheme.h"

/* How these values do on the development seeds, more is better; a negative errno ends
 * the search. */
typedef int tune_try_fn(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark);

/* F measure in which precision weighs twice as much as recall (F0.5). */
double tune_mark(double precision, double recall);

/* values: from where, and where it ended. first: parameters before it stay. */
int tune(const struct scheme_type *type, size_t first, tune_try_fn *try, void *arg,
    double values[SCHEME_PARAMETERS], double *ret_mark);

#endif
