#include "tor-aggregator/rack/tor_rack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_adopt.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/mesh/rack_mesh.h"
#include "tor-aggregator/paths/path_discovery.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/kept_ports.h"
#include "tor-aggregator/rack/rack_uses.h"
#include "tor-aggregator/rack/tor_rack_state.h"
#include "tor-aggregator/services/service_rows.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

/* ---- The state of the rack, a part of every summary ---- */

/* Counts only hosts that the plan names, because other hosts may leave at any time. */
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
		/* A host that stalls counts as good: it is connected, and reports the
		 * stall itself. */
		state->hosts_ok += host_is_witness(rack->hosts[i].state) ||
				   rack->hosts[i].state == HOST_STALLED;
		state->hosts_paused += rack->hosts[i].state == HOST_PAUSED;
	}
	state->incidents_open = (uint32_t)rm_incidents_open(rack->incidents);
	state->plan_version = rack->plan == NULL ? 0 : rack->plan->plan.version;
	state->brake_permille = rack->brake_permille;
	state->hosts_slowed = rack->hosts_slowed;
}

/* Fills in what every summary has, and calls on_summary. */
static void
tor_rack_report(struct tor_rack *rack, struct wire_summary *summary)
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
	rack->state_sent = summary->state;
	if (rack_uses_due(rack->uses, rack->options.row_interval_ns, rack->now))
		rack_uses_take(rack->uses, rack->options.services, rack->roster,
		    rack->paths, rack->now, summary);
	rack->callbacks.on_summary(rack, summary, rack->callbacks.arg);
}

/* True: the number of healthy hosts, the blindness or the brake has changed, which must
 * be sent at once. */
static bool
is_news(const struct wire_rack_state *sent, const struct wire_rack_state *now)
{
	return sent->hosts != now->hosts || sent->hosts_ok != now->hosts_ok ||
	       sent->hosts_paused != now->hosts_paused ||
	       sent->hosts_slowed != now->hosts_slowed ||
	       sent->rnics_bad != now->rnics_bad ||
	       (sent->rnics_good == 0) != (now->rnics_good == 0) ||
	       sent->brake_permille != now->brake_permille;
}

/* Sends a summary without rows if the state has changed, at most once a second. The
 * state is known only when all expected agents have reported. */
static void
tor_rack_report_news(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall)
{
	struct wire_rack_state state = { 0 };
	struct wire_summary summary = {
		.tor = roster_tor(rack->roster),
		.start_wall_ns = (uint64_t)wall.ns,
		.end_wall_ns = (uint64_t)wall.ns,
		.end_ns = (uint64_t)now.ns,
	};

	if (!rack->settled || rm_mono_since(now, rack->state_checked) < RM_NS_PER_S)
		return;
	rack->state_checked = now;
	fill_state(rack, &state);
	if (is_news(&rack->state_sent, &state))
		tor_rack_report(rack, &summary);
}

/* ---- Paths that leave the rack: counts and reports ---- */

/* enough for all open bins, and for a second before and after */
#define OPEN_SECONDS 12
/* A member that is neither good nor bad is no witness if it has lost at least this many
 * probes in the mesh. */
#define DOUBT_LOST 3
#define DOUBT_SHARE 0.12
#define AGE_EVERY_NS (10 * RM_NS_PER_S)

static int
tor_rack_paths_new(struct tor_rack *rack, rm_mono_t now)
{
	const struct path_table_options table = {
		.tor = rack->tor,
		.max_flows = PATH_TABLE_MAX_FLOWS,
		.max_paths = PATH_TABLE_MAX_PATHS,
	};
	const struct path_rows_options rows = {
		.row_interval_ns = rack->options.row_interval_ns,
		.open_seconds = OPEN_SECONDS,
		.max_flows = PATH_ROWS_MAX_FLOWS,
	};
	int r;

	rack->brake_permille = 1000;
	rack->witnesses = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->witnesses));
	rack->mesh = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->mesh));
	if (rack->witnesses == NULL || rack->mesh == NULL)
		return -ENOMEM;
	r = path_table_new(&table, &rack->paths);
	if (r == 0)
		r = path_rows_new(&rows, now, &rack->path_rows);
	if (r == 0)
		r = path_discovery_new(&rack->path_discovery);
	return r;
}

