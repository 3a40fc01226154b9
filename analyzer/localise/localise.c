#include "analyzer/localise/localise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/finding/localise_dead_links.h"
#include "analyzer/finding/localise_find.h"
#include "analyzer/finding/localise_one_link.h"
#include "analyzer/finding/localise_reply_losses.h"
#include "analyzer/finding/localise_tor_or_links.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/paths/localise_map.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_at_node.h"
#include "analyzer/suspicion/localise_evidence.h"
#include "analyzer/suspicion/localise_groups.h"
#include "analyzer/suspicion/localise_healed.h"
#include "analyzer/suspicion/localise_late.h"
#include "analyzer/suspicion/localise_minutes.h"
#include "analyzer/suspicion/localise_standing.h"

struct localise {
	char region[RM_NAME_BYTES];
	struct localise_map map;
	struct localise_case recent, slow;
	struct localise_standings standings;
	struct localise_late late;
	struct localise_minutes minutes;
	struct localise_groups groups;
	struct rm_verdict *verdicts; /* LOCALISE_MAX_VERDICTS */
	rm_mono_t now, recent_judged, slow_judged;
	/* losses that no blamed part explained in the last judgement of minutes */
	uint64_t slow_unexplained;
	bool reverse_due; /* lost replies have not been judged for a while */
	/* when the first row arrived; ns 0: none has arrived yet */
	rm_mono_t first_row;
	bool knows_wall;
	int64_t wall_ahead_ns; /* wall time - monotonic time, at the last judgement */
	/* samples of the row that is being added */
	char samples[LOCALISE_SAMPLES_BYTES];
	struct localise_counts counts;
};

/* ---- reports about racks besides their rows ---- */

enum localise_tor_report
localise_tor_report(bool stands, const struct rm_leg_counts *inside, unsigned peers)
{
	if (!stands)
		return LOCALISE_TOR_OVER;
	if (!rm_tor_fails_inside(inside))
		return LOCALISE_TOR_CUT_OFF;
	return peers == 2 ? LOCALISE_TOR_OR_TWO : LOCALISE_TOR_DEAD;
}

void
localise_tor_verdict(struct localise *localise, const char *tor,
    enum localise_tor_report report, rm_mono_t now)
{
	struct localise_rack *rack;

	if (!rm_name_valid(tor) || localise_map_rack(&localise->map, tor, &rack) < 0)
		return;
	rack->tor_stands = report != LOCALISE_TOR_OVER;
	rack->mesh_fails = report >= LOCALISE_TOR_DEAD;
	rack->two_report = report == LOCALISE_TOR_OR_TWO;
}

/* tor-down is reported by localise_tor_verdict; the other kinds here lose no probes. */
static bool
loses_probes(const char *kind)
{
	static const enum rm_kind none[] = { RM_KIND_TOR_DOWN, RM_KIND_SWITCH_LATE,
		RM_KIND_MANAGEMENT_DOWN, RM_KIND_CERTIFICATE_ENDING,
		RM_KIND_AGENT_CONTRADICTED, RM_KIND_PAIR_CONTRADICTED };

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (strcmp(kind, rm_kind_str(none[i])) == 0)
			return false;
	return true;
}

void
localise_rack_found(
    struct localise *localise, const char *tor, const char *kind, rm_mono_t now)
{
	struct localise_element *element;
	const struct localise_rack *rack;

	HASH_FIND_STR(localise->map.elements, tor, element);
	if (element == NULL || !loses_probes(kind))
		return;
	rack = localise_map_find_rack(&localise->map, tor);
	if (rack != NULL && rack->inside != NULL)
		localise_bins_forget(rack->inside);
	element->found = now;
	for (size_t i = 0; i < element->path_count; i++)
		if (!localise_standings_slow(&localise->standings, element->paths[i]))
			localise_bins_forget(element->paths[i]);
}

void
localise_ends_none(struct localise *localise)
{
	struct localise_rack *rack, *next;

	HASH_ITER (hh, localise->map.racks, rack, next)
		localise_ends_clear(&rack->ends);
}

void
localise_rack_end(
    struct localise *localise, const char *tor, const char *kind, const char *part)
{
	struct localise_rack *rack;

	if (!rm_name_valid(tor) || !loses_probes(kind))
		return;
	if (localise_map_rack(&localise->map, tor, &rack) < 0 ||
	    localise_ends_add(&rack->ends, part) < 0)
		localise->counts.refused_ends++;
}

void
localise_rack_is_seen(struct localise *localise, const char *tor, bool seen)
{
	struct localise_rack *rack = localise_map_find_rack(&localise->map, tor);

	if (rack == NULL || rack->seen == seen)
		return;
	rack->seen = seen;
	rack->frame_came[0].ns = rack->frame_came[1].ns = INT64_MIN / 2;
}

void
localise_forget_named(struct localise *localise)
{
	struct localise_rack *rack, *next;

	localise->standings.count = localise->late.standings.count = 0;
	localise_groups_release(&localise->groups);
	localise_at_node_forget(&localise->standings);
	HASH_ITER (hh, localise->map.racks, rack, next) {
		rack->tor_stands = rack->mesh_fails = rack->two_report = false;
		localise_ends_release(&rack->ends);
	}
}

