/*
 * unlucky - the few switches of a run that most of its faults fall to: what is made of
 * the same batch, or in the same hot room, breaks together. Pure.
 *
 * A part is unlucky by its switch: an RNIC by its ToR, a host by one of its RNICs', a
 * link by either end. Of a larger share the few of a smaller one are part.
 */
#ifndef TESTS_SIM_UNLUCKY_H
#define TESTS_SIM_UNLUCKY_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/clos.h"

struct unlucky;

/* share: of the switches of every tier, at least one of each. -ENOMEM. */
int unlucky_new(
    const struct clos *clos, double share, uint64_t salt, struct unlucky **ret);
void unlucky_free(struct unlucky *unlucky);
bool unlucky_is(const struct unlucky *unlucky, uint32_t part);

#endif
