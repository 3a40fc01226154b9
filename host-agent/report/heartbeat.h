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

/* The watch runs this often and so sees every stall of 100 ms: a stall's first
 * deadline comes at most one interval after its start. */
#define LOOP_WATCH_INTERVAL_NS (25 * RM_NS_PER_MS)
#define LOOP_WATCH_STALL_NS (100 * RM_NS_PER_MS)

struct loop_watch {
	rm_mono_t alive;    /* when the loop last ran */
	rm_mono_t deadline; /* when it should run next */
};

struct loop_turn {
	int64_t lag_ns; /* how much later than its deadline it ran */
	bool stalled;
	struct wire_stall stall; /* from the last time the loop ran */
	/* Set by the wiring: the share of probes that is sent, 0: all, and the reason.
	 */
	uint16_t slowed_permille;
	enum wire_slow slowed_reason;
};

void loop_watch_init(struct loop_watch *watch, rm_mono_t now);
/* Call it at every deadline; sets the next one after now, by whole intervals. */
struct loop_turn loop_watch_turn(struct loop_watch *watch, rm_mono_t now);

struct heartbeat {
	uint64_t seq;
	int64_t lag_max_ns;
	struct wire_stall stalls[WIRE_MAX_STALLS];
	size_t stall_count;
	uint16_t slowed_permille; /* the last one that was noted */
	enum wire_slow slowed_reason;
};

void heartbeat_note(struct heartbeat *heartbeat, const struct loop_turn *turn);
/* Fills seq, loop_lag_max_ns, the reason of slowed probing, and the stalls, which are
 * borrowed. */
void heartbeat_fill(const struct heartbeat *heartbeat, struct wire_heartbeat *ret);
void heartbeat_sent(struct heartbeat *heartbeat); /* the filled heartbeat was sent */

#endif