/* ---- losses that a named part explains ---- */

/* rows from before a change may still arrive for this time */
#define LATELY_NS (6 * RM_NS_PER_S)

static rm_mono_t
lately(const struct localise *localise)
{
	return (rm_mono_t){ localise->now.ns - LATELY_NS };
}

/* True: a named part explains the losses of some path from the one rack to the other.
 * For losses of minutes it does so until the part and these losses are forgotten. */
static bool
is_explained(const struct localise *localise, const struct localise_element *pair)
{
	for (size_t i = 0; i < pair->path_count; i++)
		if (localise_standings_explain(
			&localise->standings, pair->paths[i], (rm_mono_t){ INT64_MIN }))
			return true;
	return false;
}

/* A named part is on the paths of the replies: losses of unknown direction may be lost
 * replies. */
static enum localise_known
known_back(const struct localise *localise, const struct localise_path *path,
    const struct localise_sum *sum)
{
	if (sum->unknown > 0 &&
	    !localise_standings_explain(&localise->standings, path, lately(localise)) &&
	    is_explained(localise, path->pair->back))
		return LOCALISE_KNOWN_BACK;
	return LOCALISE_NEWS;
}

/* For minutes: their sums contain the losses of a part that loses all packets for two
 * minutes longer than the fault lasts. */
static enum localise_known
localise_known_slow(
    const struct localise_path *path, const struct localise_sum *sum, void *arg)
{
	const struct localise *localise = arg;
	const enum localise_known late =
	    localise_late_known(&localise->late, path, true, localise->now);

	if (late != LOCALISE_NEWS)
		return late;
	if (localise_standings_explain(
		&localise->standings, path, (rm_mono_t){ INT64_MIN }))
		return LOCALISE_KNOWN;
	return known_back(localise, path, sum);
}

/* For seconds: a reply that is late is missing at first, like a lost one. A named link
 * or switch that loses all packets explains the losses of an unknown path, if it is on
 * some path of the same racks: how many of the packets it loses is known only by
 * shares.
 */
static enum localise_known
localise_known_recent(
    const struct localise_path *path, const struct localise_sum *sum, void *arg)
{
	const struct localise *localise = arg;

	(void)sum;
	if (localise_path_is_unknown(path) &&
	    localise_standings_explain_between(
		&localise->standings, path->pair, lately(localise)))
		return LOCALISE_KNOWN;
	return localise_late_known(&localise->late, path, false, localise->now);
}

/* True: this is a path suspect, and it is not named if a blamed or named part is on one
 * of its paths. */
static bool
localise_is_needless(const struct localise *localise, const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_suspect *path)
{
	if (path->type != RM_PART_PATH)
		return false;
	for (size_t i = 0; i < path->elements[0]->path_count; i++) {
		const struct localise_path *route = path->elements[0]->paths[i];

		if (!localise_suspect_on(path, route))
			continue;
		if (localise_standings_explain_path(
			&localise->standings, route, c->slow, lately(localise)))
			return true;
		if (localise_find_explains(c, explanation, route))
			return true;
	}
	return false;
}

/* ---- the health of a part ---- */

/* A part is good if at least so many probes crossed it in the last seconds, and at most
 * this share of them was lost. */
#define GOOD_MIN_SENT 4
#define GOOD_LOSS 0.02
/* A part that lost a share is good only so long after it was blamed last. */
#define GOOD_AFTER_LOSSY_NS (6 * RM_NS_PER_S)

struct health {
	const struct localise *localise;
	struct localise_sum there, back; /* a link's two directions */
};

/* The path crosses the link part against the alphabetical order of its name. */
static bool
goes_back(const struct rm_part *part, const struct localise_path *path)
{
	for (uint8_t i = 0; i < path->element_count; i++) {
		const struct localise_element *e = path->elements[i];

		if (e->b[0] != '\0' && localise_part_is_link(part, e))
			return strcmp(e->a, e->b) > 0;
	}
	return false;
}

struct visit {
	struct health *health;
	const struct rm_part *part;
	/* the standing of the part, or NULL */
	const struct localise_standing *standing;
};

static bool
add_path(struct localise_path *path, void *arg)
{
	const struct visit *visit = arg;
	struct health *health = visit->health;
	const bool back =
	    visit->part->type == RM_PART_LINK && goes_back(visit->part, path);

	if (visit->standing != NULL && !localise_standing_on(visit->standing, path))
		return true;
	localise_path_recent(&health->localise->map, path, health->localise->now,
	    back ? &health->back : &health->there);
	return true;
}

static bool
is_clean(double lost, double sent)
{
	/* A single loss among few probes may be chance. */
	return lost <= 1 || lost <= GOOD_LOSS * sent;
}

/* Returns the replies lost in this direction: they belong to probes in the other
 * direction. */
static double
lost_replies(const struct localise *localise, const struct rm_part *path)
{
	double lost = 0;

	for (size_t i = 0; i < localise->map.lossy_count; i++) {
		const struct localise_path *route = localise->map.lossy[i];
		struct localise_sum sum = { 0 };
		char name[2 * RM_NAME_BYTES + 2];

		snprintf(name, sizeof name, "%s->%s", localise_path_dst(route),
		    route->elements[0]->a);
		if (strcmp(name, path->name) != 0)
			continue;
		localise_path_recent(&localise->map, route, localise->now, &sum);
		lost += sum.reverse;
	}
	return lost;
}

