#include "tor-aggregator/judge/rack_hosts.h"

#include <inttypes.h>
#include <stdio.h>

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/*
 * Heartbeats are current, but a window ends up to a second before it is judged. What
 * the probes show has to last for some windows, so that both are about the same time.
 */
#define SILENT_WINDOWS 2
#define ANSWERING_WINDOWS 4
#define ANSWERING_SHARE 0.5
#define MIN_PROBES 4
/* A host that is probed by no RNIC is reported as down after this time without
 * heartbeats. */
#define UNPROBED_SILENT_NS (5 * RM_NS_PER_S)
#define UNPROBED_WINDOWS 8
/* An agent with so many recent stops may be stopped by a cause common to the rack. */
#define RECENT_STOPS_MIN 2
/* Time for other agents that stopped by the same cause to report that, too. */
#define STOPPED_WINDOWS 8
/* After this aggregator was cut off, TCP's back-off makes agents reconnect one after
 * the other. */
#define EXCUSED_WINDOWS 120

/* True: at least one host of the rack is reachable, so this aggregator is not cut off.
 * In a rack of one host that cannot be known, and the host is blamed. */
static bool
reaches_a_host(const struct rack *rack)
{
	for (size_t i = 0; i < rack->host_count; i++)
		if (rack->hosts[i].state != HOST_UNREACHABLE &&
		    rack->hosts[i].state != HOST_UNKNOWN)
			return true;
	return rack->host_count <= 1;
}

/* Counts the probes to a host by the host that sent them, then sums up: each of these
 * hosts has one vote. */
static void
count_probes(const struct rack *rack, const struct window_closed *window,
    const bool *blamed, size_t host, struct rack_host_memory *memories)
{
	struct rack_host_probes *newest = &memories[host].newest;

	for (size_t i = 0; i < rack->host_count; i++)
		memories[i].by_it.sent = memories[i].by_it.answered = 0;
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *pair = &window->pairs[i];
		size_t src;

		if (pair->src >= rack->member_count ||
		    pair->dst >= rack->member_count ||
		    rack->members[pair->dst].host_index != host)
			continue;
		src = rack->members[pair->src].host_index;
		if (!host_is_witness(rack->hosts[src].state) || blamed[pair->src])
			continue;
		memories[src].by_it.sent += pair->newest_sent;
		memories[src].by_it.answered += pair->newest_sent - pair->newest_lost;
	}
	for (size_t i = 0; i < rack->host_count; i++) {
		const uint64_t sent = memories[i].by_it.sent;
		const uint64_t answered = memories[i].by_it.answered;

		newest->sent += sent;
		newest->answered += answered;
		newest->probers += sent > 0;
		newest->answered_some += answered > 0;
		newest->answered_many +=
		    sent > 0 && (double)answered >= ANSWERING_SHARE * (double)sent;
	}
}

void
rack_hosts_count(const struct rack *rack, const struct window_closed *window,
    const bool *blamed, struct rack_host_memory *memories)
{
	const bool cut_off = !reaches_a_host(rack);

	for (size_t i = 0; i < rack->host_count; i++) {
		memories[i].newest = (struct rack_host_probes){ 0 };
		if (cut_off)
			memories[i].excused_windows = EXCUSED_WINDOWS;
		else if (memories[i].excused_windows > 0)
			memories[i].excused_windows--;
	}
	for (size_t i = 0; i < rack->host_count; i++)
		if (rack->hosts[i].state == HOST_UNREACHABLE)
			count_probes(rack, window, blamed, i, memories);
}

static void
remember(const struct rack *rack, struct rack_host_memory *memory)
{
	const struct rack_host_probes *newest = &memory->newest;
	const bool probed = newest->sent >= MIN_PROBES;
	bool silent = newest->answered == 0, answering;

	if (rack_max_faulty(rack) == 0) {
		answering =
		    (double)newest->answered >= ANSWERING_SHARE * (double)newest->sent;
	} else { /* as many hosts as may report falsely do not decide, whatever their
		    number of probes */
		silent = newest->answered_some <= rack_max_faulty(rack) &&
			 2 * newest->answered_some < newest->probers;
		answering = !silent && 2 * newest->answered_many >= newest->probers;
	}
	memory->silent_windows = probed && silent ? memory->silent_windows + 1 : 0;
	memory->answering_windows =
	    probed && answering ? memory->answering_windows + 1 : 0;
	memory->unprobed_windows = probed ? 0 : memory->unprobed_windows + 1;
}

static bool
judge_unreachable(const struct rack *rack, const struct rack_host *host,
    struct rack_host_memory *memory, struct rm_verdict *verdict)
{
	const double silent_s = (double)host->silence.ns / (double)RM_NS_PER_S;
	char *observed = verdict->evidence.observed;

