/*
 * scheme_ten_percent - the rule for RNICs, which is the first step of R-Pingmesh's
 * vote.
 */
#ifndef TESTS_SIM_SCHEME_TEN_PERCENT_H
#define TESTS_SIM_SCHEME_TEN_PERCENT_H

#include "tests/sim/windowed.h"

/* bad[i]: more than this share of the packets from or to RNIC i within its rack was
 * lost. -ENOMEM. */
int ten_percent_find(const struct clos *clos, const struct passage *passages,
    size_t count, double share, bool *bad);

#endif
