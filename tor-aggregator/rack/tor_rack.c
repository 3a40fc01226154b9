#include "tor-aggregator/rack/tor_rack.h"
#include "rackmesh/incident/incident_adopt.h"
#include "rackmesh/incident/incident_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"
#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack_state.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

#define OPEN_BINS 40 /* ten seconds: a stall of ours, and what was sent meanwhile */
#define WAIT_NS (500 * RM_NS_PER_MS)
#define MAX_PAIRS 131072
#define MAX_OPEN_INCIDENTS 256
#define MAX_CLOSED_INCIDENTS 256

static int
rack_allocate(struct tor_rack *rack)
{
	rack->members = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->members));
	rack->foreigners = calloc(WIRE_MAX_FOREIGNERS, sizeof(*rack->foreigners));
	rack->hosts = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->hosts));
	rack->expected = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->expected));
	rack->states = calloc(WIRE_MAX_MEMBERS, sizeof(*rack->states));
	rack->verdicts = calloc(TOR_RACK_MAX_VERDICTS, sizeof(*rack->verdicts));
	rack->forward = calloc(ROSTER_MAX_TORS, sizeof(*rack->forward));
	rack->reverse = calloc(ROSTER_MAX_TORS, sizeof(*rack->reverse));
	if (rack->members == NULL || rack->foreigners == NULL || rack->hosts == NULL ||
	    rack->expected == NULL || rack->states == NULL || rack->verdicts == NULL ||
	    rack->forward == NULL || rack->reverse == NULL)
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
		.wait_ns = WAIT_NS,
		.max_pairs = MAX_PAIRS,
	};
	const struct rm_incident_options incidents = {
		.max_open = MAX_OPEN_INCIDENTS,
		.max_closed = MAX_CLOSED_INCIDENTS,
		.resolve_after_ns = rack->options.resolve_after_ns,
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
	ring_free(rack->ring);
	tor_rack_paths_free(rack);
	free(rack->members);
	free(rack->foreigners);
	free(rack->hosts);
	free(rack->expected);
	free(rack->states);
	free(rack->verdicts);
	free(rack->forward);
	free(rack->reverse);
	free(rack);
}

/* The roster has changed; r is what it said. */
static int
rack_refresh(struct tor_rack *rack, int r, rm_mono_t now)
{
	rack->stale = true;
	if (r <= 0)
		return r;
	window_renumber(rack->window);
	window_mark_partial(rack->window, now);
	summary_renumber(rack->summary);
	path_rows_renumber(rack->path_rows);
	focus_forget(&rack->focus);
	memset(rack->states, 0, WIRE_MAX_MEMBERS * sizeof(*rack->states));
	rack->counts.renumbered++;
	return 0;
}

int
tor_rack_plan(struct tor_rack *rack, const struct wire_plan_view *view, rm_mono_t now)
{
	int r, paths;

	rack->plan = view;
	rack->changed = now;
	r = rack_refresh(rack, roster_plan(rack->roster, view), now);
	paths = path_table_plan(rack->paths, view, now);
	return r < 0 ? r : paths;
}

int
tor_rack_register(struct tor_rack *rack, const struct wire_rnic *rnic, rm_mono_t now)
{
	return rack_refresh(rack, roster_register(rack->roster, rnic), now);
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
}

enum window_says
tor_rack_result(struct tor_rack *rack, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, const struct roster_rnic *dst)
{
	enum window_says says = window_add(rack->window, sent, result, src, dst->index);

	if (says == WINDOW_COUNTED)
		summary_add(rack->summary, result, src, dst->tor_number);
	if (says == WINDOW_COUNTED && dst->tor_number != 0)
		path_rows_add(
		    rack->path_rows, sent, result, src, dst->index, dst->tor_number);
	ring_put(rack->ring, sent, says == WINDOW_LATE, result);
	return says;
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

/* Until everybody whom we expect has said a word, what we see is a part. */
static void
rack_settle(struct tor_rack *rack, rm_mono_t now)
{
	size_t hosts = roster_hosts(rack->roster), heard = 0;
	int64_t silent_ns;

	for (size_t i = 0; i < hosts; i++)
		if (rack->callbacks.host_state(rack, roster_host(rack->roster, i), now,
			now, now, &silent_ns, rack->callbacks.arg) != HOST_UNKNOWN)
			heard++;
	rack->settled = (hosts > 0 && heard == hosts) ||
			rm_mono_since(now, rack->started) >= TOR_RACK_START_NS;
	window_mark_partial(rack->window, now);
}

void
tor_rack_tick(
    struct tor_rack *rack, rm_mono_t now, rm_wall_t wall, rm_mono_t everything_through)
{
	struct window_closed closed;
	struct wire_summary summary;

	if (!rack->settled)
		rack_settle(rack, now);
	while (window_close(rack->window, now, everything_through, &closed))
		tor_rack_judge(rack, now, wall, &closed);
	while (summary_take(rack->summary, rack->roster, now, wall, &summary)) {
		summary.partial = rack->counts.partial != rack->partial_told;
		tor_rack_tell(rack, &summary);
		/* Rows of all pairs go last; before them nothing is told for good. */
		if (summary.rnic_count == 0)
			rack->partial_told = rack->counts.partial;
	}
	tor_rack_tell_news(rack, now, wall);
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
tor_rack_speaks(const struct tor_rack *rack)
{
	return rack->options.speaks;
}

void
tor_rack_speak(struct tor_rack *rack, bool speaks)
{
	if (rack->options.speaks && !speaks)
		rm_incidents_owe(rack->incidents);
	rack->options.speaks = speaks;
	if (!speaks)
		return;
	rm_incidents_release(rack->incidents);
	/* How the rack is, is news to the analyzer: it may be us from whom it never
	 * came. */
	rack->state_told = (struct wire_rack_state){ 0 };
}

int
tor_rack_adopt(struct tor_rack *rack, const struct rm_incident *theirs)
{
	return rm_incidents_adopt(rack->incidents, theirs, !rack->options.speaks);
}

bool
tor_rack_end(
    struct tor_rack *rack, uint64_t id, rm_wall_t resolved, bool told, rm_mono_t now)
{
	return rm_incidents_end(rack->incidents, id, resolved, told, now);
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

const struct rm_incidents *
tor_rack_incidents(const struct tor_rack *rack)
{
	return rack->incidents;
}

bool
tor_rack_told(struct tor_rack *rack, uint64_t incident, bool resolved)
{
	return rm_incidents_told(rack->incidents, incident, resolved);
}

int
tor_rack_restore(struct tor_rack *rack, const json_t *saved, rm_mono_t now,
    rm_wall_t wall, struct rm_why *why)
{
	return rm_incidents_restore(rack->incidents, saved, now, wall, why);
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

enum host_state
tor_rack_host(const struct tor_rack *rack, size_t i)
{
	return rack->hosts[i].state;
}
