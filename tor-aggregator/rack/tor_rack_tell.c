/* What every summary says of the rack itself. */
#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"
#include "tor-aggregator/rack/tor_rack_state.h"
#include "tor-aggregator/window/roster.h"

/* Of whom the plan expects something: the others may come and go. */
static void
fill_state(const struct tor_rack *rack, struct wire_rack_state *state)
{
	const struct roster *roster = rack->roster;

	for (size_t i = 0; i < roster_members(roster); i++) {
		if (rack->plan != NULL && !roster_member(roster, i)->planned)
			continue;
		state->rnics++;
		state->rnics_good += rack->states[i].health == RM_HEALTH_GOOD;
		state->rnics_bad += rack->states[i].health == RM_HEALTH_BAD;
	}
	for (size_t i = 0; i < roster_hosts(roster); i++) {
		if (!rack->expected[i])
			continue;
		state->hosts++;
		/* One that stalls is heard all the same: it says so itself. */
		state->hosts_ok += rack->hosts[i].state == HOST_OK ||
				   rack->hosts[i].state == HOST_STALLED;
		state->hosts_paused += rack->hosts[i].state == HOST_PAUSED;
	}
	state->incidents_open = (uint32_t)rm_incidents_open(rack->incidents);
	state->plan_version = rack->plan == NULL ? 0 : rack->plan->plan.version;
	state->brake_permille = rack->brake_permille;
	state->hosts_slowed = rack->hosts_slowed;
}

void
tor_rack_tell(struct tor_rack *rack, struct wire_summary *summary)
{
	const struct raw_counts *raw = &rack->counts.raw;

	summary->taken = raw->taken;
	summary->windowed = raw->windowed;
	summary->late = raw->late;
	summary->invalid = raw->invalid;
	summary->duplicate = raw->duplicate;
	summary->agent_dropped = rack->counts.agent_dropped;
	summary->has_state = true;
	summary->state = (struct wire_rack_state){ 0 };
	fill_state(rack, &summary->state);
	rack->state_told = summary->state;
	rack->callbacks.on_summary(rack, summary, rack->callbacks.arg);
}

/* How many are well, whether anybody is, and the brake: not to wait for the rows. */
static bool
is_news(const struct wire_rack_state *told, const struct wire_rack_state *now)
{
	return told->hosts != now->hosts || told->hosts_ok != now->hosts_ok ||
	       told->hosts_paused != now->hosts_paused ||
	       told->hosts_slowed != now->hosts_slowed ||
	       told->rnics_bad != now->rnics_bad ||
	       (told->rnics_good == 0) != (now->rnics_good == 0) ||
	       told->brake_permille != now->brake_permille;
}

void
tor_rack_tell_news(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall)
{
	struct wire_rack_state state = { 0 };
	struct wire_summary summary = {
		.tor = roster_tor(rack->roster),
		.start_wall_ns = (uint64_t)wall.ns,
		.end_wall_ns = (uint64_t)wall.ns,
	};

	if (!rack->settled || rm_mono_since(now, rack->state_checked) < RM_NS_PER_S)
		return;
	rack->state_checked = now;
	fill_state(rack, &state);
	if (is_news(&rack->state_told, &state))
		tor_rack_tell(rack, &summary);
}
