/*
 * rack_hosts - the state of hosts and agents, from heartbeats and probes together.
 * Pure.
 *
 * Heartbeats missing while the kernel acknowledges, once for long or again and again:
 * the agent is frozen. Session reset: agent down. No sign of life at all: the host is
 * down, or only its management path, if its responder still answers the probes of its
 * peers. If every host of the rack is unreachable at once, this aggregator is cut off:
 * then, and for a while after, only probes are evidence against a host.
 */
#ifndef TOR_AGGREGATOR_JUDGE_RACK_HOSTS_H
#define TOR_AGGREGATOR_JUDGE_RACK_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"

struct rack;
struct report_check;
struct window_closed;

struct rack_host_probes { /* probes to its RNICs, sent by hosts whose results count */
	uint64_t sent, answered;
	/* hosts that sent them; hosts with an answer; hosts with many answers */
	size_t probers, answered_some, answered_many;
};

struct rack_host_memory { /* state of a host, from window to window */
	/* Consecutive windows in which it was unreachable. */
	unsigned silent_windows, answering_windows, unprobed_windows;
	/* Its agent mostly stands still, and few other agents do. */
	unsigned still_windows;
	unsigned excused_windows; /* windows left after this aggregator was cut off */
	rm_wall_t since; /* start of the first window in this state; ns 0: none */
	struct rack_host_probes newest;
	struct {
		uint64_t sent, answered;
	} by_it; /* scratch: its probes to another host */
};

/* Counts probes to the RNICs of unreachable hosts, sent by members of OK hosts that
 * are not blamed themselves. In a rack of four hosts or more each prober's host has
 * one vote. */
void rack_hosts_count(const struct rack *rack, const struct window_closed *window,
    const bool *blamed, struct rack_host_memory *memories);

/* False: no fault of the host is known, or not yet which one. */
bool rack_host_judge(const struct rack *rack, size_t host, rm_wall_t window_start,
    int64_t window_ns, struct rack_host_memory *memory, struct rm_verdict *ret);

/*
 * Agents whose certificate expires soon, if no worse verdict exists on the agent or its
 * host; at most one verdict per host. Such a verdict does not depend on windows.
 */
size_t rack_hosts_certificates(const struct rack *rack,
    const struct report_check *check, rm_wall_t window_start, int64_t window_ns,
    struct rm_verdict *verdicts);

enum rm_health rack_host_health(const struct rack *rack, size_t host);

#endif
