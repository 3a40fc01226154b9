/*
 * rack_view - a rack as its judgement sees it in one window: who belongs to it, and how
 * its hosts are. Pure.
 */
#ifndef TOR_AGGREGATOR_WINDOW_RACK_VIEW_H
#define TOR_AGGREGATOR_WINDOW_RACK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

enum host_state {
	HOST_OK = 0,       /* heartbeats cover the window without a stall */
	HOST_STALLED,      /* a stall or heartbeat gap inside it, not (yet) a fault */
	HOST_STUTTERED,    /* stalls that are too short for a probe to miss its reply */
	HOST_AGENT_DOWN,   /* session reset and not back within the grace time */
	HOST_AGENT_FROZEN, /* silent, its kernel acknowledges */
	HOST_UNREACHABLE,  /* silent, nothing acknowledged: host or management path */
	HOST_RESTARTING,   /* session reset, or new incarnation, within the window or
			      grace */
	HOST_PAUSED,
	HOST_UNKNOWN, /* never seen since our start */
};

/* What its probes and replies tell counts. */
static inline bool
host_is_witness(enum host_state state)
{
	return state == HOST_OK || state == HOST_STUTTERED;
}

struct rack_member {
	struct rm_rnic_id id;
	const char *host, *device;
	size_t host_index;   /* into hosts */
	bool port_down;      /* its own host's word */
	bool port_untold;    /* no agent is there that speaks for it */
	uint32_t port_falls; /* so far; only differences count */
};

struct host_silence {
	int64_t ns; /* since its last heartbeat */
	/* An agent that mostly stands still: so often for longer than a second, for
	 * still_ns in all of the last stops_ns. 0: it does not. */
	unsigned stops;
	int64_t still_ns, stops_ns;
	unsigned
	    lately; /* such stops in the last 30 s, whatever their share; at most 5 */
};

struct rack_host {
	const char *name;
	enum host_state state; /* the worst over the window */
	struct host_silence silence;
	/* Its agent's certificate, in wall-clock seconds, if it ends soon; 0: it does
	 * not, or nobody knows. */
	int64_t certificate_ends_s;
};

struct rack {
	const char *tor;
	const struct rack_member *members;
	size_t member_count;
	const struct rack_member *remotes; /* host_index unused */
	size_t remote_count;
	const struct rack_host *hosts;
	size_t host_count;
	/* By member: it tells nothing, because its port is down, or was in the window.
	 * The judge's own; NULL. */
	const bool *excused;
};

#define RACK_MIN_HOSTS 4

/* At most so many agents of a rack may report what is not so and be outvoted: less than
 * a third (Lamport, Shostak and Pease, "The Byzantine Generals Problem", 1982). 0: too
 * few hosts to tell. */
static inline size_t
rack_max_faulty(const struct rack *rack)
{
	return rack->host_count < RACK_MIN_HOSTS ? 0 : (rack->host_count - 1) / 3;
}

#endif
