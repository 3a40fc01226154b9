/*
 * tune - searches the best values of a scheme's parameters, with the same search for
 * all schemes.
 *
 * It begins with the given values, and tries all pairs of the grids of every two
 * parameters; if that improved the score, it does so a second time. The score weighs
 * precision more than recall: a false alert costs more than a fault that the next
 * window finds.
 */
#ifndef TESTS_SIM_TUNE_H
#define TESTS_SIM_TUNE_H

#include "tests/sim/scheme.h"

/* The score of these values on the development seeds, more is better; a negative errno
 * ends the search. */
typedef int tune_try_fn(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark);

/* F measure in which precision counts twice as much as recall (F0.5). */
double tune_mark(double precision, double recall);

/* values: where the search begins, and its result. first: parameters before it are not
 * changed. */
int tune(const struct scheme_type *type, size_t first, tune_try_fn *try, void *arg,
    double values[SCHEME_PARAMETERS], double *ret_mark);

#endif
