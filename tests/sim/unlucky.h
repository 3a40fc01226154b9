/*
 * unlucky - the few switches of a run that have most of its faults, as devices of one
 * bad batch or in one hot room fail together. Pure.
 *
 * A part is unlucky if its switch is: an RNIC by its ToR, a host by the ToR of one of
 * its RNICs, a link by either end. A larger share includes all switches of a smaller
 * one.
 */
#ifndef TESTS_SIM_UNLUCKY_H
#define TESTS_SIM_UNLUCKY_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/clos.h"

struct unlucky;

/* share: of the switches of each tier, at least one per tier. -ENOMEM. */
int unlucky_new(
    const struct clos *clos, double share, uint64_t salt, struct unlucky **ret);
void unlucky_free(struct unlucky *unlucky);
bool unlucky_is(const struct unlucky *unlucky, uint32_t part);

#endif
