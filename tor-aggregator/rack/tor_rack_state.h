/*
 * tor_rack_state - the struct of a rack; private to tor_rack.c and tor_rack_judge.c.
 */
#ifndef TOR_AGGREGATOR_RACK_TOR_RACK_STATE_H
#define TOR_AGGREGATOR_RACK_TOR_RACK_STATE_H

#include "rackmesh/judge/part.h"
#include "tor-aggregator/rack/focus.h"
#include "tor-aggregator/rack/tor_rack.h"

#define TOR_RACK_MAX_VERDICTS 256
/* Time for results to arrive after the probe time-out. */
#define TOR_RACK_WAIT_NS (500 * RM_NS_PER_MS)

struct tor_rack {
	char tor[RM_NAME_BYTES];
	struct tor_rack_options options;
	struct tor_rack_callbacks callbacks;
	struct roster *roster;
	struct window *window;
	struct rack_judge *judge;
	struct rm_incidents *incidents;
	struct summary *summary;
	struct service_rows *service_rows;
	struct rack_uses *uses;
	struct rack_mesh *pair_mesh;
	struct ring *ring;
	struct focus focus;
	struct path_table *paths;
	struct path_rows *path_rows;
	struct path_discovery *path_discovery;
	rm_mono_t paths_aged;
	/* for each member: true if its probes are evidence about paths */
	bool *witnesses;
	struct {
		uint64_t sent, lost;
	} * mesh; /* for each member: probes inside the rack in the judged second */
	uint32_t brake_permille;
	uint32_t hosts_slowed;
	const struct wire_plan_view *plan;
	rm_mono_t now; /* time of the current tick */
	rm_mono_t started, changed, window_end;
	/* all expected agents have reported once, or TOR_RACK_START_NS is over */
	bool settled;
	unsigned closings; /* windows closed since a second was summed up */
	/* A copy of the roster in the form that the judge needs. stale: the roster has
	 * changed since. */
	bool stale;
	struct rack_member *members, *remotes;
	struct rack_host *hosts;
	/* By host: true if the plan names it; without a plan, true for all. */
	bool *expected;
	struct tor_rack_member_state *states;
	struct tor_rack_traffic *traffic;
	/* array of TOR_RACK_MAX_VERDICTS, with memory for samples */
	struct rm_verdict *verdicts;
	/* for each number of a ToR: losses of one second */
	uint64_t *forward, *reverse;
	struct tor_rack_counts counts;
	/* value of counts.partial when the last summary was sent */
	uint64_t partial_sent;
	struct wire_rack_state state_sent;
	rm_mono_t state_checked;
};

/* Judges the second that ends with the bin that has just closed. */
void tor_rack_judge(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed);

/* Call it after a bin has closed. judged: the window was judged, so the members' health
 * is that of this window. */
void tor_rack_paths_close(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed, bool judged);

#endif
