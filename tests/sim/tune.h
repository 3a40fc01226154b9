/*
 * tune - searches the best values of a scheme's parameters, with the same search for
 * all schemes.
 *
 * The search begins with the given values. For every two parameters it tries all pairs
 * of values in their grids. If that has improved the score, it does so a second time.
 * The score weighs precision more than recall: a false alert costs more than a fault
 * that the next window finds.
 */
#ifndef TESTS_SIM_TUNE_H
#define TESTS_SIM_TUNE_H

#include "tests/sim/scheme.h"

/* Returns the score of these values on the development seeds, higher is better; a
 * negative errno ends the search. */
typedef int tune_try_fn(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark);

/* Returns the F measure in which precision counts twice as much as recall (F0.5). */
double tune_mark(double precision, double recall);

/* values: the values with which the search begins, and then its result. first:
 * parameters before this one are not changed. */
int tune(const struct scheme_type *type, size_t first, tune_try_fn *try, void *arg,
    double values[SCHEME_PARAMETERS], double *ret_mark);

#endif
