#include "tor-aggregator/rack/tor_rack_state.h"

#include <string.h>

#include "tor-aggregator/judge/evidence_flows.h"
#include "tor-aggregator/judge/evidence_samples.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/mesh/rack_mesh.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/plan/pinglist_builder.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/window/roster.h"

static struct rack_member
member_of(const struct roster_rnic *rnic)
{
	return (struct rack_member){
		.id = { rnic->id.guid, rnic->id.port },
		.host = rnic->host,
		.device = rnic->device,
		.host_index = rnic->host_index,
		.port_down = rnic->registered && rnic->link == WIRE_LINK_DOWN,
		.port_unregistered = !rnic->registered,
		.port_falls = rnic->link_falls,
	};
}

/* False: no plan names the member any more, so no RNIC probes it, and it may
 * disappear. */
static bool
is_expected(const struct tor_rack *rack, size_t member)
{
	return rack->plan == NULL || roster_member(rack->roster, member)->planned;
}

static void
refresh(struct tor_rack *rack)
{
	const struct roster *roster = rack->roster;

	for (size_t i = 0; i < roster_members(roster); i++)
		rack->members[i] = member_of(roster_member(roster, i));
	for (size_t i = 0; i < roster_remotes(roster); i++)
		rack->remotes[i] = member_of(roster_remote(roster, i));
	for (size_t i = 0; i < roster_hosts(roster); i++) {
		rack->hosts[i] = (struct rack_host){ .name = roster_host(roster, i) };
		rack->expected[i] = false;
	}
	for (size_t i = 0; i < roster_members(roster); i++)
		if (is_expected(rack, i))
			rack->expected[roster_member(roster, i)->host_index] = true;
	rack->stale = false;
}

struct health_of { /* the argument of the callbacks of rm_incidents_judge */
	struct tor_rack *rack;
	const struct rack_judgement *judgement;
};

static enum rm_health
worst_of(enum rm_health a, enum rm_health b)
{
	if (a == RM_HEALTH_BAD || b == RM_HEALTH_BAD)
		return RM_HEALTH_BAD;
	return a == RM_HEALTH_GOOD && b == RM_HEALTH_GOOD ? RM_HEALTH_GOOD
							  : RM_HEALTH_UNKNOWN;
}

/* The ToR is healthy again when at least half of the rack is healthy: with a fault of
 * the ToR, no RNIC is healthy. */
static enum rm_health
health_of_tor(const struct health_of *of)
{
	size_t expected = 0, good = 0;

	for (size_t i = 0; i < roster_members(of->rack->roster); i++) {
		if (!is_expected(of->rack, i))
			continue;
		expected++;
		if (of->judgement->members[i] == RM_HEALTH_GOOD)
			good++;
	}
	return expected == 0 || (good > 0 && 2 * good >= expected) ? RM_HEALTH_GOOD
								   : RM_HEALTH_UNKNOWN;
}

/*
 * A part is healthy only if all members that belong to it are healthy. If the plan has
 * no member of the part any more, an operator has removed it: that ends the incident,
 * even if the agent still runs, and even if the part was flapping.
 */
static enum rm_health
health(const struct rm_verdict *verdict, void *arg)
{
	const struct health_of *of = arg;
	const struct roster *roster = of->rack->roster;
	enum rm_health worst = RM_HEALTH_GOOD;
	bool is_planned = false;

	if (verdict->part.type == RM_PART_TOR)
		return health_of_tor(of);
	for (size_t i = 0; i < roster_members(roster); i++) {
		const struct roster_rnic *member = roster_member(roster, i);

		if (!is_expected(of->rack, i) ||
		    !evidence_is_about(&verdict->part, member))
			continue;
		is_planned = true;
		if (verdict->part.type == RM_PART_RNIC)
			worst = worst_of(worst, of->judgement->members[i]);
		else if (verdict->kind == RM_KIND_CERTIFICATE_ENDING &&
			 of->rack->hosts[member->host_index].certificate_ends_s != 0)
			worst = RM_HEALTH_BAD;
		else
			worst =
			    worst_of(worst, of->judgement->hosts[member->host_index]);
	}
	if (is_planned)
		return worst;
	return of->rack->plan == NULL ? RM_HEALTH_UNKNOWN : RM_HEALTH_GONE;
}

static void
on_incident(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	const struct health_of *of = arg;
	struct tor_rack *rack = of->rack;

	rack->callbacks.on_incident(rack, event, incident, rack->callbacks.arg);
}

static void
hosts_judge(struct tor_rack *rack, rm_mono_t now, const struct window_closed *closed)
{
	for (size_t i = 0; i < roster_hosts(rack->roster); i++) {
		struct rack_host *host = &rack->hosts[i];

		host->state = rack->callbacks.host_state(rack, host->name, now,
		    closed->start, closed->end, &host->silence, rack->callbacks.arg);
		if (!rack->expected[i])
			host->state = HOST_UNKNOWN;
	}
}