static bool
loses_only_some(enum rm_kind kind)
{
	return kind != RM_KIND_TOR_DOWN && kind != RM_KIND_LINK_DOWN &&
	       kind != RM_KIND_SWITCH_DOWN;
}

static bool
traffic_is_good(const struct localise *localise, const struct rm_part *part,
    const struct localise_standing *standing)
{
	struct health health = { .localise = localise };
	struct visit visit = { &health, part, standing };
	double lost;

	localise_part_paths(&localise->map, part, add_path, &visit);
	lost = health.there.forward + health.there.unknown;
	if (part->type == RM_PART_PATH)
		lost += lost_replies(localise, part);
	if (health.there.all < GOOD_MIN_SENT || !is_clean(lost, health.there.all))
		return false;
	/* The direction of the fault is not certain: both must pass probes. */
	return part->type != RM_PART_LINK ||
	       (health.back.all >= GOOD_MIN_SENT &&
		   is_clean(
		       health.back.forward + health.back.unknown, health.back.all));
}

/* Returns the health of several links of one switch: that of the worst link. */
static enum rm_health
links_health(const struct localise *localise, const struct rm_verdict *verdict)
{
	const char *at = verdict->evidence.links;
	struct rm_verdict one = { .part.type = RM_PART_LINK,
		.kind = verdict->evidence.links_lossy > 0 ? RM_KIND_LINK_LOSSY
							  : RM_KIND_LINK_DOWN };
	struct rm_link link;

	while (rm_links_next(&at, &link)) {
		strcpy(one.part.name, link.name);
		if (localise_health(localise, &one) != RM_HEALTH_GOOD)
			return RM_HEALTH_UNKNOWN;
	}
	return RM_HEALTH_GOOD;
}

enum rm_health
localise_health(const struct localise *localise, const struct rm_verdict *verdict)
{
	const struct rm_part *part = &verdict->part;
	const struct localise_standing *standing =
	    localise_standings_find(&localise->standings, part);

	if (localise_late_is(verdict->kind))
		return localise_late_is_over(&localise->map, part, localise->now)
			   ? RM_HEALTH_GOOD
			   : RM_HEALTH_UNKNOWN;
	if (rm_kind_is_links(verdict->kind))
		return links_health(localise, verdict);
	if (part->type == RM_PART_TOR) {
		const struct localise_rack *rack =
		    localise_map_find_rack(&localise->map, part->name);
		const struct localise_element *tor;

		HASH_FIND_STR(localise->map.elements, part->name, tor);
		if (rack != NULL && rack->tor_stands)
			return RM_HEALTH_BAD;
		/* No other rack probes it: its own rack is the only observer. */
		if (rack != NULL && rack->seen && tor == NULL)
			return RM_HEALTH_GOOD;
	}
	/* The part was named for losses of minutes before this daemon's start: seconds
	 * do not show that it is good. */
	if (verdict->evidence.window_ns == LOCALISE_WINDOW_NS && standing == NULL &&
	    (localise->first_row.ns == 0 ||
		rm_mono_since(localise->now, localise->first_row) < LOCALISE_WINDOW_NS))
		return RM_HEALTH_UNKNOWN;
	if (!traffic_is_good(localise, part, standing))
		return RM_HEALTH_UNKNOWN;
	/* A second without losses does not disprove a small loss. */
	if (standing != NULL && loses_only_some(verdict->kind) &&
	    rm_mono_since(localise->now, standing->seen) < GOOD_AFTER_LOSSY_NS)
		return RM_HEALTH_UNKNOWN;
	return RM_HEALTH_GOOD;
}

/* ---- rows, and the verdicts on them ---- */

/* A summary with a larger lag is of a backlog, or its sender's clock is wrong. */
#define ODD_LAG_NS (15 * RM_NS_PER_S)
/* a lag that has grown by less than this counts as unchanged */
#define SAME_LAG_NS (2 * RM_NS_PER_S)
/* After so many summaries with the same large lag, a wrong clock is the cause. */
#define ODD_LAGS 5
/* Rows arrive at most so long after the end of their second. */
#define ROWS_TAKE_NS (1500 * RM_NS_PER_MS)
/* A wall clock that goes back by more than this was set back. */
#define SET_BACK_NS (3 * RM_NS_PER_S)
/* With each summary the least lag grows by 1/16 of the difference. */
#define LAG_TURN 16
#define SLOW_EVERY_NS RM_NS_PER_S
/* Limits on the measured loss of parts that are not at fault. */
#define LEAST_USUAL_LOSS 1e-5
#define MOST_USUAL_LOSS 7e-4
/* With this number of blamed parts or more, no switch or ToR is named from a part on
 * that explains little: see is_minor_switch. */
#define MANY_PARTS 24
/* With so many lossy paths, or listed paths, the judgement is done less often. */
#define MANY_LOSSY 2000
#define MANY_EVERY_NS RM_NS_PER_S
#define MANY_LISTED 50000
#define MANY_SLOW_EVERY_NS (5 * RM_NS_PER_S)
#define MAX_SENT 100000000 /* of one row */
/* The longest round trip that agents report. */
#define MOST_SLOW_NS (10 * RM_NS_PER_S)