static void
tor_rack_paths_free(struct tor_rack *rack)
{
	path_table_free(rack->paths);
	path_rows_free(rack->path_rows);
	path_discovery_free(rack->path_discovery);
	free(rack->witnesses);
	free(rack->mesh);
}

int
tor_rack_path(struct tor_rack *rack, const struct wire_path *path, rm_mono_t traced,
    rm_mono_t now)
{
	const struct roster_rnic *dst = roster_find(
	    rack->roster, (struct wire_rnic_id){ path->dst_guid, path->dst_port_num });

	if (dst == NULL || dst->index < WINDOW_REMOTE_BASE || dst->tor_number == 0)
		return -ENOENT;
	return path_table_learn(rack->paths, path, dst->tor, traced, now);
}

void
tor_rack_brake(struct tor_rack *rack, uint32_t rate_permille)
{
	rack->brake_permille = rate_permille;
}

void
tor_rack_slowed(struct tor_rack *rack, uint32_t hosts)
{
	rack->hosts_slowed = hosts;
}

void
tor_rack_certificate(struct tor_rack *rack, size_t host, int64_t ends_s)
{
	if (!rack->stale) /* if stale, hosts get new indexes before they are used */
		rack->hosts[host].certificate_ends_s = ends_s;
}

static void
count_mesh(struct tor_rack *rack, const struct window_closed *closed)
{
	const size_t members = roster_members(rack->roster);

	memset(rack->mesh, 0, members * sizeof(*rack->mesh));
	for (size_t i = 0; i < closed->pair_count; i++) {
		const struct window_pair *pair = &closed->pairs[i];
		const uint32_t lost = pair->outcomes[WIRE_NO_REPLY];

		if (pair->src >= members || pair->dst >= members)
			continue;
		rack->mesh[pair->src].sent +=
		    lost + pair->outcomes[WIRE_OK] + pair->outcomes[WIRE_LATE_REPLY];
		rack->mesh[pair->src].lost += lost;
	}
}

/* True: the member loses probes in the mesh while other members lose none, and the
 * judge has not decided yet. */
static bool
is_doubtful(const struct tor_rack *rack, size_t i)
{
	return rack->states[i].health == RM_HEALTH_UNKNOWN &&
	       rack->mesh[i].lost >= DOUBT_LOST &&
	       (double)rack->mesh[i].lost >= DOUBT_SHARE * (double)rack->mesh[i].sent;
}

static void
find_witnesses(struct tor_rack *rack, const struct window_closed *closed)
{
	const size_t members = roster_members(rack->roster);
	bool some_good = false;

	count_mesh(rack, closed);
	for (size_t i = 0; i < members; i++)
		some_good = some_good || rack->states[i].health == RM_HEALTH_GOOD;
	for (size_t i = 0; i < members; i++) {
		const size_t host = roster_member(rack->roster, i)->host_index;

		rack->witnesses[i] = host_is_witness(rack->hosts[host].state) &&
				     rack->states[i].health != RM_HEALTH_BAD &&
				     !(some_good && is_doubtful(rack, i));
	}
}

static void
emit(struct wire_summary *summary, void *arg)
{
	tor_rack_report(arg, summary);
}

void
tor_rack_paths_close(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall,
    const struct window_closed *closed, bool judged)
{
	const struct path_rows_second second = {
		.end = closed->end,
		.witnesses = rack->witnesses,
		.partial = closed->partial || !judged,
		.roster = rack->roster,
		.paths = rack->paths,
		.now = now,
		.wall = wall,
		.emit = emit,
		.arg = rack,
	};

	/* Only if the judged second ends with a second of path_rows, both are the same
	 * second. */
	if (closed->end.ns % PATH_ROWS_SECOND_NS != 0)
		return;
	find_witnesses(rack, closed);
	path_rows_close(rack->path_rows, &second);
	if (path_rows_empty(rack->path_rows) &&
	    rm_mono_since(now, rack->paths_aged) >= AGE_EVERY_NS) {
		path_table_age(rack->paths, now);
		rack->paths_aged = now;
	}
}

