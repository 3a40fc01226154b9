/*
 * window_pair - what came of the probes of one pair of RNICs, in a bin or a window.
 */
#ifndef TOR_AGGREGATOR_WINDOW_WINDOW_PAIR_H
#define TOR_AGGREGATOR_WINDOW_WINDOW_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* Of a pair's probes those above WIRE_ROCE_SMALL_BYTES: an MTU that is too small
 * swallows them and no other. */
struct window_large {
	uint32_t answered, lost, failed; /* failed: could not be sent */
	uint32_t newest_sent, newest_lost;
	uint16_t bytes, small_bytes; /* the largest seen, and the largest small one */
};

/* A round trip that took so long is slow. */
#define WINDOW_SLOW_NS WIRE_SLOW_NS

/* By the prober's own clock it may be a host that is slow. */
static inline bool
window_is_timed(uint8_t outcome, uint8_t stamp_source)
{
	return (outcome == WIRE_OK || outcome == WIRE_LATE_REPLY) &&
	       stamp_source != WIRE_STAMP_USER;
}

/* In the network, where the responder's share is known. */
static inline uint32_t
window_took_ns(uint8_t flags, uint32_t rtt_ns, uint32_t round_trip_ns)
{
	return flags & WIRE_SPLIT ? rtt_ns : round_trip_ns;
}

struct window_pair { /* sums over the judged window; src is always a member */
	uint32_t src, dst;
	uint8_t kind;              /* enum wire_probe_kind of the latest result */
	struct window_large large; /* counted in outcomes and newest too */
	uint32_t outcomes[WIRE_OUTCOMES];
	uint32_t timed;   /* of those that were answered: by stamps of port or kernel */
	uint32_t slow;    /* of those that were timed */
	uint32_t overdue; /* replies that came now, to probes of before that are counted
			   * as lost */
	uint32_t newest_sent,
	    newest_lost; /* of the newest two bins: NO_REPLY as lost */
	double
	    arrived; /* probes of src that dst's reflector reported, spread over time */
	bool counted; /* dst is a member whose reports cover the window */
	uint8_t gaps; /* in the time that all this is of: each has edges of its own */
};

#endif
