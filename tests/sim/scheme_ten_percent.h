/*
 * scheme_ten_percent - the rule on RNICs, which R-Pingmesh's vote begins with.
 */
#ifndef TESTS_SIM_SCHEME_TEN_PERCENT_H
#define TESTS_SIM_SCHEME_TEN_PERCENT_H

#include "tests/sim/windowed.h"

/* bad, by RNIC: more than that share of the packets from or to it inside its rack was
 * lost. -ENOMEM. */
int ten_percent_find(const struct clos *clos, const struct passage *passages,
    size_t count, double share, bool *bad);

#endif