const struct path_table *
tor_rack_paths(const struct tor_rack *rack)
{
	return rack->paths;
}

const struct path_rows *
tor_rack_path_rows(const struct tor_rack *rack)
{
	return rack->path_rows;
}

size_t
tor_rack_found_paths(
    struct tor_rack *rack, rm_mono_t now, struct wire_path *out, size_t max)
{
	return path_discovery_next(rack->path_discovery, rack->paths, now, out, max);
}

void
tor_rack_found_paths_again(struct tor_rack *rack)
{
	path_discovery_again(rack->path_discovery);
}

/* This is ten seconds: enough for a stall of this aggregator and for the results of
 * that time. */
#define OPEN_BINS 40
#define MAX_PAIRS 131072
#define MAX_OPEN_INCIDENTS 256
#define MAX_CLOSED_INCIDENTS 256

static int
rack_allocate(struct tor_rack *rack)
{
	rack->members = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->members));
	rack->remotes = calloc(WIRE_MAX_REMOTES, sizeof(*rack->remotes));
	rack->hosts = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->hosts));
	rack->expected = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->expected));
	rack->states = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->states));
	rack->traffic = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->traffic));
	rack->verdicts = calloc(TOR_RACK_MAX_VERDICTS, sizeof(*rack->verdicts));
	rack->forward = calloc(ROSTER_MAX_TORS, sizeof(*rack->forward));
	rack->reverse = calloc(ROSTER_MAX_TORS, sizeof(*rack->reverse));
	if (rack->members == NULL || rack->remotes == NULL || rack->hosts == NULL ||
	    rack->expected == NULL || rack->states == NULL || rack->traffic == NULL ||
	    rack->verdicts == NULL || rack->forward == NULL || rack->reverse == NULL)
		return -ENOMEM;
	return 0;
}

static int
rack_build(struct tor_rack *rack, rm_mono_t now, rm_wall_t wall)
{
	const struct window_options window = {
		.bin_ns = TOR_RACK_BIN_NS,
		.judge_bins = TOR_RACK_JUDGE_BINS,
		.open_bins = OPEN_BINS,
		.timeout_ns = rack->options.timeout_ns,
		.wait_ns = TOR_RACK_WAIT_NS,
		.max_pairs = MAX_PAIRS,
	};
	const struct rm_incident_options incidents = {
		.max_open = MAX_OPEN_INCIDENTS,
		.max_closed = MAX_CLOSED_INCIDENTS,
		.resolve_after_ns = rack->options.resolve_after_ns,
		.flap_within_ns = rack->options.flap_within_ns,
		.id_seed = rack->options.id_seed,
	};
	const struct summary_options summary = {
		.row_interval_ns = rack->options.row_interval_ns,
		.rnic_interval_ns = rack->options.rnic_interval_ns,
	};
	int r;

	r = rack_allocate(rack);
	if (r == 0)
		r = roster_new(rack->tor, &rack->roster);
	if (r == 0)
		r = window_new(&window, now, &rack->window);
	if (r == 0)
		r = rack_judge_new(&rack->judge);
	if (r == 0)
		r = rm_incidents_new(&incidents, &rack->incidents);
	if (r == 0)
		r = summary_new(&summary, now, wall, &rack->summary);
	if (r == 0)
		r = service_rows_new(rack->options.services, wall, &rack->service_rows);
	if (r == 0)
		r = rack_uses_new(now, &rack->uses);
	if (r == 0)
		r = rack_mesh_new(now, &rack->pair_mesh);
	if (r == 0)
		r = ring_new(rack->options.ring_bytes, &rack->ring);
	if (r == 0)
		r = tor_rack_paths_new(rack, now);
	return r;
}

int
tor_rack_new(const struct tor_rack_options *options,
    const struct tor_rack_callbacks *callbacks, rm_mono_t now, rm_wall_t wall,
    struct tor_rack **ret)
{
	struct tor_rack *rack;
	int r;

