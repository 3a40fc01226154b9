/*
 * focus - selects pairs to be probed faster for a moment. Pure.
 *
 * A pair that lost something in the newest bins is probed faster for FOCUS_MS, so that
 * the judge can tell a fault from bad luck within a second. Bounded per rack; a pair is
 * not asked for again while it is focused.
 */
#ifndef TOR_AGGREGATOR_RACK_FOCUS_H
#define TOR_AGGREGATOR_RACK_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define FOCUS_MS 2000
#define FOCUS_FACTOR 5
#define FOCUS_MIN_INTERVAL_US 1000
#define FOCUS_MAX_PAIRS 64 /* at the same time, per rack */

struct focus_counts {
	uint64_t asked, refused; /* refused: too many at the same time */
};

struct focus {
	struct focus_pair {
		uint32_t src, dst;
		rm_mono_t until; /* ns 0: free */
	} pairs[FOCUS_MAX_PAIRS];
	struct focus_counts counts;
};

/* True: focus this pair now; it counts as focused after this call. */
bool focus_wants(struct focus *focus, rm_mono_t now, uint32_t src, uint32_t dst);

/* The interval to request, computed from the planned one. */
uint32_t focus_interval_us(uint32_t planned_us);

/* RNICs were renumbered. */
void focus_forget(struct focus *focus);

#endif