/* Added to the log prior of a ToR: its rack, or all of its hosts, are silent; its rack
 * reports that its uplinks fail, or that probes inside the rack do, too; its rack is
 * connected and reports no fault of the ToR, which then is less likely than any switch.
 */
#define BONUS_RACK_SILENT 3.0
#define BONUS_OWN_UPLINKS 4.0
#define BONUS_OWN_MESH 12.0
#define BONUS_OWN_GOOD (-8.0)
/* Added to the log prior of a switch or ToR that forwards packets while several of its
 * links are dead: it outweighs any number of links that matters. */
#define BONUS_DEAD_LINKS (-60.0)

/* The largest time of a monotonic clock: some seventy years. */
#define MAX_END_NS (INT64_MAX / 4)

/* a ToR that passes a larger share of probes is not down */
#define REFUTING_SHARE 0.02

int
localise_new(const struct localise_options *options, struct localise **ret)
{
	struct localise *localise = calloc(1, sizeof *localise);

	if (localise == NULL)
		return -ENOMEM;
	snprintf(localise->region, sizeof localise->region, "%s",
	    options->region != NULL ? options->region : "");
	localise->map.row_interval_ns = options->row_interval_ns;
	localise->verdicts = calloc(LOCALISE_MAX_VERDICTS, sizeof *localise->verdicts);
	if (localise->verdicts == NULL ||
	    localise_case_init(&localise->recent, false) < 0 ||
	    localise_case_init(&localise->slow, true) < 0 ||
	    localise_standings_init(&localise->standings, LOCALISE_MAX_VERDICTS) < 0 ||
	    localise_late_init(&localise->late, LOCALISE_MAX_VERDICTS) < 0) {
		localise_free(localise);
		return -ENOMEM;
	}
	localise->recent.with_replies = true;
	*ret = localise;
	return 0;
}

void
localise_free(struct localise *localise)
{
	if (localise == NULL)
		return;
	localise_map_release(&localise->map);
	localise_case_release(&localise->recent);
	localise_case_release(&localise->slow);
	localise_standings_release(&localise->standings);
	localise_late_release(&localise->late);
	localise_groups_release(&localise->groups);
	free(localise->verdicts);
	free(localise);
}

void
localise_row_interval(struct localise *localise, int64_t row_interval_ns)
{
	localise->map.row_interval_ns = row_interval_ns;
}

static bool
has_sane_counts(const struct wire_path_row *row)
{
	return row->sent <= MAX_SENT && row->lost_forward <= row->sent &&
	       row->lost_reverse <= row->sent && row->lost_unknown <= row->sent &&
	       row->lost_forward + row->lost_reverse + row->lost_unknown <= row->sent &&
	       row->flows_dead <= row->flows &&
	       (uint64_t)row->flows_partial + row->flows_silent <= row->flows &&
	       row->timed <= row->sent && row->slow <= row->timed &&
	       row->overdue <= MAX_SENT && row->large_sent <= row->sent &&
	       row->large_lost <= row->large_sent && row->arrived <= row->sent &&
	       row->rewritten <= row->arrived &&
	       row->congested + row->not_ect <= row->arrived &&
	       row->slow_ns <= (row->slow + row->overdue) * MOST_SLOW_NS;
}

static bool
is_sane(const struct localise_rack *rack, const struct wire_path_row *row)
{
	return row->dst_tor != NULL && row->path != NULL &&
	       rm_name_valid(row->dst_tor) && strcmp(row->dst_tor, rack->tor) != 0 &&
	       has_sane_counts(row);
}

/* Returns by how much the summary's lag, by the monotonic clocks, exceeds the least
 * lag. */
static int64_t
lag_more(
    const struct localise_lag *of, const struct wire_summary *summary, rm_mono_t now)
{
	return now.ns - (int64_t)summary->end_ns - of->least_ns;
}

/* True: the summary is from a backlog, so it does not describe the present. A large lag
 * that stays the same is due to a wrong clock, not to a backlog. If the aggregator's
 * wall clock was set, its monotonic clock shows that the summary is not late. */
static bool
is_late(const struct localise *localise, struct localise_rack *rack,
    const struct wire_summary *summary, rm_mono_t now)
{
	const int64_t lag =
	    now.ns + localise->wall_ahead_ns - (int64_t)summary->end_wall_ns;
	const int64_t change = lag - rack->lag_ns;

	rack->lag_ns = lag;
	if (!localise->knows_wall || (lag > -ODD_LAG_NS && lag < ODD_LAG_NS) ||
	    (summary->end_ns != 0 && rack->lag.known &&
		lag_more(&rack->lag, summary, now) < ODD_LAG_NS)) {
		rack->odd_lags = 0;
		return false;
	}
	if (change > -SAME_LAG_NS / 4 && change < SAME_LAG_NS)
		rack->odd_lags += rack->odd_lags < ODD_LAGS;
	else
		rack->odd_lags = 0;
	return rack->odd_lags < ODD_LAGS;
}

