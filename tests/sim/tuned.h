/*
 * tuned - the values of the schemes' parameters that `sim tune` has found best on the
 * development families, for each window.
 */
#ifndef TESTS_SIM_TUNED_H
#define TESTS_SIM_TUNED_H

#include "tests/sim/scheme.h"

/* values: one for each of the scheme's parameters. False: nothing has been found for
 * this window, or it is 0; all others are as in the scheme's own table. */
bool tuned_values(
    const struct scheme_type *type, double window_s, double values[SCHEME_PARAMETERS]);

#endif
