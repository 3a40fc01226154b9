/*
 * rack_judge - finds which of a rack's RNICs is at fault, from one window. Pure.
 *
 * It explains all losses together by the few parts that are likeliest at fault
 * (rackmesh/judge/judge). Each probe is a leg out and, if it arrived, a leg back; the
 * send side and the receive side of an RNIC are separate candidates, and both sides
 * together are a third candidate. Hosts whose agents were stalled, dead, restarting or
 * paused in the window are no witnesses, and their RNICs are neither blamed nor found
 * healthy, because a packet that a stalled host answers late is not lost.
 */
#ifndef TOR_AGGREGATOR_JUDGE_RACK_JUDGE_H
#define TOR_AGGREGATOR_JUDGE_RACK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/recurrence.h"
#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_judge;
struct window_closed;

struct rack_judgement {
	const struct rm_verdict *verdicts; /* verdicts, including those on hosts and
					      agents; samples are not filled */
	size_t verdict_count;
	/* One per member. GOOD requires round trips without loss in both directions. */
	const enum rm_health *members;
	const enum rm_health
	    *hosts; /* one per host, including its agent and management path */
	uint64_t unexplained_lost; /* lost legs that cross no blamed part */
};

struct port_flaps_of { /* an RNIC and the link-downs of its port */
	struct rm_rnic_id rnic;
	struct rm_recurrence flaps;
	/* when the port was last known to be down; ns 0: it is up */
	rm_mono_t down_at;
};

/* True: the link-downs are of no use any more (rm_recurrence_is_old). Flapping cannot
 * end while the port is down, so its age is counted from then on. */
bool port_flaps_are_old(const struct port_flaps_of *port, rm_mono_t now);

int rack_judge_new(struct rack_judge **ret);
void rack_judge_free(struct rack_judge *judge);

/* Everything in *ret is valid until the next call. Returns 0, or -ENOMEM: then *ret is
 * unchanged. */
int rack_judge_window(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    struct rack_judgement *ret);

/* Reads the state of ports, which is saved over a restart. *ret: the i-th port that
 * flaps, or went down lately. False: there are not so many. */
bool rack_judge_port(
    const struct rack_judge *judge, size_t i, rm_mono_t now, struct port_flaps_of *ret);
/* Restores the saved state of one port, with times on the clock of this process.
 * Returns 0 or -ENOMEM. */
int rack_judge_restore_port(struct rack_judge *judge, const struct port_flaps_of *port);
/* Returns the number of windows so far in which a port had gone down. */
uint64_t rack_judge_falls(const struct rack_judge *judge);

#endif