/* Adds a lag that exceeds the least lag by `more`. Returns how much later than usual
 * the summary has arrived. The least lag slowly follows a lag that stays larger: then
 * the network has become slower for good. */
static int64_t
lag_note(struct localise_lag *of, int64_t more)
{
	if (!of->known || more < 0) {
		of->least_ns = of->known ? of->least_ns + more : more;
		of->known = true;
		return 0;
	}
	of->least_ns += more / LAG_TURN;
	return more > ROWS_TAKE_NS ? more - ROWS_TAKE_NS : 0;
}

/* Returns how much later than usual the rack's summary has arrived. The difference
 * between the clocks of both machines is the same in all lags, and drops out when the
 * least lag is subtracted. Setting a wall clock changes the lag as a late summary does:
 * therefore the smaller one of the results of both clocks counts. */
static int64_t
late_ns(const struct localise *localise, struct localise_rack *rack,
    const struct wire_summary *summary, rm_mono_t now)
{
	int64_t late = INT64_MAX, wall;

	if (summary->end_ns != 0)
		late = lag_note(&rack->lag, lag_more(&rack->lag, summary, now));
	if (!localise->knows_wall)
		return 0;
	wall = lag_note(&rack->wall_lag, rack->lag_ns - rack->wall_lag.least_ns);
	return wall < late ? wall : late;
}

/* Corrects stored times of a rack whose wall clock was set back: they would be ahead of
 * its new rows until the clock has reached them again. */
static void
note_clock(struct localise *localise, struct localise_rack *rack,
    const struct wire_summary *summary, bool anew)
{
	const rm_wall_t end = { (int64_t)summary->end_wall_ns };
	int64_t back_ns = rack->last_end.ns - end.ns;

	if (back_ns < INT64_MAX / 2 && rack->last_end_ns != 0 &&
	    summary->end_ns > rack->last_end_ns &&
	    summary->end_ns - rack->last_end_ns < (uint64_t)ODD_LAG_NS)
		back_ns += (int64_t)(summary->end_ns - rack->last_end_ns);
	if (!anew && rack->last_end.ns != 0 && back_ns > SET_BACK_NS) {
		for (size_t i = 0; i < 2; i++)
			if (rack->frame_end[i].ns > end.ns)
				rack->frame_end[i] = end;
		localise_standings_set_back(&localise->standings, rack, end, back_ns);
	}
	rack->last_end = end;
	rack->last_end_ns = summary->end_ns;
}

/* Leaves out losses to RNICs that their own rack has found bad and reports. */
static void
leave_out(struct localise *localise, struct wire_path_row *row)
{
	const struct localise_rack *dst =
	    localise_map_find_rack(&localise->map, row->dst_tor);

	if (dst != NULL)
		localise->counts.left_out +=
		    localise_ends_leave_out(&dst->ends, row, localise->samples);
}

static int
take_row(struct localise *localise, struct localise_rack *rack,
    struct wire_path_row *row, const struct wire_summary *summary, rm_mono_t now)
{
	const int64_t covered =
	    (int64_t)(summary->end_wall_ns - summary->paths_start_wall_ns);
	const int64_t window = (int64_t)(summary->end_wall_ns - summary->start_wall_ns);
	struct localise_path *path;
	int r;

	r = is_sane(rack, row) ? localise_map_path(&localise->map, rack, row, &path)
			       : -EINVAL;
	if (r == 0)
		leave_out(localise, row);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		localise->counts.refused_rows++;
		return 0;
	}
	localise->counts.rows++;
	if (!path->is_traced)
		localise->counts.untraced += row->sent;
	return localise_map_row(&localise->map, path, row, covered, window, now);
}

static int
take_inside_row(struct localise *localise, struct localise_rack *rack,
    const struct wire_path_row *row, const struct wire_summary *summary, rm_mono_t now)
{
	const int64_t covered =
	    (int64_t)(summary->end_wall_ns - summary->paths_start_wall_ns);
	const int64_t window = (int64_t)(summary->end_wall_ns - summary->start_wall_ns);

	if (has_sane_counts(row))
		return localise_map_inside_row(
		    &localise->map, rack, row, covered, window, now);
	localise->counts.refused_rows++;
	return 0;
}

static enum localise_agents
agents_of(const struct wire_rack_state *state)
{
	if (wire_rack_state_is_empty(state))
		return LOCALISE_AGENTS_GONE;
	return state->hosts_ok == 0 && state->hosts_paused > 0 ? LOCALISE_AGENTS_PAUSED
							       : LOCALISE_AGENTS_PROBE;
}

int
localise_summary(
    struct localise *localise, const struct wire_summary_view *view, rm_mono_t now)
{
	const struct wire_summary *summary = &view->summary;
	struct localise_rack *rack;
	int64_t late;
	bool anew;
	int r;

