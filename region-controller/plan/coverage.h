/*
 * coverage - how many random flows it takes to see every one of N parallel paths. Pure.
 *
 * The coupon collector's problem, exactly: the probability that k flows, each hashed
 * to one of N paths, miss none. By the recurrence over how many paths are hit, since
 * the alternating sum of the closed form cancels to noise from N of about 40 on.
 */
#ifndef REGION_CONTROLLER_PLAN_COVERAGE_H
#define REGION_CONTROLLER_PLAN_COVERAGE_H

#include <stdint.h>

#define COVERAGE_MAX_PATHS 256
#define COVERAGE_MAX_FLOWS 8192

/* The least k of at least N flows that hit all N paths with this probability. paths: 1
 * to COVERAGE_MAX_PATHS, more count as these. probability: 0.5 to 0.999999. */
uint32_t coverage_flows(uint32_t paths, double probability);

#endif
