/*
 * window_release - whether slow replies were all let go at one moment. Pure.
 *
 * Packets that wait in a queue before a part that is down (for an ARP reply, or in a
 * port's buffer) pass it as it heals: they were sent over a span of time, and arrive
 * together, so their delays shrink from one to the next. That is the end of an outage,
 * and no part that delays packets: what such a part delays arrives as it was sent.
 */
#ifndef TOR_AGGREGATOR_WINDOW_WINDOW_RELEASE_H
#define TOR_AGGREGATOR_WINDOW_WINDOW_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct window_release { /* zeroed: of no reply */
	int64_t first_sent, last_sent;
	int64_t first_back, last_back; /* arrivals; first_back 0: there is none */
};

/* Sent over less than this, they may have arrived together by chance. */
#define WINDOW_RELEASE_SENT_NS (50 * RM_NS_PER_MS)
/* So much shorter than the span of sending that of arriving is. */
#define WINDOW_RELEASE_PART 4

static inline void
window_release_join(struct window_release *to, const struct window_release *from)
{
	if (from->first_back == 0)
		return;
	if (to->first_back == 0) {
		*to = *from;
		return;
	}
	if (from->first_sent < to->first_sent)
		to->first_sent = from->first_sent;
	if (from->last_sent > to->last_sent)
		to->last_sent = from->last_sent;
	if (from->first_back < to->first_back)
		to->first_back = from->first_back;
	if (from->last_back > to->last_back)
		to->last_back = from->last_back;
}

/* A slow reply, on this aggregator's clock. */
static inline void
window_release_add(struct window_release *to, rm_mono_t sent, uint64_t took_ns)
{
	const int64_t back = sent.ns + (int64_t)took_ns;

	window_release_join(
	    to, &(struct window_release){ sent.ns, sent.ns, back, back });
}

static inline bool
window_release_is(const struct window_release *release)
{
	const int64_t sent_ns = release->last_sent - release->first_sent;
	const int64_t back_ns = release->last_back - release->first_back;

	return sent_ns >= WINDOW_RELEASE_SENT_NS &&
	       WINDOW_RELEASE_PART * back_ns <= sent_ns;
}

#endif
