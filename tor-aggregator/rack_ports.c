#include "tor-aggregator/rack_ports.h"

#include <stdio.h>

#include "tor-aggregator/rack_evidence.h"
#include "tor-aggregator/rack_judge.h"
#include "tor-aggregator/rack_suspect.h"

#define DOWN_WINDOWS 2
#define AFTER_TOR_WINDOWS 8 /* when a ToR comes back, so do its ports one by one */
/* A window is judged a second after its end, and is a second long; one per bin. */
#define EXCUSED_WINDOWS 8

/* Whose agent is silent may have changed its mind. */
static bool
is_fresh(enum host_state state)
{
	return state == HOST_OK || state == HOST_STALLED || state == HOST_PAUSED;
}

static bool
is_down(const struct rack *rack, size_t member)
{
	return rack->members[member].port_down &&
	       is_fresh(rack->hosts[rack->members[member].host_index].state);
}

void
rack_ports_excuse(
    const struct rack *rack, struct rack_suspect_memory *memories, bool *excused)
{
	for (size_t i = 0; i < rack->member_count; i++) {
		struct rack_suspect_memory *memory = &memories[i];

		if (rack->members[i].port_down)
			memory->port_excused = EXCUSED_WINDOWS;
		excused[i] = memory->port_excused > 0;
		if (memory->port_excused > 0)
			memory->port_excused--;
	}
}

/* Of two hosts at least, and nobody's port is up whose host can tell. */
static bool
all_are_down(const struct rack *rack, size_t *down)
{
	size_t first = SIZE_MAX, told = 0;
	bool hosts = false;

	*down = 0;
	for (size_t i = 0; i < rack->member_count; i++) {
		const size_t host = rack->members[i].host_index;

		if (!is_fresh(rack->hosts[host].state))
			continue;
		told++;
		if (!is_down(rack, i))
			continue;
		++*down;
		hosts = hosts || (first != SIZE_MAX && first != host);
		first = host;
	}
	return hosts && *down == told && 2 * told >= rack->member_count;
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
	    "the ports of all %zu RNICs at it are down, their hosts say", down);
}

static void
port_verdict(const struct rack *rack, size_t member, struct rm_verdict *ret)
{
	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.rnic = rack->members[member].id,
		.kind = RM_KIND_RNIC_DOWN,
		.confidence = 0.99,
		.evidence = { .way = RM_WAY_BOTH },
	};
	rack_member_name(rack, member, ret->part.name);
	snprintf(ret->part.place, sizeof ret->part.place, "%.63s", rack->tor);
	snprintf(ret->evidence.observed, sizeof ret->evidence.observed,
	    "its port is down, its host says");
}

static bool
note_port(const struct rack *rack, size_t member, rm_wall_t start, bool all,
    struct rack_suspect_memory *memory)
{
	if (!is_down(rack, member)) {
		memory->port_down = memory->port_after_tor = 0;
		return false;
	}
	if (memory->port_down == 0)
		memory->port_since = start;
	if (memory->port_down < DOWN_WINDOWS)
		memory->port_down++;
	if (all)
		memory->port_after_tor = AFTER_TOR_WINDOWS;
	else if (memory->port_after_tor > 0 && --memory->port_after_tor > 0)
		return false;
	return memory->port_down >= DOWN_WINDOWS;
}

size_t
rack_ports_judge(const struct rack *rack, rm_wall_t window_start, int64_t window_ns,
    struct rack_suspect_memory *memories, struct rm_verdict *verdicts)
{
	size_t down, count = 0;
	const bool all = all_are_down(rack, &down);

	for (size_t i = 0; i < rack->member_count; i++) {
		if (!note_port(rack, i, window_start, all, &memories[i]) ||
		    (all && count > 0))
			continue;
		if (all)
			tor_verdict(rack, down, &verdicts[count]);
		else
			port_verdict(rack, i, &verdicts[count]);
		verdicts[count].evidence.window_ns = window_ns;
		verdicts[count++].evidence.window_start = memories[i].port_since;
	}
	return count;
}
