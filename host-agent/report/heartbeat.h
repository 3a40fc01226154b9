/*
 * heartbeat - stalls and limits of this process, for the aggregators. Pure.
 *
 * One loop_watch per process detects stalls of the event loop. One heartbeat per
 * aggregator collects the stalls since the last heartbeat sent to it, so an aggregator
 * that was disconnected still gets every stall: results affected by a stall are never
 * evidence against the network.
 */
#ifndef HOST_AGENT_REPORT_HEARTBEAT_H
#define HOST_AGENT_REPORT_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define HEARTBEAT_INTERVAL_NS (250 * RM_NS_PER_MS)

/* The watch runs at this interval. It detects every stall of LOOP_WATCH_STALL_NS or
 * more, because one of its deadlines is within the first interval of the stall. */
#define LOOP_WATCH_INTERVAL_NS (25 * RM_NS_PER_MS)
#define LOOP_WATCH_STALL_NS (100 * RM_NS_PER_MS)

struct loop_watch {
	rm_mono_t alive;    /* when the loop last ran */
	rm_mono_t deadline; /* when the loop should run next */
};

struct loop_turn {
	int64_t lag_ns; /* how much later than its deadline it ran */
	bool stalled;
	struct wire_stall stall; /* begins at the last time at which the loop ran */
	/* Filled in by the daemon's root: the share of the probes that is sent, in
	 * permille (0: all of them), and the reason. */
	uint16_t slowed_permille;
	enum wire_slow slowed_reason;
};

void loop_watch_init(struct loop_watch *watch, rm_mono_t now);
/* Call it when the watch's deadline has passed. Moves the deadline by whole intervals,
 * to a time after now. */
struct loop_turn loop_watch_turn(struct loop_watch *watch, rm_mono_t now);

struct heartbeat {
	uint64_t seq;
	int64_t lag_max_ns;
	struct wire_stall stalls[WIRE_MAX_STALLS];
	size_t stall_count;
	uint16_t slowed_permille; /* the share from the last heartbeat_note */
	enum wire_slow slowed_reason;
};

void heartbeat_note(struct heartbeat *heartbeat, const struct loop_turn *turn);
/* Fills in seq, loop_lag_max_ns, slowed_permille and its reason, and the stalls, which
 * are borrowed. */
void heartbeat_fill(const struct heartbeat *heartbeat, struct wire_heartbeat *ret);
/* The heartbeat that was filled has been sent: its stalls are dropped. */
void heartbeat_sent(struct heartbeat *heartbeat);

#endif