	if (!rm_name_valid(options->tor))
		return -EINVAL;
	rack = calloc(1, sizeof(*rack));
	if (rack == NULL)
		return -ENOMEM;
	snprintf(rack->tor, sizeof(rack->tor), "%s", options->tor);
	rack->options = *options;
	rack->options.tor = rack->tor;
	rack->callbacks = *callbacks;
	rack->started = rack->changed = now;
	r = rack_build(rack, now, wall);
	if (r < 0) {
		tor_rack_free(rack);
		return r;
	}
	*ret = rack;
	return 0;
}

void
tor_rack_free(struct tor_rack *rack)
{
	if (rack == NULL)
		return;
	roster_free(rack->roster);
	window_free(rack->window);
	rack_judge_free(rack->judge);
	rm_incidents_free(rack->incidents);
	summary_free(rack->summary);
	service_rows_free(rack->service_rows);
	rack_uses_free(rack->uses);
	rack_mesh_free(rack->pair_mesh);
	ring_free(rack->ring);
	tor_rack_paths_free(rack);
	free(rack->members);
	free(rack->remotes);
	free(rack->hosts);
	free(rack->expected);
	free(rack->states);
	free(rack->traffic);
	free(rack->verdicts);
	free(rack->forward);
	free(rack->reverse);
	free(rack);
}

/* Call it after a change of the roster. r: the result of that change; if it is < 0, it
 * is returned. */
static int
rack_refresh(struct tor_rack *rack, int r, rm_mono_t now)
{
	rack->stale = true;
	rack_mesh_renumber(rack->pair_mesh, rack->roster);
	if (r <= 0)
		return r;
	window_renumber(rack->window);
	window_mark_partial(rack->window, now);
	summary_renumber(rack->summary);
	path_rows_renumber(rack->path_rows);
	focus_forget(&rack->focus);
	memset(rack->states, 0, WIRE_MAX_MEMBERS * sizeof(*rack->states));
	memset(rack->traffic, 0, WIRE_MAX_MEMBERS * sizeof(*rack->traffic));
	rack->counts.renumbered++;
	return 0;
}

int64_t
tor_rack_timeout_ns(const struct tor_rack *rack)
{
	const uint32_t planned =
	    rack->plan == NULL ? 0 : rack->plan->plan.probe_timeout_ms;

	return planned != 0 ? (int64_t)planned * RM_NS_PER_MS
			    : rack->options.timeout_ns;
}

int
tor_rack_plan(struct tor_rack *rack, const struct wire_plan_view *view, rm_mono_t now)
{
	int taken, r, paths;

	rack->plan = view;
	rack->changed = now;
	window_set_timeout(rack->window, tor_rack_timeout_ns(rack));
	taken = roster_plan(rack->roster, view);
	/* Indexes may have changed although not all of the plan was taken. */
	r = rack_refresh(rack, taken == -ENOMEM ? 1 : taken, now);
	if (taken < 0)
		r = taken;
	paths = path_table_plan(rack->paths, view, now);
	return r < 0 ? r : paths;
}

int
tor_rack_register(struct tor_rack *rack, const struct wire_rnic *rnic, rm_mono_t now)
{
	return rack_refresh(rack, roster_register(rack->roster, rnic), now);
}

void
tor_rack_rename(
    struct tor_rack *rack, struct wire_rnic_id id, const char *former, const char *host)
{
	roster_rename(rack->roster, id, former, host);
	rack->stale = true;
}

int
tor_rack_replace(struct tor_rack *rack, const char *host, rm_mono_t now)
{
	return rack_refresh(rack, roster_replace(rack->roster, host), now);
}

int
tor_rack_learn(struct tor_rack *rack, const struct wire_rnic *rnic, rm_mono_t now)
{
	return rack_refresh(rack, roster_learn(rack->roster, rnic, now), now);
}

bool
tor_rack_serve(struct tor_rack *rack, struct wire_rnic_id id)
{
	return roster_serve(rack->roster, id);
}

void
tor_rack_unserve(struct tor_rack *rack)
{
	roster_unserve(rack->roster);
}

void
tor_rack_leave(struct tor_rack *rack, const char *host)
{
	roster_leave(rack->roster, host);
	rack->stale = true; /* the agent has reported another link state */
}

/* True: the RNIC is in another rack whose ToR has a number of its own, so results to it
 * are counted per path. */
