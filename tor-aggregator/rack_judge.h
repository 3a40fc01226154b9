/*
 * rack_judge - which of a rack's RNICs is at fault, from one window. Pure.
 *
 * Explains all losses jointly by the fewest, likeliest parts (rackmesh/fabric/judge):
 * every probe is a leg out and, if it arrived, a leg back; an RNIC's send and
 * receive sides are separate parts with a common prior. Hosts whose agents were
 * stalled, dead, restarting or paused in the window are no witnesses, and their RNICs
 * are neither blamed nor cleared: late is not lost, deaf is not dead.
 */
#ifndef TOR_AGGREGATOR_RACK_JUDGE_H
#define TOR_AGGREGATOR_RACK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/fabric/incident.h"
#include "rackmesh/fabric/verdict.h"

struct rack_judge;
struct window_closed;

enum host_state {
	HOST_OK = 0,       /* heartbeats cover the window without a stall */
	HOST_STALLED,      /* a stall or heartbeat gap inside it, not (yet) a fault */
	HOST_AGENT_DOWN,   /* session reset and not back within the grace time */
	HOST_AGENT_FROZEN, /* silent, its kernel acknowledges */
	HOST_UNREACHABLE,  /* silent, nothing acknowledged: host or management path */
	HOST_RESTARTING,   /* session reset, or new incarnation, within the window or
			      grace */
	HOST_PAUSED,
	HOST_UNKNOWN, /* never seen since our start */
};

struct rack_member {
	struct rm_rnic_id id;
	const char *host, *device;
	size_t host_index;   /* into hosts */
	bool port_down;      /* its own host's word */
	uint32_t port_falls; /* so far; only differences count */
};

struct rack_host {
	const char *name;
	enum host_state state; /* the worst over the window */
	int64_t silent_ns;     /* since its last heartbeat */
	/* Its agent's certificate, in wall-clock seconds, if it ends soon; 0: it does
	 * not, or nobody knows. */
	int64_t certificate_ends_s;
};

struct rack {
	const char *tor;
	const struct rack_member *members;
	size_t member_count;
	const struct rack_member *foreigners; /* host_index unused */
	size_t foreigner_count;
	const struct rack_host *hosts;
	size_t host_count;
	/* By member: its port is down, or was in the window. The judge's own; NULL. */
	const bool *excused;
};

struct rack_judgement {
	const struct rm_verdict
	    *verdicts; /* also of hosts and agents; samples not filled */
	size_t verdict_count;
	const enum rm_health *members; /* per member: GOOD needs clean legs both ways */
	const enum rm_health
	    *hosts; /* per host, its agent and management path included */
	uint64_t unexplained_lost; /* legs lost that no part explains */
};

int rack_judge_new(struct rack_judge **ret);
void rack_judge_free(struct rack_judge *judge);

/* Everything in *ret lives until the next call. -ENOMEM: *ret is untouched. */
int rack_judge_window(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    struct rack_judgement *ret);

#endif
