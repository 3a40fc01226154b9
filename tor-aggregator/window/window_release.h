/*
 * window_release - tells whether slow replies left a queue together at the end of an
 * outage. Pure.
 *
 * While a part is down, packets may wait in a queue before it (for an ARP reply, or in
 * the buffer of a port). When the part works again, they pass it all at once. They were
 * sent over a span of time and arrive together, so each was delayed less than the one
 * before. A part that delays packets is different: they arrive at the intervals at
 * which they were sent. Therefore replies that were released together are no evidence
 * for a late part.
 */
#ifndef TOR_AGGREGATOR_WINDOW_WINDOW_RELEASE_H
#define TOR_AGGREGATOR_WINDOW_WINDOW_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* the release of some slow replies; all zero: no reply was released */
struct window_release {
	int64_t first_sent, last_sent; /* times of their probes, in ns */
	int64_t first_arrival,
	    last_arrival; /* times of arrival, in ns; first_arrival 0: none */
};

/* Replies to probes that were sent within less than this may arrive together by chance.
 */
#define WINDOW_RELEASE_SENT_NS (50 * RM_NS_PER_MS)
/* Released replies arrive within the time in which their probes were sent, divided by
 * this, or less. */
#define WINDOW_RELEASE_PART 4

static inline void
window_release_join(struct window_release *to, const struct window_release *from)
{
	if (from->first_arrival == 0)
		return;
	if (to->first_arrival == 0) {
		*to = *from;
		return;
	}
	if (from->first_sent < to->first_sent)
		to->first_sent = from->first_sent;
	if (from->last_sent > to->last_sent)
		to->last_sent = from->last_sent;
	if (from->first_arrival < to->first_arrival)
		to->first_arrival = from->first_arrival;
	if (from->last_arrival > to->last_arrival)
		to->last_arrival = from->last_arrival;
}

/* Adds a slow reply. sent: the probe, on this aggregator's clock. */
static inline void
window_release_add(struct window_release *to, rm_mono_t sent, uint64_t took_ns)
{
	const int64_t arrival = sent.ns + (int64_t)took_ns;

	window_release_join(
	    to, &(struct window_release){ sent.ns, sent.ns, arrival, arrival });
}

/* True: the replies were released together. */
static inline bool
window_is_release(const struct window_release *release)
{
	const int64_t sent_ns = release->last_sent - release->first_sent;
	const int64_t arrival_ns = release->last_arrival - release->first_arrival;

	return sent_ns >= WINDOW_RELEASE_SENT_NS &&
	       WINDOW_RELEASE_PART * arrival_ns <= sent_ns;
}

#endif
