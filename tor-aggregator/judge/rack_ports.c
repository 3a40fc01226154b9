#include "tor-aggregator/judge/rack_ports.h"

#include <inttypes.h>
#include <stdio.h>

#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* These are numbers of windows; there is one window per bin. */
#define DOWN_WINDOWS 2
/* for this time after a ToR starts, its ports come up one by one */
#define AFTER_TOR_WINDOWS 8
/* A window is a second long, and is judged a second after its end. */
#define EXCUSED_WINDOWS 8
/* A flapping port that has been down for this time is reported as down. */
#define DOWN_AFTER_FLAPPING 40

#define FRESH_NS RM_NS_PER_S

/* False: the host's agent has not reported lately, so the port may have changed. If an
 * operator has paused the agent, its last report stays valid. */
static bool
is_fresh(const struct rack *rack, size_t member)
{
	const struct rack_member *of = &rack->members[member];
	const struct rack_host *host = &rack->hosts[of->host_index];

	return !of->port_unregistered &&
	       (host_is_witness(host->state) || host->state == HOST_PAUSED ||
		   (host->state == HOST_STALLED && host->silence.ns <= FRESH_NS));
}

static bool
is_down(const struct rack *rack, size_t member)
{
	return rack->members[member].port_down && is_fresh(rack, member);
}

/* Counts link-downs since the last window, even if the port is up again. True: there
 * was a link-down. */
static bool
note_falls(
    const struct rack_member *member, rm_mono_t now, struct rack_suspect_memory *memory)
{
	/* The count is smaller than before if the RNIC left the roster meanwhile. */
	const uint32_t falls =
	    memory->port_known && member->port_falls > memory->port_falls
		? member->port_falls - memory->port_falls
		: 0;

	memory->port_known = true;
	memory->port_falls = member->port_falls;
	rm_recurrence_note(&memory->port_flaps, now, falls, member->port_down);
	return falls > 0;
}

bool
rack_ports_excuse(const struct rack *rack, const struct window_closed *window,
    struct rack_suspect_memory *memories, bool *excused)
{
	bool any = false;

	for (size_t i = 0; i < rack->member_count; i++) {
		struct rack_suspect_memory *memory = &memories[i];
		const bool fell = note_falls(&rack->members[i], window->end, memory);

		if (rack->members[i].port_down || fell)
			memory->port_excused = EXCUSED_WINDOWS;
		excused[i] = memory->port_excused > 0;
		if (memory->port_excused > 0)
			memory->port_excused--;
		any |= fell;
	}
	return any;
}

/* True: the ports of at least two hosts are down, no port is reported as up, and at
 * least half of the members are reported. *down: the number of ports that are down. */
static bool
all_are_down(const struct rack *rack, size_t *down)
{
	size_t first = SIZE_MAX, reported = 0;
	bool hosts = false;

	*down = 0;
	for (size_t i = 0; i < rack->member_count; i++) {
		const size_t host = rack->members[i].host_index;

		if (!is_fresh(rack, i))
			continue;
		reported++;
		if (!is_down(rack, i))
			continue;
		++*down;
		hosts = hosts || (first != SIZE_MAX && first != host);
		first = host;
	}
	return hosts && *down == reported && 2 * reported >= rack->member_count;
}

static void
tor_verdict(const struct rack *rack, size_t down, struct rm_verdict *ret)
{
	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_TOR },
		.kind = RM_KIND_TOR_DOWN,
		.confidence = 0.95,
	};
	snprintf(ret->part.name, sizeof ret->part.name, "%.63s", rack->tor);
	snprintf(ret->evidence.observed, sizeof ret->evidence.observed,
	    "the ports of all %zu RNICs at it are down, as their hosts report", down);
}

static void
flaps_verdict(const struct rm_recurrence *flaps, const struct window_closed *window,
    rm_wall_t window_start, bool down, struct rm_verdict *ret)
{
	const rm_mono_t now = window->end;

	ret->evidence.window_start.ns =
	    window_start.ns - rm_mono_since(window->start, flaps->since);
	ret->kind = RM_KIND_RNIC_FLAPPING;
	snprintf(ret->evidence.observed, sizeof ret->evidence.observed,
	    "its port went down %" PRIu32 " times within %" PRId64
	    " s, as its host reports, the last time %" PRId64 " s ago, and is %s",
	    flaps->falls, rm_mono_since(flaps->at[0], flaps->since) / RM_NS_PER_S,
	    rm_mono_since(now, flaps->at[0]) / RM_NS_PER_S, down ? "down" : "up");
}

static void
port_verdict(const struct rack *rack, size_t member, struct rm_verdict *ret)
{
	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.rnic = rack->members[member].id,
		.kind = RM_KIND_RNIC_DOWN,
		.confidence = 0.99,
		.evidence = { .direction = RM_DIRECTION_BOTH },
	};
	rack_member_name(rack, member, ret->part.name);
	snprintf(ret->part.place, sizeof ret->part.place, "%.63s", rack->tor);
	snprintf(ret->evidence.observed, sizeof ret->evidence.observed,
	    "its port is down, as its host reports");
}

static bool
note_port(const struct rack *rack, size_t member, rm_wall_t start, bool all,
    struct rack_suspect_memory *memory)
{
	const bool down = is_down(rack, member);
	bool flaps;

	if (all) /* the ToR takes the port down, so the port does not flap */
		memory->port_flaps = (struct rm_recurrence){ 0 };
	flaps = memory->port_flaps.flaps && is_fresh(rack, member);
	if (!down)
		memory->port_down = 0;
	else if (memory->port_down < DOWN_AFTER_FLAPPING)
		memory->port_down++;
	if (!down && !flaps) {
		memory->port_after_tor = 0;
		memory->port_since.ns = 0;
		return false;
	}
	if (memory->port_since.ns == 0)
		memory->port_since = start;
	if (all)
		memory->port_after_tor = AFTER_TOR_WINDOWS;
	else if (memory->port_after_tor > 0 && --memory->port_after_tor > 0)
		return false;
	return flaps || memory->port_down >= DOWN_WINDOWS;
}

static bool
only_flaps(const struct rack_suspect_memory *memory)
{
	return memory->port_flaps.flaps && memory->port_down < DOWN_AFTER_FLAPPING;
}

size_t
rack_ports_judge(const struct rack *rack, const struct window_closed *window,
    rm_wall_t window_start, const enum rm_health *healths,
    struct rack_suspect_memory *memories, struct rm_verdict *verdicts)
{
	size_t down, count = 0;
	const bool all = all_are_down(rack, &down);

	for (size_t i = 0; i < rack->member_count; i++) {
		struct rack_suspect_memory *memory = &memories[i];
		struct rm_verdict *verdict = &verdicts[count];

		if (!note_port(rack, i, window_start, all, memory) ||
		    (all && count > 0))
			continue;
		if (all)
			tor_verdict(rack, down, verdict);
		else
			port_verdict(rack, i, verdict);
		verdict->evidence.window_ns = rm_mono_since(window->end, window->start);
		verdict->evidence.window_start = memory->port_since;
		if (!all && only_flaps(memory)) {
			if (memory->port_down == 0 && healths[i] == RM_HEALTH_BAD)
				continue;
			flaps_verdict(&memory->port_flaps, window, window_start,
			    memory->port_down > 0, verdict);
		}
		count++;
	}
	return count;
}
