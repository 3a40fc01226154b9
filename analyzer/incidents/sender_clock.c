#include "analyzer/incidents/sender_clock.h"

/* A busy machine makes less of a lag. */
#define FALL_NS (500 * RM_NS_PER_MS)
/* Two clocks drift apart by less than one in so many. */
#define DRIFT 1000

void
sender_clock_note(struct sender_clock *clock, uint64_t end_ns, rm_mono_t now)
{
	const int64_t lag = now.ns - (int64_t)end_ns;

	if (!clock->known || lag < clock->fell_to_ns - FALL_NS) {
		clock->fell_to_ns = lag;
		clock->fell = now;
	}
	if (!clock->known || lag < clock->least_ns) {
		clock->least_ns = lag;
	} else {
		const int64_t more = lag - clock->least_ns;
		const int64_t drift = rm_mono_since(now, clock->noted) / DRIFT;

		clock->least_ns += more < drift ? more : drift;
	}
	if (clock->fell_to_ns < clock->least_ns)
		clock->fell_to_ns = clock->least_ns;
	clock->noted = now;
	clock->known = true;
}

bool
sender_clock_is_steady(const struct sender_clock *clock, rm_mono_t now)
{
	return clock->known &&
	       rm_mono_since(now, clock->fell) >= SENDER_CLOCK_STEADY_NS;
}

int64_t
sender_clock_age(const struct sender_clock *clock, uint64_t end_ns, rm_mono_t now)
{
	const int64_t age = now.ns - clock->least_ns - (int64_t)end_ns;

	return age > 0 ? age : 0;
}
