/*
 * tuned - the best values of the schemes' parameters for each window, as found by
 * `sim tune` on the development families.
 */
#ifndef TESTS_SIM_TUNED_H
#define TESTS_SIM_TUNED_H

#include "tests/sim/scheme.h"

/* values: one for each parameter of the scheme. False: the table has none for this
 * window, or the window is 0: use the scheme's own values. */
bool tuned_values(
    const struct scheme_type *type, double window_s, double values[SCHEME_PARAMETERS]);

#endif