	if (summary->tor == NULL || !rm_name_valid(summary->tor) ||
	    summary->end_wall_ns > INT64_MAX || summary->end_ns > MAX_END_NS ||
	    summary->paths_start_wall_ns > summary->end_wall_ns ||
	    summary->start_wall_ns > summary->end_wall_ns) {
		localise->counts.refused_rows += summary->path_count;
		return -EINVAL;
	}
	r = localise_map_rack(&localise->map, summary->tor, &rack);
	if (r < 0) {
		localise->counts.refused_rows += summary->path_count;
		return r;
	}
	if (rack->incarnation == summary->head.incarnation && rack->seq != 0 &&
	    summary->head.seq <= rack->seq)
		return 0;
	anew = rack->incarnation != summary->head.incarnation;
	if (anew)
		rack->lag = (struct localise_lag){ 0 };
	rack->incarnation = summary->head.incarnation;
	rack->seq = summary->head.seq;
	rack->doubted = is_late(localise, rack, summary, now);
	if (rack->doubted)
		return 0;
	late = late_ns(localise, rack, summary, now);
	rack->seen = true;
	if (summary->has_state) {
		rack->ends.rnics = summary->state.rnics;
		rack->agents = agents_of(&summary->state);
	}
	note_clock(localise, rack, summary, anew);
	if (summary->path_count == 0)
		return 0;
	if (localise->first_row.ns == 0)
		localise->first_row = now;
	localise_map_frame(
	    rack, (rm_wall_t){ (int64_t)summary->end_wall_ns }, late, now);
	for (size_t i = 0; r >= 0 && i < summary->path_count; i++) {
		struct wire_path_row row;

		wire_summary_path(view, i, &row);
		r = take_row(localise, rack, &row, summary, now);
	}
	for (size_t i = 0; r >= 0 && i < summary->inside_count; i++) {
		struct wire_path_row row;

		wire_summary_inside(view, i, &row);
		r = take_inside_row(localise, rack, &row, summary, now);
	}
	localise_map_sweep(&localise->map, rack, now);
	localise->counts.paths = localise->map.path_count;
	return r;
}

/* Returns the switch or ToR at which standings of the suspect's part are found; for a
 * link, the first switch of its name. NULL: it is not known. */
static const struct localise_element *
node_of(const struct localise_suspect *suspect)
{
	const struct localise_element *e = suspect->elements[0];
	const struct localise_path *path = e->path_count > 0 ? e->paths[0] : NULL;
	const char *first;

	if (suspect->type != RM_PART_LINK)
		return e;
	first = strcmp(e->a, e->b) < 0 ? e->a : e->b;
	for (uint8_t i = 0; path != NULL && i < path->element_count; i++)
		if (path->elements[i]->b[0] == '\0' &&
		    strcmp(path->elements[i]->a, first) == 0)
			return path->elements[i];
	return NULL;
}

static bool
is_named(const struct localise *localise, const struct localise_suspect *suspect)
{
	const struct localise_element *node = node_of(suspect);
	const struct localise_standing *standing;
	struct rm_part part;

	if (localise->standings.count == 0 ||
	    (node != NULL && !localise_at_node_some(&localise->standings, node)))
		return false;
	localise_suspect_part(suspect, &part);
	standing = localise_standings_find(&localise->standings, &part);
	return standing != NULL && standing->named;
}

/* Returns what is added to a suspect's log prior because of reports other than rows. */
static double
prior_bonus(const struct localise *localise, const struct localise_case *c,
    const struct localise_suspect *suspect)
{
	const struct localise_rack *rack;
	double sum = is_named(localise, suspect) ? LOCALISE_NAMED_BONUS : 0;

	if ((suspect->type == RM_PART_SWITCH || suspect->type == RM_PART_TOR) &&
	    suspect->transit == NULL &&
	    localise_dead_links_of(c, &localise->map, suspect->elements[0]))
		sum += BONUS_DEAD_LINKS;
	if (suspect->type != RM_PART_TOR)
		return sum;
	rack = localise_map_find_rack(&localise->map, suspect->elements[0]->a);
	if (rack == NULL)
		return sum;
	if (rack->mesh_fails)
		sum += BONUS_OWN_MESH;
	else if (rack->tor_stands)
		sum += BONUS_OWN_UPLINKS;
	else if ((!rack->seen || rack->agents == LOCALISE_AGENTS_GONE) &&
		 rack->seq != 0)
		sum += BONUS_RACK_SILENT;
	else if (rack->seen && rack->agents == LOCALISE_AGENTS_PROBE && c->by_flow)
		sum += BONUS_OWN_GOOD;
	return sum;
}

/* Sets the loss that is usual without a fault, for minutes: the losses without a blamed
 * part in the last judgement, plus one loss, because the true loss of a fabric without
 * any lost probe is not 0. */
static int
learn_usual(struct localise *localise)
{
	const double sent = fmax(localise_bins_sent(&localise->map, localise->now), 1);
	const double usual = ((double)localise->slow_unexplained + 1) / sent;

	return rm_judge_base_loss(
	    localise->slow.judge, fmin(fmax(usual, LEAST_USUAL_LOSS), MOST_USUAL_LOSS));
}

/*
 * For minutes: if one link causes the losses of a switch, the link is named instead of
 * the switch. If the losses of the minutes are those of the whole switch, its fault may
 * have ended, and the last 16 to 32 s count. False: these seem to be the losses of one
 * link, and are too few to decide: the switch is not named.
 */
static bool
prefer_link(struct localise *localise, const struct localise_case *c,
    struct localise_finding *finding)
{
	static localise_seen *const windows[] = { localise_path_slow,
		localise_path_lately };
	const struct localise_suspect *link = NULL;