	remember(rack, memory);
	if (memory->silent_windows >= SILENT_WINDOWS) {
		verdict->kind = RM_KIND_HOST_DOWN;
		verdict->confidence = 0.99;
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "no heartbeat and no acknowledgement for %.1f s, and %" PRIu64
		    " of the last %" PRIu64 " probes to its RNICs were answered",
		    silent_s, memory->newest.answered, memory->newest.sent);
		return true;
	}
	if (memory->excused_windows > 0) {
		memory->unprobed_windows = 0;
		return false;
	}
	if (memory->answering_windows >= ANSWERING_WINDOWS) {
		verdict->kind = RM_KIND_MANAGEMENT_DOWN;
		verdict->confidence = 0.99;
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "no heartbeat and no acknowledgement for %.1f s, but its responder "
		    "answered %" PRIu64 " of the last %" PRIu64 " probes",
		    silent_s, memory->newest.answered, memory->newest.sent);
		return true;
	}
	if (memory->unprobed_windows >= UNPROBED_WINDOWS &&
	    host->silence.ns >= UNPROBED_SILENT_NS) {
		verdict->kind = RM_KIND_HOST_DOWN;
		verdict->confidence = 0.5;
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "no heartbeat and no acknowledgement for %.1f s; no other RNIC of "
		    "its racks probes it, so only its management path may be down",
		    silent_s);
		return true;
	}
	return false;
}

static bool
judge_agent(const struct rack_host *host, struct rm_verdict *verdict)
{
	const double silent_s = (double)host->silence.ns / (double)RM_NS_PER_S;
	char *observed = verdict->evidence.observed;

	verdict->part.type = RM_PART_AGENT;
	verdict->confidence = 0.99;
	if (host->state == HOST_AGENT_DOWN) {
		verdict->kind = RM_KIND_AGENT_DOWN;
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "its session was reset, and no heartbeat came for %.1f s",
		    silent_s);
		return true;
	}
	verdict->kind = RM_KIND_AGENT_FROZEN;
	if (host->state == HOST_AGENT_FROZEN)
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "no heartbeat for %.1f s, while its kernel still acknowledges",
		    silent_s);
	else
		snprintf(observed, RM_EVIDENCE_TEXT,
		    "it stopped %u times in the last %.1f s, for longer than a "
		    "second each and %.1f s in all",
		    host->silence.stops,
		    (double)host->silence.stops_ns / (double)RM_NS_PER_S,
		    (double)host->silence.stopped_ns / (double)RM_NS_PER_S);
	return true;
}

static bool
is_running(const struct rack_host *host)
{
	return host->state == HOST_STALLED || host_is_witness(host->state);
}

/* True: the host's agent is stopped most of the time, and at most half of the running
 * agents were stopped lately. If more were, the cause is common to them, and no single
 * agent is at fault. Hosts that are down do not count. */
static bool
is_mostly_stopped(const struct rack *rack, const struct rack_host *host)
{
	size_t running = 0, stopped = 0;

	if (host->silence.stops == 0 || !is_running(host))
		return false;
	for (size_t i = 0; i < rack->host_count; i++) {
		const struct rack_host *other = &rack->hosts[i];

		running += is_running(other);
		stopped += is_running(other) &&
			   other->silence.recent_stops >= RECENT_STOPS_MIN;
	}
	return 2 * stopped <= running || rack->host_count == 1;
}

bool
rack_host_judge(const struct rack *rack, size_t index, rm_wall_t window_start,
    int64_t window_ns, struct rack_host_memory *memory, struct rm_verdict *ret)
{
	const struct rack_host *host = &rack->hosts[index];
	struct rm_verdict verdict = { .part = { .type = RM_PART_HOST } };
	bool found = false;

	if (host->state != HOST_UNREACHABLE)
		memory->silent_windows = memory->answering_windows =
		    memory->unprobed_windows = 0;
	if (is_mostly_stopped(rack, host))
		memory->stopped_windows++;
	else if (host->state != HOST_AGENT_FROZEN)
		memory->stopped_windows = 0;
	if (host->state != HOST_UNREACHABLE && host->state != HOST_AGENT_DOWN &&
	    host->state != HOST_AGENT_FROZEN &&
	    memory->stopped_windows < STOPPED_WINDOWS) {
		memory->since.ns = 0;
		return false;
	}
	if (memory->since.ns == 0)
		memory->since = window_start;
	snprintf(verdict.part.name, sizeof verdict.part.name, "%.63s", host->name);
	verdict.evidence.window_ns = window_ns;
	verdict.evidence.window_start = memory->since;
	found = host->state == HOST_UNREACHABLE
		    ? judge_unreachable(rack, host, memory, &verdict)
		    : judge_agent(host, &verdict);
	if (found)
		*ret = verdict;
	return found;
}

size_t
rack_hosts_certificates(const struct rack *rack, const struct report_check *check,
    rm_wall_t window_start, int64_t window_ns, struct rm_verdict *verdicts)
{
	size_t count = 0;

	for (size_t i = 0; i < rack->host_count; i++) {
		const struct rack_host *host = &rack->hosts[i];

		if (host->certificate_ends_s == 0 ||
		    rack_host_health(rack, i) != RM_HEALTH_GOOD ||
		    report_check_is_contradicted(check, i))
			continue;
		rm_verdict_certificate(&verdicts[count], RM_PART_AGENT, host->name,
		    host->certificate_ends_s);
		verdicts[count].evidence.window_start = window_start;
		verdicts[count++].evidence.window_ns = window_ns;
	}
	return count;
}

enum rm_health
rack_host_health(const struct rack *rack, size_t host)
{
	switch (rack->hosts[host].state) {
	case HOST_OK:
	case HOST_STUTTERED:
	case HOST_PAUSED: /* the agent itself reports that it is paused */
		return RM_HEALTH_GOOD;
	case HOST_AGENT_DOWN:
	case HOST_AGENT_FROZEN:
	case HOST_UNREACHABLE:
		return RM_HEALTH_BAD;
	default:
		return RM_HEALTH_UNKNOWN;
	}
}