static bool
has_paths(const struct roster_rnic *dst)
{
	return dst->tor_number != 0 && dst->tor_number != ROSTER_OTHER_TORS;
}

enum window_status
tor_rack_result(struct tor_rack *rack, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, const struct roster_rnic *dst)
{
	enum window_status status =
	    window_add(rack->window, sent, result, src, dst->index);

	if (status == WINDOW_COUNTED) {
		if (dst->tor_number != ROSTER_OTHER_TORS)
			summary_add(rack->summary, result, src, dst->tor_number);
		else
			rack->counts.without_tor++;
		service_rows_add(rack->service_rows, result);
		rack_uses_add(rack->uses, rack->options.services, sent, result);
		rack_mesh_add(rack->pair_mesh, sent, result, src, dst->index);
	}
	if (status == WINDOW_COUNTED && has_paths(dst))
		path_rows_add(
		    rack->path_rows, sent, result, src, dst->index, dst->tor_number);
	else if (status == WINDOW_COUNTED && dst->tor_number == 0)
		path_rows_add_inside(rack->path_rows, sent, result, src, dst->index);
	ring_put(rack->ring, sent, status == WINDOW_LATE, result);
	return status;
}

void
tor_rack_overdue(struct tor_rack *rack, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, const struct roster_rnic *dst)
{
	window_overdue(rack->window, sent, result, src, dst->index);
	if (has_paths(dst))
		path_rows_overdue(
		    rack->path_rows, sent, result, src, dst->index, dst->tor_number);
}

void
tor_rack_arrived(struct tor_rack *rack, uint32_t src, uint32_t dst, rm_mono_t from,
    rm_mono_t to, uint64_t received)
{
	window_arrived(rack->window, src, dst, from, to, received);
}

void
tor_rack_counts_through(struct tor_rack *rack, uint32_t dst, rm_mono_t through)
{
	window_counts_through(rack->window, dst, through);
}

/* Until all expected agents have reported, the windows are partial. */
static void
rack_settle(struct tor_rack *rack, rm_mono_t now)
{
	size_t hosts = roster_hosts(rack->roster), seen = 0;
	struct host_silence silence;

	for (size_t i = 0; i < hosts; i++)
		if (rack->callbacks.host_state(rack, roster_host(rack->roster, i), now,
			now, now, &silence, rack->callbacks.arg) != HOST_UNKNOWN)
			seen++;
	rack->settled = (hosts > 0 && seen == hosts) ||
			rm_mono_since(now, rack->started) >= TOR_RACK_START_NS;
	window_mark_partial(rack->window, now);
}

void
tor_rack_tick(
    struct tor_rack *rack, rm_mono_t now, rm_wall_t wall, rm_mono_t everything_through)
{
	struct window_closed closed;
	struct wire_summary summary;

	rack->now = now;
	if (!rack->settled)
		rack_settle(rack, now);
	rack_mesh_tick(rack->pair_mesh, now);
	while (window_close(rack->window, now, everything_through, &closed))
		tor_rack_judge(rack, now, wall, &closed);
	while (summary_take(rack->summary, rack->roster, now, wall, &summary)) {
		summary.partial = rack->counts.partial != rack->partial_sent;
		if (summary_sent_all(rack->summary))
			service_rows_take(rack->service_rows, wall, &summary);
		tor_rack_report(rack, &summary);
		/* Messages with rows of RNICs are followed by more messages, in which
		 * `partial` must be set, too. */
		if (summary.rnic_count == 0)
			rack->partial_sent = rack->counts.partial;
	}
	tor_rack_report_news(rack, now, wall);
}

void
tor_rack_stalled(struct tor_rack *rack, int64_t for_ns, rm_mono_t until)
{
	if (for_ns > TOR_RACK_MOMENT_NS)
		window_mark_partial(rack->window, until);
	else
		window_mark_doubtful(rack->window, until);
}

const char *
tor_rack_tor(const struct tor_rack *rack)
{
	return rack->tor;
}

bool
tor_rack_is_active(const struct tor_rack *rack)
{
	return rack->options.active;
}