/* True: this member is not the cause of losses at other members. */
static bool
is_sound(const struct tor_rack *rack, uint32_t member)
{
	const struct roster_rnic *rnic = roster_member(rack->roster, member);
	const enum host_state host = rack->hosts[rnic->host_index].state;

	return rack->states[member].health != RM_HEALTH_BAD &&
	       (host == HOST_OK || host == HOST_STUTTERED || host == HOST_UNKNOWN);
}

static void
sound_count(struct tor_rack *rack, uint32_t member, uint64_t sent, uint64_t lost,
    const struct window_large *large)
{
	struct tor_rack_member_state *state = &rack->states[member];

	state->sound_sent += sent;
	state->sound_lost += lost;
	state->sound_large_sent +=
	    (uint64_t)large->answered + large->lost + large->failed;
	state->sound_large_lost += large->lost;
}

/* Sums up the results of the judged second by member. */
static void
states_count(struct tor_rack *rack, const struct window_closed *closed)
{
	const size_t members = roster_members(rack->roster);

	for (size_t i = 0; i < closed->pair_count; i++) {
		const struct window_pair *pair = &closed->pairs[i];
		const uint64_t lost = pair->outcomes[WIRE_NO_REPLY];
		uint64_t sent = 0;

		for (int o = 0; o < WIRE_OUTCOMES; o++)
			sent += pair->outcomes[o];
		if (pair->src < members) {
			rack->states[pair->src].sent += sent;
			rack->states[pair->src].lost += lost;
			if (pair->dst < members ? is_sound(rack, pair->dst)
						: lost < sent)
				sound_count(rack, pair->src, sent, lost, &pair->large);
		}
		if (pair->src < members && pair->dst < members) {
			rack->states[pair->dst].to_sent += sent;
			rack->states[pair->dst].to_lost += lost;
			if (is_sound(rack, pair->src))
				sound_count(rack, pair->dst, sent, lost, &pair->large);
		}
	}
}

static void
traffic_note(struct tor_rack *rack, size_t i, const struct window_closed *closed)
{
	const struct tor_rack_member_state *state = &rack->states[i];
	struct tor_rack_traffic *traffic = &rack->traffic[i];

	if (state->sent > 0)
		traffic->probed = closed->end;
	if (rack->closings != 0)
		return; /* This window overlaps the seconds before and after, which
			   count its results. */
	traffic->sent += state->sent;
	traffic->lost += state->lost;
	traffic->to_sent += state->to_sent;
	traffic->to_lost += state->to_lost;
	traffic->sound_sent += state->sound_sent;
	traffic->sound_lost += state->sound_lost;
	traffic->sound_large_sent += state->sound_large_sent;
	traffic->sound_large_lost += state->sound_large_lost;
}

static void
members_note(struct tor_rack *rack, const struct window_closed *closed,
    const struct rack_judgement *judgement)
{
	size_t members = roster_members(rack->roster);

	for (size_t i = 0; i < members; i++)
		rack->states[i] =
		    (struct tor_rack_member_state){ .health = judgement->members[i] };
	states_count(rack, closed);
	for (size_t i = 0; i < members; i++) {
		traffic_note(rack, i, closed);
		summary_mark_rnic(rack->summary, (uint32_t)i,
		    rack->states[i].health == RM_HEALTH_BAD);
	}
}

/* Reports the losses of one second whose direction is known from the receive counts. */
static void
directions_note(struct tor_rack *rack, const struct window_closed *closed)
{
	memset(rack->forward, 0, ROSTER_MAX_TORS * sizeof(*rack->forward));
	memset(rack->reverse, 0, ROSTER_MAX_TORS * sizeof(*rack->reverse));
	for (size_t i = 0; i < closed->pair_count; i++) {
		const struct window_pair *pair = &closed->pairs[i];
		const struct roster_rnic *dst = roster_at(rack->roster, pair->dst);
		uint64_t lost = pair->outcomes[WIRE_NO_REPLY], sent = 0, forward = 0;

		if (lost == 0 || !pair->counted || dst == NULL)
			continue;
		for (int o = 0; o < WIRE_OUTCOMES; o++)
			if (o != WIRE_SEND_FAILED)
				sent += pair->outcomes[o];
		if (pair->arrived < (double)sent)
			forward = (uint64_t)((double)sent - pair->arrived + 0.5);
		if (forward > lost)
			forward = lost;
		rack->forward[dst->tor_number] += forward;
		rack->reverse[dst->tor_number] += lost - forward;
		if (pair->kind == WIRE_TOR_MESH)
			rack_mesh_directions(rack->pair_mesh, pair->src, pair->dst,
			    forward, lost - forward);
	}
	for (uint16_t t = 0; t < ROSTER_MAX_TORS; t++)
		if (rack->forward[t] + rack->reverse[t] > 0)
			summary_directions(
			    rack->summary, t, rack->forward[t], rack->reverse[t]);
}

