/*
 * heartbeat - how well this process itself is doing. Pure.
 *
 * One loop_watch per process notices that the loop did not turn; one heartbeat per
 * aggregator collects what happened since the last one that went to it, so that an
 * aggregator that was away for a while still learns of every stall: results that
 * suffered from one must never speak against the network.
 */
#ifndef HOST_AGENT_REPORT_HEARTBEAT_H
#define HOST_AGENT_REPORT_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define HEARTBEAT_INTERVAL_NS (250 * RM_NS_PER_MS)

/* The watch turns this often and so sees every stall of 100 ms: the first deadline
 * within it comes at most one interval after its start. */
#define LOOP_WATCH_INTERVAL_NS (25 * RM_NS_PER_MS)
#define LOOP_WATCH_STALL_NS (100 * RM_NS_PER_MS)

struct loop_watch {
	rm_mono_t alive;    /* when the loop was last seen turning */
	rm_mono_t deadline; /* when it is to be seen next */
};

struct loop_turn {
	int64_t lag_ns; /* this much later than asked for */
	bool stalled;
	struct wire_stall stall; /* from the last sign of life on */
	/* Set by whoever knows: what is probed of what is asked for, 0: all, and why.
	 */
	uint16_t slowed_permille;
	enum wire_slow slowed_reason;
};

void loop_watch_init(struct loop_watch *watch, rm_mono_t now);
/* To be called at every deadline; moves it on, past now, always by whole intervals. */
struct loop_turn loop_watch_turn(struct loop_watch *watch, rm_mono_t now);

struct heartbeat {
	uint64_t seq;
	int64_t lag_max_ns;
	struct wire_stall stalls[WIRE_MAX_STALLS];
	size_t stall_count;
	uint16_t slowed_permille; /* as last noted */
	enum wire_slow slowed_reason;
};

void heartbeat_note(struct heartbeat *heartbeat, const struct loop_turn *turn);
/* Fills seq, loop_lag_max_ns, what slows us and the stalls, which stay borrowed. */
void heartbeat_fill(const struct heartbeat *heartbeat, struct wire_heartbeat *ret);
void heartbeat_sent(struct heartbeat *heartbeat); /* what was filled has gone out */

#endif