void
tor_rack_set_active(struct tor_rack *rack, bool active)
{
	if (rack->options.active && !active)
		rm_incidents_owe(rack->incidents);
	rack->options.active = active;
	if (!active)
		return;
	rm_incidents_release(rack->incidents);
	/* Sends the rack's state and services again: the analyzer may not have got them
	 * from this aggregator. */
	rack->state_sent = (struct wire_rack_state){ 0 };
	rack_uses_hurry(rack->uses);
}

int
tor_rack_adopt(struct tor_rack *rack, const struct rm_incident *theirs)
{
	return rm_incidents_adopt(rack->incidents, theirs, !rack->options.active);
}

bool
tor_rack_end(struct tor_rack *rack, uint64_t id, rm_wall_t resolved, bool notified,
    rm_mono_t now)
{
	return rm_incidents_end(rack->incidents, id, resolved, notified, now);
}

void
tor_rack_doubt(struct tor_rack *rack)
{
	rm_incidents_doubt(rack->incidents);
}

size_t
tor_rack_end_rest(struct tor_rack *rack, rm_wall_t resolved, rm_mono_t now)
{
	return rm_incidents_end_rest(rack->incidents, resolved, now);
}

const struct roster *
tor_rack_roster(const struct tor_rack *rack)
{
	return rack->roster;
}

const struct ring *
tor_rack_ring(const struct tor_rack *rack)
{
	return rack->ring;
}

const struct summary *
tor_rack_summary(const struct tor_rack *rack)
{
	return rack->summary;
}

const struct service_rows *
tor_rack_service_rows(const struct tor_rack *rack)
{
	return rack->service_rows;
}

const struct rack_uses *
tor_rack_uses(const struct tor_rack *rack)
{
	return rack->uses;
}

const struct rack_mesh *
tor_rack_pair_mesh(const struct tor_rack *rack)
{
	return rack->pair_mesh;
}

const struct rm_incidents *
tor_rack_incidents(const struct tor_rack *rack)
{
	return rack->incidents;
}

bool
tor_rack_notified(struct tor_rack *rack, uint64_t incident, bool resolved)
{
	return rm_incidents_notified(rack->incidents, incident, resolved);
}

int
tor_rack_restore(struct tor_rack *rack, const json_t *saved, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error)
{
	struct rm_error ports = { 0 };
	int r;

	r = rm_incidents_restore(rack->incidents, saved, now, wall, error);
	if (r < 0)
		return r;
	kept_ports_restore(
	    rack->judge, json_object_get(saved, "ports"), now, wall, &ports);
	if (ports.text[0] != '\0' && error != NULL && error->text[0] == '\0')
		*error = ports;
	return r;
}

json_t *
tor_rack_save(const struct tor_rack *rack, rm_mono_t now, rm_wall_t wall)
{
	json_t *saved = rm_incidents_save(rack->incidents, wall);

	if (saved != NULL)
		json_object_set_new(
		    saved, "ports", kept_ports_save(rack->judge, now, wall));
	return saved;
}

uint64_t
tor_rack_port_falls(const struct tor_rack *rack)
{
	return rack_judge_falls(rack->judge);
}

const struct wire_plan_view *
tor_rack_plan_view(const struct tor_rack *rack)
{
	return rack->plan;
}

const struct focus_counts *
tor_rack_focus(const struct tor_rack *rack)
{
	return &rack->focus.counts;
}

struct tor_rack_counts *
tor_rack_counts(struct tor_rack *rack)
{
	return &rack->counts;
}

rm_mono_t
tor_rack_window_end(const struct tor_rack *rack)
{
	return rack->window_end;
}

rm_mono_t
tor_rack_changed(const struct tor_rack *rack)
{
	return rack->changed;
}

struct tor_rack_member_state
tor_rack_member(const struct tor_rack *rack, size_t i)
{
	return rack->states[i];
}

struct tor_rack_traffic
tor_rack_traffic(const struct tor_rack *rack, size_t i)
{
	return rack->traffic[i];
}

struct wire_rack_state
tor_rack_state(const struct tor_rack *rack)
{
	struct wire_rack_state state = { 0 };

	fill_state(rack, &state);
	return state;
}

enum host_state
tor_rack_host(const struct tor_rack *rack, size_t i)
{
	return rack->hosts[i].state;
}
