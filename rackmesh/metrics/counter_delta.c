#include "rackmesh/metrics/counter_delta.h"

#define WIDTH_32 (UINT64_C(1) << 32)

static enum counter_change
measure(struct counter_state *state, uint64_t value, unsigned width, bool same_device)
{
	if (value >= state->value) {
		state->delta = value - state->value;
		return COUNTER_COUNTED;
	}
	/* The old value was in the upper half, so the counter has wrapped within one
	 * interval. */
	if (width == 32 && same_device && state->value > WIDTH_32 / 2 &&
	    state->value < WIDTH_32) {
		state->delta = WIDTH_32 - state->value + value;
		state->wraps++;
		return COUNTER_WRAPPED;
	}
	state->delta = value;
	state->resets++;
	return COUNTER_RESET;
}

static enum counter_change
take(struct counter_state *state, const struct counter_sample *sample, unsigned width,
    bool same_device)
{
	enum counter_change change = COUNTER_NEW;
	const bool was_there = state->there;

	state->delta = 0;
	state->there = sample->there;
	state->back = sample->there && !was_there && state->seen;
	if (!sample->there)
		return was_there ? COUNTER_VANISHED : COUNTER_MISSING;
	if (width == 0) {
		state->delta = state->total;
		state->total = sample->value;
		if (state->seen)
			change = COUNTER_COUNTED;
	} else if (!state->seen) {
		state->total = sample->value;
	} else if (state->source == sample->source) {
		change = measure(state, sample->value, width, same_device);
		state->total += state->delta;
	}
	state->seen = true;
	state->source = sample->source;
	state->value = sample->value;
	return change;
}

enum counter_change
counter_take(struct counter_state *state, const struct counter_sample *sample,
    unsigned width, bool same_device)
{
	const enum counter_change change = take(state, sample, width, same_device);

	state->change = (uint8_t)change;
	return change;
}
