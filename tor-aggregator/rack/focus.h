/*
 * focus - selects pairs of RNICs that are probed faster for a short time. Pure.
 *
 * A pair that lost packets in the newest bins is probed faster for FOCUS_MS, so that
 * the judge can distinguish a fault from chance within a second. The number of focused
 * pairs of a rack is limited. While a pair is focused, agents are not asked again.
 */
#ifndef TOR_AGGREGATOR_RACK_FOCUS_H
#define TOR_AGGREGATOR_RACK_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define FOCUS_MS 2000
#define FOCUS_FACTOR 5
#define FOCUS_MIN_INTERVAL_US 1000
/* maximum number of focused pairs at the same time, per rack */
#define FOCUS_MAX_PAIRS 64

struct focus_counts {
	uint64_t asked, refused; /* refused: requests beyond the limit of pairs */
};

struct focus {
	struct focus_pair {
		uint32_t src, dst;
		rm_mono_t until; /* ns 0: free */
	} pairs[FOCUS_MAX_PAIRS];
	struct focus_counts counts;
};

/* True: ask the agent to probe this pair faster. After this call the pair counts as
 * focused. */
bool focus_wants(struct focus *focus, rm_mono_t now, uint32_t src, uint32_t dst);

/* The interval in us to request from the agent; planned_us: the interval in the
 * plan. */
uint32_t focus_interval_us(uint32_t planned_us);

/* No pair is focused any more. Call it when RNICs were renumbered. */
void focus_forget(struct focus *focus);

#endif
