/*
 * unlucky - the few switches of a run that have most of its faults. Real devices fail
 * together like this if they are of one bad batch, or in one hot room. Pure.
 *
 * A part is unlucky if its switch is unlucky. That is the ToR for an RNIC, the ToR of
 * one of its RNICs for a host, and either end for a link. A larger share includes all
 * switches of a smaller one.
 */
#ifndef TESTS_SIM_UNLUCKY_H
#define TESTS_SIM_UNLUCKY_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/clos.h"

struct unlucky;

/* share: share of the switches of each tier that are unlucky, at least one per tier.
 * -ENOMEM. */
int unlucky_new(
    const struct clos *clos, double share, uint64_t salt, struct unlucky **ret);
void unlucky_free(struct unlucky *unlucky);
bool unlucky_is(const struct unlucky *unlucky, uint32_t part);

#endif
