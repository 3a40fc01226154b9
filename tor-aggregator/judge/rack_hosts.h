/*
 * rack_hosts - decides the state of hosts and agents, from heartbeats and probes
 * together. Pure.
 *
 * An agent is frozen if its heartbeats are missing while its kernel still acknowledges
 * packets, either once for long or again and again. An agent is down if its session was
 * reset. If a host neither sends nor acknowledges anything, it is down; or only its
 * management path is, if its responder still answers the probes of its peers. If all
 * hosts of the rack are unreachable at once, this aggregator is cut off: then, and for
 * a while after, only probes are evidence that a host is down.
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

struct rack_host_probes { /* probes to a host's RNICs, sent by witnesses */
	uint64_t sent, answered;
	/* Number of hosts that sent probes; number of those that got an answer; number
	 * of those that got an answer to at least half of their probes. */
	size_t probers, answered_some, answered_many;
};

struct rack_host_memory { /* state of a host, from window to window */
	/* Numbers of consecutive windows in which the host was unreachable and answered
	 * no probe; answered many probes; or was not probed. */
	unsigned silent_windows, answering_windows, unprobed_windows;
	/* Consecutive windows in which the host's agent is stopped most of the time,
	 * and few other agents are. */
	unsigned stopped_windows;
	unsigned excused_windows; /* windows left after this aggregator was cut off */
	rm_wall_t since; /* start of the first window in this state; ns 0: none */
	/* counts in the newest two bins of the window */
	struct rack_host_probes newest;
	struct {
		uint64_t sent, answered;
	} by_it; /* scratch: the probes of this host to another one */
};

/* Counts probes to the RNICs of unreachable hosts, if they were sent by members that
 * are not blamed and whose hosts are witnesses. In a rack of four hosts or more, each
 * host with such members has one vote. */
void rack_hosts_count(const struct rack *rack, const struct window_closed *window,
    const bool *blamed, struct rack_host_memory *memories);

/* True: *ret is the fault of the host. False: no fault is known, or it is not known yet
 * which fault it is. */
bool rack_host_judge(const struct rack *rack, size_t host, rm_wall_t window_start,
    int64_t window_ns, struct rack_host_memory *memory, struct rm_verdict *ret);

/*
 * Fills verdicts on agents whose certificates expire soon, and returns their number. An
 * agent with a worse verdict, on itself or its host, gets none. The state of a window
 * is not needed: window_start and window_ns are only copied to the verdicts.
 */
size_t rack_hosts_certificates(const struct rack *rack,
    const struct report_check *check, rm_wall_t window_start, int64_t window_ns,
    struct rm_verdict *verdicts);

enum rm_health rack_host_health(const struct rack *rack, size_t host);

#endif
