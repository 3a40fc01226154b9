/*
 * plan_walk - all pairs of RNICs by which one rack may probe another, each once, spread
 * evenly over both racks from the first on. Pure.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_WALK_H
#define REGION_CONTROLLER_PLAN_PLAN_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_set;

struct plan_walk {
	size_t src_rack, dst_rack;
	size_t at, end, lap;
	uint64_t src_from, dst_from;
};

/* from: where in the rack to begin. Both racks have usable RNICs. */
struct plan_walk plan_walk_of(
    const struct plan_set *set, size_t src_rack, size_t dst_rack, uint64_t from);

/* The next valid pair of nodes; false: there are no more. */
bool plan_walk_next(
    const struct plan_set *set, struct plan_walk *walk, uint32_t *src, uint32_t *dst);

#endif
