/*
 * rack_view - the types of the judge's input about one window: the members of the rack,
 * and the states of its hosts. Pure.
 */
#ifndef TOR_AGGREGATOR_WINDOW_RACK_VIEW_H
#define TOR_AGGREGATOR_WINDOW_RACK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

enum host_state {
	HOST_OK = 0,    /* heartbeats cover the whole window, without a stall */
	HOST_STALLED,   /* a stall or heartbeat gap in the window, not (yet) a fault */
	HOST_STUTTERED, /* stalls too short for a probe to lose its reply */
	/* the session was reset, and is not back within the grace time */
	HOST_AGENT_DOWN,
	/* there are no heartbeats, but the host's kernel acknowledges packets */
	HOST_AGENT_FROZEN,
	/* there are neither heartbeats nor acknowledgements: the host or its management
	   path is down */
	HOST_UNREACHABLE,
	/* the session was reset, or the incarnation is new, within the window or the
	   grace time */
	HOST_RESTARTING,
	HOST_PAUSED,
	/* the host has not connected since the start of this aggregator */
	HOST_UNKNOWN,
};

/* True: the results of its probes and its replies count as evidence. */
static inline bool
host_is_witness(enum host_state state)
{
	return state == HOST_OK || state == HOST_STUTTERED;
}

struct rack_member {
	struct rm_rnic_id id;
	const char *host, *device;
	size_t host_index;      /* into hosts */
	bool port_down;         /* as reported by its own host */
	bool port_unregistered; /* no connected agent has registered it */
	uint32_t port_falls; /* number of link-downs so far; only differences matter */
};

struct host_silence {
	int64_t ns; /* time since its last heartbeat */
	/* For an agent that is stopped most of the time: how often it stopped for
	 * longer than a second within the last stops_ns, and for how long in all
	 * (stopped_ns). stops 0: the agent is not stopped most of the time. */
	unsigned stops;
	int64_t stopped_ns, stops_ns;
	unsigned recent_stops; /* number of such stops in the last 30 s, at most 5;
				* also set if `stops` is 0 */
};

struct rack_host {
	const char *name;
	enum host_state state; /* the worst state of the host in the window */
	struct host_silence silence;
	/* When its agent's certificate expires, in wall-clock seconds, if that is soon;
	 * 0: that is not soon, or not known. */
	int64_t certificate_ends_s;
};

/* How the losses of an RNIC's flows compare. */
enum rack_flows {
	RACK_FLOWS_TOO_FEW = 0, /* too few losses or flows, or it is not known */
	RACK_FLOWS_ALIKE,       /* all flows lose packets at the same rate */
	RACK_FLOWS_DIFFERENT,
};

struct rack {
	const char *tor;
	const struct rack_member *members;
	size_t member_count;
	const struct rack_member *remotes; /* host_index unused */
	size_t remote_count;
	const struct rack_host *hosts;
	size_t host_count;
	/* One per member. True: the member's results are no evidence, because its port
	 * is down, or was down in the window. The judge sets it; before that it is
	 * NULL. */
	const bool *excused;
	/* True: the packets that the member and others of the rack lost inside the rack
	 * in the last window_ns are all packets of some flows, and not single packets
	 * of each flow. So a common part loses them. NULL: this is not known. */
	bool (*flows_are_lost)(void *arg, size_t member, int64_t window_ns);
	/* Compares the losses of the member's probes to other racks in the last
	 * window_ns. RACK_FLOWS_ALIKE: the flows have no common part but the member and
	 * its ToR, so that one of these two loses packets. NULL: this is not known. */
	enum rack_flows (*flows_lose_alike)(
	    void *arg, size_t member, int64_t window_ns);
	void *flows_arg; /* of both */
};

static inline bool
rack_flows_are_lost(const struct rack *rack, size_t member, int64_t window_ns)
{
	return rack->flows_are_lost != NULL &&
	       rack->flows_are_lost(rack->flows_arg, member, window_ns);
}

static inline enum rack_flows
rack_flows_lose_alike(const struct rack *rack, size_t member, int64_t window_ns)
{
	return rack->flows_lose_alike == NULL
		   ? RACK_FLOWS_TOO_FEW
		   : rack->flows_lose_alike(rack->flows_arg, member, window_ns);
}

#define RACK_MIN_HOSTS 4

/* Returns the largest number of agents of a rack that may report falsely while the
 * others still outvote them: fewer than a third (Lamport, Shostak and Pease, "The
 * Byzantine Generals Problem", 1982). It is 0 if there are too few hosts. */
static inline size_t
rack_max_faulty(const struct rack *rack)
{
	return rack->host_count < RACK_MIN_HOSTS ? 0 : (rack->host_count - 1) / 3;
}

#endif