	for (size_t i = 0; i < 2 && link == NULL && finding->others[0] == NULL; i++) {
		bool sure;

		link = localise_one_link(
		    c, &localise->map, windows[i], finding->suspect, &sure);
		if (link == NULL)
			continue;
		if (!sure && !is_named(localise, link))
			return i == 0 || is_named(localise, finding->suspect);
		localise_find_instead(finding, link);
	}
	return true;
}

/* A link that loses more than this is named, also if all links of its ToR do. */
#define MOST_OF_TOR 0.9

/* Returns the number of blamed links of the node among the first `most` blamed parts.
 */
static size_t
blamed_links(const struct localise_case *c, const struct rm_explanation *explanation,
    size_t most, const struct localise_element *node)
{
	size_t count = 0;

	for (size_t i = 0; i < most; i++)
		count += localise_is_link_of(
		    &c->suspects[explanation->parts[i].candidate], node);
	return count;
}

/*
 * For seconds: a ToR that loses a share of the packets loses it twice, of a probe and
 * of its reply, and the judge may blame several of the ToR's links instead. If the
 * losses of the flows are those of the ToR, it is named instead of the links. False:
 * that was done at an earlier one of these links.
 */
static bool
prefer_tor(const struct localise *localise, const struct localise_case *c,
    const struct rm_explanation *explanation, size_t nth,
    struct localise_finding *finding)
{
	const struct localise_suspect *blamed = finding->suspect;

	if (c->by_flow || finding->loss > MOST_OF_TOR)
		return true;
	for (size_t i = 0; i < c->suspect_count; i++) {
		const struct localise_suspect *tor = &c->suspects[i];

		if (tor->type != RM_PART_TOR || tor->one_class ||
		    !localise_is_link_of(blamed, tor->elements[0]) ||
		    blamed_links(c, explanation, explanation->part_count,
			tor->elements[0]) < 2 ||
		    localise_tor_or_links(c, &localise->map, localise_path_newest,
			explanation, tor) < LOCALISE_CLEAR)
			continue;
		localise_find_instead(finding, tor);
		return blamed_links(c, explanation, nth, tor->elements[0]) == 0;
	}
	return true;
}

/* True: the part is a switch or ToR, and many parts explain more than it does: then its
 * losses are more likely those of some of its links. */
static bool
is_minor_switch(
    const struct localise_case *c, const struct rm_explanation *explanation, size_t nth)
{
	const enum rm_part_type type =
	    c->suspects[explanation->parts[nth].candidate].type;

	return nth >= MANY_PARTS && (type == RM_PART_SWITCH || type == RM_PART_TOR);
}

static int
explain(struct localise *localise, struct localise_case *c,
    const struct localise_now *now, bool slow, struct rm_explanation *ret)
{
	int r;

	localise_at_node_index(&localise->standings, &localise->map);
	r = localise_case_build(c, &localise->map, now->now,
	    slow ? localise_path_slow : localise_path_newest,
	    slow ? localise_known_slow
	    : localise->late.standings.count + localise->standings.count > 0
		? localise_known_recent
		: NULL,
	    localise);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->suspect_count; i++)
		c->candidates[i].log_prior += prior_bonus(localise, c, &c->suspects[i]);
	return localise_find_parts(c, ret);
}

/* For minutes: deletes the losses of faults that have ended, and explains the remaining
 * ones again. */
static int
explain_minutes(struct localise *localise, struct localise_case *c,
    const struct localise_now *now, struct rm_explanation *ret)
{
	bool any = false;
	int r;

	r = explain(localise, c, now, true, ret);
	for (size_t i = 0; r == 0 && i < ret->part_count; i++)
		any |= localise_healed_forget(
		    &localise->standings, now, &c->suspects[ret->parts[i].candidate]);
	return any ? explain(localise, c, now, true, ret) : r;
}

static int
judge_case(struct localise *localise, struct localise_case *c,
    const struct localise_now *now, bool slow)
{
	struct rm_explanation explanation;
	struct localise_finding finding;
	int r;

	r = slow ? explain_minutes(localise, c, now, &explanation)
		 : explain(localise, c, now, false, &explanation);
	if (slow && r == 0)
		localise_minutes_begin(&localise->minutes, now->now);
	for (size_t i = 0; r == 0 && i < explanation.part_count; i++) {
		const struct rm_blamed *part = &explanation.parts[i];

		if (is_minor_switch(c, &explanation, i) ||
		    localise_is_faint(c, &explanation, i) ||
		    (!slow && localise_is_overstated(c, &localise->map,
				  localise_path_newest, &explanation, i)) ||
		    localise_is_needless(
			localise, c, &explanation, &c->suspects[part->candidate]))
			continue;
		localise_find(c, &explanation, i, &finding);
		finding.is_dead_alone =
		    finding.has_sibling &&
		    localise_dead_links_alone(c, &localise->map, finding.suspect);
		if (slow ? !prefer_link(localise, c, &finding)
			 : !prefer_tor(localise, c, &explanation, i, &finding))
			continue;
		if (slow && finding.suspect->type == RM_PART_LINK &&
		    !is_named(localise, finding.suspect) &&
		    localise_may_be_replies(c, &localise->map, localise_path_slow,
			&explanation, finding.suspect))
			continue;
		if (slow)
			localise_minutes_add(&localise->minutes, &finding);
		else
			finding.minutes_contradict = localise_minutes_explain(
			    &localise->minutes, &localise->map, &finding, now->now);
		localise_standings_weigh(&localise->standings, now, &finding, slow);
	}
	if (r < 0)
		return r;
	if (slow) {
		localise->slow_unexplained = explanation.unexplained_lost;
		return 0;
	}
	localise->counts.judged++;
	localise->counts.unexplained_lost += explanation.unexplained_lost;
	if (localise->reverse_due || localise->map.lossy_count <= MANY_LOSSY)
		localise_standings_reverse(&localise->standings, now);
	localise->reverse_due = false;
	return 0;
}

