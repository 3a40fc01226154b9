/*
 * window_pair - outcomes of the probes of one pair of RNICs, in a bin or a window.
 */
#ifndef TOR_AGGREGATOR_WINDOW_WINDOW_PAIR_H
#define TOR_AGGREGATOR_WINDOW_WINDOW_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/window_release.h"

/* The probes of a pair above WIRE_ROCE_SMALL_BYTES. If the MTU is too small, only these
 * are lost. */
struct window_large {
	uint32_t answered, lost, failed; /* failed: could not be sent */
	uint32_t newest_sent, newest_lost;
	uint16_t bytes, small_bytes; /* largest size of a large probe, of a small one */
};

/* A round trip that takes this long is slow. */
#define WINDOW_SLOW_NS WIRE_SLOW_NS

/* True: the time of the reply is evidence. Stamps of the prober's process are not: with
 * them, a slow host looks like a slow network. */
static inline bool
window_is_timed(uint8_t outcome, uint8_t stamp_source)
{
	return (outcome == WIRE_OK || outcome == WIRE_LATE_REPLY) &&
	       stamp_source != WIRE_STAMP_USER;
}

/* The time in the network; if the responder's delay is not known, the whole round trip.
 */
static inline uint32_t
window_took_ns(uint8_t flags, uint32_t rtt_ns, uint32_t round_trip_ns)
{
	return flags & WIRE_SPLIT ? rtt_ns : round_trip_ns;
}

struct window_pair { /* sums over the judged window; src is always a member */
	uint32_t src, dst;
	uint8_t kind;              /* enum wire_probe_kind of the latest result */
	struct window_large large; /* included in outcomes and newest too */
	uint32_t outcomes[WIRE_OUTCOMES];
	/* Answered probes with times stamped by the port or by the kernel. */
	uint32_t timed;
	uint32_t slow;    /* those of them that took WINDOW_SLOW_NS or longer */
	uint32_t overdue; /* replies received now, to earlier probes that were counted
			     as lost */
	struct window_release release; /* release of the slow and overdue replies */
	uint32_t newest_sent,
	    /* probes in the newest two bins; lost: those without a reply */
	    newest_lost;
	/* Probes of src that dst's reflector counted. A report that is only partly in
	 * the window counts in proportion to the time. */
	double arrived;
	bool counted; /* dst is a member whose receive counts cover the window */
	uint8_t gaps; /* gaps between the bins of the sum: at the edges of each gap,
			 receive counts are as uncertain as at those of the window */
};

#endif
