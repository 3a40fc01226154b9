/*
 * rack_hosts - what heartbeats and probes together say of hosts and agents. Pure.
 *
 * Heartbeat gone while the kernel acknowledges, or again and again: agent frozen.
 * Session reset: agent down. Nothing at all: the host is down, or only its management
 * path, if its responder still answers its peers' probes. Where every host of the rack
 * is out of reach at once it is we who are cut off: then, and for a while after, only
 * probes speak against a host.
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

struct rack_host_probes { /* of witnesses, to its RNICs */
	uint64_t sent, answered;
	/* hosts that sent them, those with an answer, those with many */
	size_t probers, answered_some, answered_many;
};

struct rack_host_memory { /* of a host, from window to window */
	unsigned silent_windows, answering_windows, unprobed_windows; /* out of reach */
	unsigned still_windows;   /* its agent mostly stands still, and few others do */
	unsigned excused_windows; /* left, after we were cut off ourselves */
	rm_wall_t since; /* start of the first window in this state; ns 0: none */
	struct rack_host_probes newest;
	struct {
		uint64_t sent, answered;
	} by_it; /* scratch: its probes to another */
};

/* Probes to the RNICs of hosts out of reach, of members of OK hosts that are not
 * blamed themselves. In a rack of four and more each host of them is one voice. */
void rack_hosts_count(const struct rack *rack, const struct window_closed *window,
    const bool *blamed, struct rack_host_memory *memories);

/* False: nothing is known to be wrong with the host, or not yet what. */
bool rack_host_judge(const struct rack *rack, size_t host, rm_wall_t window_start,
    int64_t window_ns, struct rack_host_memory *memory, struct rm_verdict *ret);

/*
 * Agents whose certificate ends soon, where nothing worse is said of the agent or its
 * host; at most one verdict per host. No window speaks for or against that.
 */
size_t rack_hosts_certificates(const struct rack *rack,
    const struct report_check *check, rm_wall_t window_start, int64_t window_ns,
    struct rm_verdict *verdicts);

enum rm_health rack_host_health(const struct rack *rack, size_t host);

#endif