/* Takes the racks' verdicts on their own ToRs, unless a probe of another rack crossed
 * the ToR. */
static void
note_racks(struct localise *localise, const struct localise_now *now)
{
	struct localise_rack *rack, *next;

	HASH_ITER (hh, localise->map.racks, rack, next) {
		const struct localise_element *tor;
		struct localise_sum sum = { 0 };

		if (!rack->mesh_fails)
			continue;
		HASH_FIND_STR(localise->map.elements, rack->tor, tor);
		for (size_t i = 0; tor != NULL && i < tor->path_count; i++)
			localise_path_newest(
			    &localise->map, tor->paths[i], now->now, &sum);
		if (sum.sent - sum.forward - sum.unknown <= REFUTING_SHARE * sum.sent)
			localise_standings_own(&localise->standings, now, rack);
	}
}

/* Judges late replies, the last seconds and the last minutes. With many losses seconds
 * and minutes are judged in different rounds, and each only after all racks have sent
 * new rows: because the event loop has other work, too. */
static int
judge(struct localise *localise, const struct localise_now *now)
{
	const size_t lossy = localise->map.lossy_count;
	const bool slow_due =
	    rm_mono_since(now->now, localise->slow_judged) >=
	    (localise->map.listed_count <= MANY_LISTED ? SLOW_EVERY_NS
						       : MANY_SLOW_EVERY_NS);
	const bool recent_due =
	    rm_mono_since(now->now, localise->recent_judged) >= MANY_EVERY_NS;
	int r = 0;

	if (localise->map.listed_count == 0)
		return 0;
	if (lossy <= MANY_LOSSY || (recent_due && !slow_due)) {
		localise->recent_judged = now->now;
		r = localise_late_judge(&localise->late, &localise->standings, now);
		if (r == 0)
			r = judge_case(localise, &localise->recent, now, false);
	}
	if (r < 0 || !slow_due)
		return r;
	localise->slow_judged = now->now;
	localise->reverse_due = true;
	/* A suspicion of seconds will be named soon, and then explains most of the
	 * losses of the minutes. */
	if (lossy > MANY_LOSSY &&
	    localise_standings_wait(&localise->standings, now->now))
		return 0;
	r = learn_usual(localise);
	return r < 0 ? r : judge_case(localise, &localise->slow, now, true);
}

/* True: the part is named as late, and gets no second verdict for its losses. */
static bool
is_reported_late(const struct localise *localise, const struct rm_part *part)
{
	const struct localise_standing *s =
	    localise_standings_find(&localise->late.standings, part);

	return s != NULL && s->named;
}

static size_t
add_late(struct localise *localise)
{
	const struct localise_standings *late = &localise->late.standings;
	size_t count = 0;

	for (size_t i = 0; i < late->count; i++)
		if (late->standings[i].named)
			localise->verdicts[count++] = late->standings[i].verdict;
	return count;
}

int
localise_judge(struct localise *localise, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict **verdicts)
{
	struct localise_map *map = &localise->map;
	const struct localise_now at = { map, &localise->recent, now, wall };
	size_t count = 0;
	int r;

	localise->now = now;
	localise->knows_wall = true;
	localise->wall_ahead_ns = wall.ns - now.ns;
	localise_listed_tidy(map, now);
	r = judge(localise, &at);
	if (r < 0) {
		localise_at_node_forget(&localise->standings);
		return r;
	}
	note_racks(localise, &at);
	/* rows that arrive until the next judgement may add and remove switches */
	localise_at_node_forget(&localise->standings);
	localise_standings_fade(&localise->standings, map, now);
	localise_late_fade(&localise->late, now);
	localise->counts.refused_suspicions =
	    localise->standings.refused + localise->late.standings.refused;
	count = add_late(localise);
	for (size_t i = 0;
	     i < localise->standings.count && count < LOCALISE_MAX_VERDICTS; i++)
		if (localise->standings.standings[i].named &&
		    !is_reported_late(localise, &localise->standings.standings[i].part))
			localise->verdicts[count++] =
			    localise->standings.standings[i].verdict;
	count = localise_groups_join(
	    &localise->groups, &localise->standings, &at, localise->verdicts, count);
	*verdicts = localise->verdicts;
	return (int)count;
}

const struct localise_counts *
localise_counts(const struct localise *localise)
{
	return &localise->counts;
}
