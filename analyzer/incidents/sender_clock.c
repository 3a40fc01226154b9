#include "analyzer/incidents/sender_clock.h"

/* The lag counts as falling only if it falls by more than this, because a busy machine
 * delays messages by less. */
#define FALL_NS (500 * RM_NS_PER_MS)
/* The least lag is taken over the current block of this length and the block before. */
#define BLOCK_NS (60 * RM_NS_PER_S)

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool
sender_clock_note(struct sender_clock *clock, uint64_t end_ns, rm_mono_t now)
{
	const int64_t lag = now.ns - (int64_t)end_ns;

	if (!clock->known || end_ns < clock->newest_ns) {
		const bool first = !clock->known;

		*clock =
		    (struct sender_clock){ true, end_ns, lag, lag, lag, now, lag, now };
		return first;
	}
	clock->newest_ns = end_ns;
	if (rm_mono_since(now, clock->block) >= BLOCK_NS) {
		clock->former_ns = clock->block_ns;
		clock->block_ns = lag;
		clock->block = now;
	}
	clock->block_ns = smaller(clock->block_ns, lag);
	clock->least_ns = smaller(clock->block_ns, clock->former_ns);
	if (lag < clock->fell_to_ns - FALL_NS) {
		clock->fell_to_ns = lag;
		clock->fell = now;
	}
	if (clock->fell_to_ns < clock->least_ns)
		clock->fell_to_ns = clock->least_ns;
	return true;
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