static void
focus_ask(struct tor_rack *rack, rm_mono_t now, const struct window_closed *closed)
{
	for (size_t i = 0; i < closed->pair_count && rack->plan != NULL; i++) {
		const struct window_pair *pair = &closed->pairs[i];
		const struct roster_rnic *src, *dst;
		struct wire_focus focus;
		uint32_t planned_us;

		if (pair->newest_lost == 0)
			continue;
		src = roster_at(rack->roster, pair->src);
		dst = roster_at(rack->roster, pair->dst);
		if (src == NULL || dst == NULL ||
		    !focus_wants(&rack->focus, now, pair->src, pair->dst))
			continue;
		planned_us = pinglist_builder_interval_us(rack->plan, src->id, dst->id);
		if (planned_us == 0)
			continue;
		focus = (struct wire_focus){
			.src = src->id,
			.dst = dst->id,
			.interval_us = focus_interval_us(planned_us),
			.duration_ms = FOCUS_MS,
		};
		rack->callbacks.on_focus(rack, src->host, &focus, rack->callbacks.arg);
	}
}

/* Returns how much longer than usual the results of a window are waited for, in ns. */
static int64_t
late_ns(const struct tor_rack *rack, rm_mono_t now, const struct window_closed *closed)
{
	const int64_t late = rm_mono_since(now, closed->end) -
			     tor_rack_timeout_ns(rack) - TOR_RACK_WAIT_NS;

	return late > 0 ? late : 0;
}

static void
incidents_judge(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed, const struct rack_judgement *judgement)
{
	struct health_of of = { rack, judgement };
	size_t count = judgement->verdict_count;

	if (count > TOR_RACK_MAX_VERDICTS)
		count = TOR_RACK_MAX_VERDICTS;
	if (count > 0) {
		memcpy(rack->verdicts, judgement->verdicts,
		    count * sizeof(rack->verdicts[0]));
		evidence_samples_fill(
		    rack->verdicts, count, rack->ring, rack->roster, closed->start);
		evidence_classes_fill(rack->verdicts, count, rack->ring, closed->end);
		for (size_t i = 0; i < count; i++)
			rack->verdicts[i].evidence.late_ns = late_ns(rack, now, closed);
		for (size_t i = 0; i < count && rack->callbacks.impact != NULL; i++)
			rack->callbacks.impact(
			    rack, &rack->verdicts[i], rack->callbacks.arg);
	}
	rm_incidents_judge(rack->incidents, now, wall, rack->verdicts, count, health,
	    on_incident, &of);
}

struct flows_of { /* argument of flows_are_lost and flows_lose_alike */
	const struct tor_rack *rack;
	rm_mono_t end;
};

static bool
flows_are_lost(void *arg, size_t member, int64_t window_ns)
{
	const struct flows_of *of = arg;

	return evidence_flows_are_lost(of->rack->ring,
	    roster_member(of->rack->roster, member)->id,
	    rm_mono_add(of->end, -window_ns), of->end);
}

static struct evidence_path
path_of(const void *arg, struct wire_rnic_id src, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t sent)
{
	const struct tor_rack *rack = arg;
	const struct roster_rnic *rnic = roster_find(rack->roster, dst);

	return (struct evidence_path){ rnic != NULL ? rnic->tor_number : 0,
		path_table_switches(rack->paths,
		    path_table_find(rack->paths, src, dst, src_port, sent)) };
}

static enum rack_flows
flows_lose_alike(void *arg, size_t member, int64_t window_ns)
{
	const struct flows_of *of = arg;

	return evidence_flows_lose_alike(of->rack->ring,
	    roster_member(of->rack->roster, member)->id,
	    rm_mono_add(of->end, -window_ns), of->end, path_of, of->rack);
}

void
tor_rack_judge(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed)
{
	struct flows_of flows = { rack, closed->end };
	const struct rack input = {
		.tor = rack->tor,
		.members = rack->members,
		.member_count = roster_members(rack->roster),
		.remotes = rack->remotes,
		.remote_count = roster_remotes(rack->roster),
		.hosts = rack->hosts,
		.host_count = roster_hosts(rack->roster),
		.flows_are_lost = flows_are_lost,
		.flows_lose_alike = flows_lose_alike,
		.flows_arg = &flows,
	};
	rm_wall_t start = { wall.ns - rm_mono_since(now, closed->start) };
	struct rack_judgement judgement;

	if (rack->stale)
		refresh(rack);
	rack->window_end = closed->end;
	rack->counts.judged++;
	rack->counts.partial += closed->partial;
	hosts_judge(rack, now, closed);
	focus_ask(rack, now, closed);
	/* A window is a whole second, and one closes every quarter of a second: only
	 * every fourth window has entirely new results. */
	if (++rack->closings == TOR_RACK_JUDGE_BINS) {
		rack->closings = 0;
		directions_note(rack, closed);
		summary_check(rack->summary);
	}
	if (rack_judge_window(rack->judge, &input, closed, start, &judgement) < 0) {
		rack->counts.judge_failed++;
		tor_rack_paths_close(rack, now, wall, closed, false);
		return;
	}
	rack->counts.unexplained_lost += judgement.unexplained_lost;
	members_note(rack, closed, &judgement);
	incidents_judge(rack, now, wall, closed, &judgement);
	tor_rack_paths_close(rack, now, wall, closed, true);
}
