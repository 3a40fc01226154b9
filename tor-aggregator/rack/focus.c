#include "tor-aggregator/rack/focus.h"

#include <stddef.h>
#include <string.h>

bool
focus_wants(struct focus *focus, rm_mono_t now, uint32_t src, uint32_t dst)
{
	struct focus_pair *place = NULL;

	for (size_t i = 0; i < FOCUS_MAX_PAIRS; i++) {
		struct focus_pair *pair = &focus->pairs[i];

		if (pair->until.ns <= now.ns)
			place = pair;
		else if (pair->src == src && pair->dst == dst)
			return false;
	}
	if (place == NULL) {
		focus->counts.refused++;
		return false;
	}
	*place =
	    (struct focus_pair){ src, dst, rm_mono_add(now, FOCUS_MS * RM_NS_PER_MS) };
	focus->counts.asked++;
	return true;
}

uint32_t
focus_interval_us(uint32_t planned_us)
{
	uint32_t interval_us = planned_us / FOCUS_FACTOR;

	return interval_us < FOCUS_MIN_INTERVAL_US ? FOCUS_MIN_INTERVAL_US
						   : interval_us;
}

void
focus_forget(struct focus *focus)
{
	memset(focus->pairs, 0, sizeof(focus->pairs));
}
