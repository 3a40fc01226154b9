/*
 * coverage - the number of random flows that it takes to cover all of N parallel paths.
 * Pure.
 *
 * This is the coupon collector's problem: the probability that k flows, each hashed to
 * one of N paths, miss no path. It is computed exactly, by a recurrence over the number
 * of paths that are hit. The closed form is an alternating sum, whose rounding errors
 * are too large from N of about 40 on.
 */
#ifndef REGION_CONTROLLER_PLAN_COVERAGE_H
#define REGION_CONTROLLER_PLAN_COVERAGE_H

#include <stdint.h>

#define COVERAGE_MAX_PATHS 256
#define COVERAGE_MAX_FLOWS 8192

/* Returns the smallest k, at least N, for which k flows hit all N paths with this
 * probability. paths: N, 1 to COVERAGE_MAX_PATHS; larger values count as that.
 * probability: 0.5 to 0.999999. */
uint32_t coverage_flows(uint32_t paths, double probability);

#endif
