#include "analyzer/suspicion/localise_late.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/finding/localise_find.h"
#include "analyzer/finding/localise_observe.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_direction.h"
#include "analyzer/suspicion/localise_evidence.h"
#include "analyzer/suspicion/localise_standing.h"

#define LATE_SHARE 0.9 /* least share of late round trips over a late part */
#define WHOLE_SHARE 0.99
/* The same for a suspicion: the first rows also cover a time before the fault. */
#define SUSPECT_SHARE 0.5
/* least number of late round trips, and least gain, with which a part is named */
#define MIN_LATE 4
#define MIN_GAIN 6.0
/* least number of late round trips, and least gain, with which a part is suspected */
#define SUSPECT_LATE 2
#define SUSPECT_GAIN 2.0
/* For how long a finding must have been suspected before it is named: */
#define REPORT_NS (1600 * RM_NS_PER_MS) /* if no other part is nearly as likely */
#define DECIDE_NS (2250 * RM_NS_PER_MS) /* if another part is nearly as likely */
/* if it is "A or B", or several parts are as likely */
#define UNDECIDED_NS (4500 * RM_NS_PER_MS)
/* Time for a part that is named as dead: one more set of rows. If the part passes
 * packets again, those that waited in its queue are late in one set, and the packets of
 * the next set are quick. */
#define DEAD_NS (1250 * RM_NS_PER_MS)
/* After a pause of this length a suspicion begins anew, and the name of a part ends. */
#define LAPSE_NS (1500 * RM_NS_PER_MS)
#define NAMED_LAPSE_NS (4 * RM_NS_PER_S)
/* A late part explains losses for this time after its end: earlier rows may still
 * arrive, and the counts of minutes contain these losses. */
#define KEPT_NS (6 * RM_NS_PER_S)
#define KEPT_SLOW_NS LOCALISE_WINDOW_NS
#define REPORT_EVERY_NS RM_NS_PER_S
#define MAX_PATHS_BACK 64
/* Losses of a late part are reported if there are at least so many of them, and if they
 * are at least such a share of its probes. The share is larger if replies arrive after
 * their timeout, because rows report the probe as lost before its late reply arrives.
 */
#define COUNTED_AFTER_NS (3500 * RM_NS_PER_MS)
#define LOSES_MIN 8
#define LOSES_CROSSED 50
#define LOSES_SHARE 0.03
#define LOSES_OVERDUE_CROSSED 150
#define LOSES_OVERDUE_SHARE 0.1
#define GOOD_MIN_SENT 4
#define GOOD_SHARE 0.02

int
localise_late_init(struct localise_late *late, size_t size)
{
	int r = localise_case_init(&late->c, false);

	late->c.late = late->c.with_replies = true;
	return r < 0 ? r : localise_standings_init(&late->standings, size);
}

void
localise_late_release(struct localise_late *late)
{
	localise_case_release(&late->c);
	localise_standings_release(&late->standings);
}

bool
localise_late_is(enum rm_kind kind)
{
	return kind == RM_KIND_LINK_LATE || kind == RM_KIND_SWITCH_LATE ||
	       kind == RM_KIND_PATH_LATE;
}

/* ---- the figures of a suspect ---- */

/* Returns the sum of localise_path_late over all paths that cross the part. */
static struct localise_sum
figures_of(const struct localise_map *map, const struct localise_suspect *suspect,
    rm_mono_t now)
{
	const size_t ends = suspect->type == RM_PART_PATH ? 1 : suspect->element_count;
	struct localise_sum sum = { 0 };

	for (size_t i = 0; i < ends; i++)
		for (size_t k = 0; k < suspect->elements[i]->path_count; k++)
			if (localise_suspect_on(
				suspect, suspect->elements[i]->paths[k]))
				localise_path_late(
				    map, suspect->elements[i]->paths[k], now, &sum);
	return sum;
}

static double
share_of(const struct localise_sum *sum)
{
	return sum->sent > 0 ? sum->unknown / sum->sent : 0;
}

static struct localise_sum
one_direction(
    const struct localise_map *map, struct localise_element *element, rm_mono_t now)
{
	const struct localise_suspect suspect = {
		.type = RM_PART_LINK, .elements = { element }, .element_count = 1
	};

	return element != NULL ? figures_of(map, &suspect, now)
			       : (struct localise_sum){ 0 };
}

/* ---- the sentence ---- */

static enum rm_kind
kind_of(enum rm_part_type type)
{
	return type == RM_PART_LINK   ? RM_KIND_LINK_LATE
	       : type == RM_PART_PATH ? RM_KIND_PATH_LATE
				      : RM_KIND_SWITCH_LATE;
}

/* True: this direction of the link is not late, because enough round trips crossed it
 * in this direction, and not nearly all of them are late. */
static bool
is_in_time(const struct localise_sum *sum)
{
	return sum->sent >= GOOD_MIN_SENT && share_of(sum) < LATE_SHARE;
}

/* Writes the direction of a late link as text, and returns its figures. */
static struct localise_sum
report_link(const struct localise_now *now, const struct localise_suspect *link,
    char out[RM_EVIDENCE_TEXT])
{
	struct localise_directed directed;
	struct localise_sum there, back;

	localise_direction_see(now->map, link, false, now->now, &directed);
	there = one_direction(now->map, directed.there, now->now);
	back = one_direction(now->map, directed.back, now->now);
	directed.direction = is_in_time(&back) == is_in_time(&there)
				 ? LOCALISE_UNKNOWN_DIRECTION
			     : is_in_time(&back) ? LOCALISE_THERE
						 : LOCALISE_BACK;
	localise_direction_report(&directed, out);
	if (directed.direction == LOCALISE_THERE)
		return there;
	if (directed.direction == LOCALISE_BACK)
		return back;
	there.sent += back.sent;
	there.unknown += back.unknown;
	there.slow_s += back.slow_s;
	return there;
}

static bool
loses_too(const struct localise_standing *s)
{
	const bool overdue = s->overdue > 0;

	return s->missed >= LOSES_MIN &&
	       s->crossed >= (overdue ? LOSES_OVERDUE_CROSSED : LOSES_CROSSED) &&
	       s->missed >= (overdue ? LOSES_OVERDUE_SHARE : LOSES_SHARE) * s->crossed;
}

static void
report(const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *s, struct rm_evidence *evidence)
{
	const struct localise_suspect *suspect = finding->suspect;
	struct localise_sum sum;
	char direction[RM_EVIDENCE_TEXT] = "", *out = evidence->observed;
	size_t len;

	if (suspect->type == RM_PART_LINK)
		sum = report_link(now, suspect, direction);
	else
		sum = figures_of(now->map, suspect, now->now);
	snprintf(out, RM_EVIDENCE_TEXT, "%.100s%s", direction,
	    direction[0] != '\0' ? "; " : "");
	len = strlen(out);
	if (finding->others[0] != NULL)
		snprintf(out + len, RM_EVIDENCE_TEXT - len, "one of the %s; ",
		    finding->others[1] != NULL ? "three" : "two");
	len = strlen(out);
	snprintf(out + len, RM_EVIDENCE_TEXT - len,
	    "%.0f of %.0f round trips took 100 ms or longer, %.0f ms on average",
	    round(sum.unknown), round(sum.sent),
	    1e3 * sum.slow_s / fmax(sum.unknown, 1));
	len = strlen(out);
	evidence->loses_too = loses_too(s);
	if (evidence->loses_too)
		snprintf(out + len, RM_EVIDENCE_TEXT - len,
		    "; %.0f of %.0f probes had no reply", s->missed, s->crossed);
}

static void
name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding)
{
	if (s->named && rm_mono_since(now->now, s->reported_at) < REPORT_EVERY_NS)
		return;
	s->reported_at = now->now;
	/* The part is now only a tie of a finding of another type: keep its last
	 * evidence. */
	if (s->named && s->part.type != finding->part.type)
		return;
	s->verdict = (struct rm_verdict){ .part = s->part,
		.kind = kind_of(finding->suspect->type),
		.confidence = s->named ? fmax(s->verdict.confidence,
					     localise_finding_confidence(finding))
				       : localise_finding_confidence(finding) };
	s->verdict.evidence.window_ns = 2 * RM_NS_PER_S;
	s->verdict.evidence.window_start = s->start;
	s->verdict.evidence.late_ns = s->late_ns;
	report(now, finding, s, &s->verdict.evidence);
	if (!s->named) {
		s->crossed = s->missed = s->overdue = 0;
		s->counted = rm_mono_add(now->now, COUNTED_AFTER_NS);
	}
	s->named = true;
}

/* ---- when it is reported ---- */

/* True: the part is a ToR, or everything between two racks, and a late RNIC there would
 * look the same. */
static bool
may_be_rnic(const struct localise_finding *finding)
{
	return finding->suspect->type == RM_PART_PATH || finding->has_tor;
}

static const struct localise_standing *
named_among(
    const struct localise_standings *standings, const struct localise_finding *finding)
{
	for (size_t i = 0; i < finding->tie_count; i++) {
		const struct localise_standing *s =
		    localise_standings_find(standings, &finding->ties[i]);

		if (s != NULL && s->named)
			return s;
	}
	return NULL;
}

/* True: the part is named with a kind that says that packets do not pass it. If late
 * replies arrive over it, that must be corrected at once. */
static bool
is_called_dead(const struct localise_standings *hard, const struct rm_part *part)
{
	const struct localise_standing *s = localise_standings_find(hard, part);

	return s != NULL && s->named &&
	       (s->verdict.kind == RM_KIND_LINK_DOWN ||
		   s->verdict.kind == RM_KIND_SWITCH_DOWN ||
		   s->verdict.kind == RM_KIND_TOR_DOWN ||
		   s->verdict.kind == RM_KIND_FLOWS_BLACKHOLED);
}

/* ---- losses of a named part ---- */

struct toll {
	struct localise_standing *of;
	rm_mono_t now;
};

static bool
count_path(struct localise_path *path, void *arg)
{
	const struct toll *toll = arg;

	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, toll->now);
		double lost;

		if (seen == NULL || seen->came.ns <= toll->of->counted.ns)
			continue;
		/* Without any reply it is not known whether late ones are reported. */
		if (seen->timed + seen->overdue <= 0)
			continue;
		lost = (double)seen->forward + seen->reverse + seen->unknown;
		toll->of->crossed += seen->all;
		toll->of->missed += lost - (double)seen->overdue;
		toll->of->overdue += (double)seen->overdue;
	}
	return true;
}

static void
count_losses(const struct localise_standings *standings, const struct localise_now *now)
{
	for (size_t i = 0; i < standings->count; i++) {
		struct localise_standing *s = &standings->standings[i];
		struct toll toll = { s, now->now };

		if (!s->named || rm_mono_since(now->now, s->counted) <= 0)
			continue;
		localise_part_paths(now->map, &s->part, count_path, &toll);
		s->counted = now->now;
	}
}

static void
weigh(struct localise_late *late, const struct localise_standings *hard,
    const struct localise_now *now, const struct localise_finding *finding)
{
	const struct localise_sum sum =
	    figures_of(now->map, finding->suspect, now->now);
	const struct localise_standing *named = named_among(&late->standings, finding);
	struct rm_part part = named != NULL ? named->part : finding->part;
	const int64_t wait = finding->is_crowded || finding->others[0] != NULL
				 ? UNDECIDED_NS
			     : is_called_dead(hard, &part) ? DEAD_NS
			     : finding->is_clear           ? REPORT_NS
							   : DECIDE_NS;
	struct localise_standing *s;

	if (finding->gain < SUSPECT_GAIN || sum.unknown < SUSPECT_LATE ||
	    share_of(&sum) < SUSPECT_SHARE)
		return;
	s = localise_standings_touch(&late->standings, &part, false, &sum, now);
	if (s == NULL)
		return;
	if (!s->named &&
	    (finding->gain < MIN_GAIN || sum.unknown < MIN_LATE ||
		share_of(&sum) < LATE_SHARE ||
		rm_mono_since(now->now, s->since) < wait ||
		(may_be_rnic(finding) &&
		    localise_evidence_one_rnic(now, finding, finding->suspect,
			localise_path_late, &late->standings, true))))
		return;
	name(s, now, finding);
}

/* True: this is a path suspect, and another part is blamed on one of its paths. */
static bool
is_explained(const struct localise_case *c, const struct rm_explanation *explanation,
    const struct localise_suspect *path)
{
	const struct localise_element *src = path->elements[0];

	for (size_t i = 0; path->type == RM_PART_PATH && i < src->path_count; i++)
		if (localise_suspect_on(path, src->paths[i]) &&
		    localise_find_explains(c, explanation, src->paths[i]))
			return true;
	return false;
}

/* True: nearly everything that crosses this switch is late. */
static bool
is_late_switch(const struct localise_suspect *s, const struct localise_now *now)
{
	struct localise_sum sum;

	if (s->type != RM_PART_SWITCH)
		return false;
	sum = figures_of(now->map, s, now->now);
	return share_of(&sum) >= LATE_SHARE;
}

/* True: this is a link of a switch that is blamed and late as a whole. Paths of replies
 * are known only by shares, and such a link often explains some of them slightly better
 * than the switch. */
static bool
is_of_late_switch(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_suspect *link,
    const bool *switches)
{
	const struct localise_element *e = link->elements[0];

	if (link->type != RM_PART_LINK)
		return false;
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation->parts[i].candidate];

		if (switches[i] && (strcmp(s->elements[0]->a, e->a) == 0 ||
				       strcmp(s->elements[0]->a, e->b) == 0))
			return true;
	}
	return false;
}

static bool
has_named_link(const struct localise_standings *standings, const char *tor)
{
	for (size_t i = 0; i < standings->count; i++)
		if (standings->standings[i].named &&
		    localise_part_is_end(&standings->standings[i].part, tor))
			return true;
	return false;
}

/* True: a link of this ToR is named, and not everything over the ToR's other links is
 * late: then the ToR only seems to be late, because many replies return over the late
 * link. The link stays named. */
static bool
is_end_of_named(struct localise_late *late, const struct localise_suspect *tor,
    const struct localise_now *now)
{
	const struct localise_element *e = tor->elements[0];

	for (size_t i = 0; tor->type == RM_PART_TOR && i < late->standings.count; i++) {
		struct localise_standing *s = &late->standings.standings[i];
		struct localise_sum others = { 0 };

		if (!s->named || !localise_part_is_end(&s->part, e->a))
			continue;
		for (size_t k = 0; k < e->path_count; k++)
			if (!localise_part_on(&s->part, e->paths[k]))
				localise_path_late(
				    now->map, e->paths[k], now->now, &others);
		if (share_of(&others) >= WHOLE_SHARE)
			continue;
		s->seen = now->now;
		return true;
	}
	return false;
}

/* True: probes inside the ToR's rack cross the ToR, and are not late. */
static bool
is_quick_inside(const struct localise_now *now, const char *tor)
{
	const struct localise_rack *rack = localise_map_find_rack(now->map, tor);
	struct localise_sum sum = { 0 };

	if (rack != NULL && rack->inside != NULL)
		localise_path_late(now->map, rack->inside, now->now, &sum);
	return sum.sent >= GOOD_MIN_SENT && share_of(&sum) < SUSPECT_SHARE;
}

/* Returns the ToR at an end of the link, if everything that crosses the ToR's other
 * links in the same direction is late, too, and probes inside its rack are not known to
 * be quick; otherwise NULL. */
static struct localise_element *
late_tor(const struct localise_late *late, const struct localise_suspect *link,
    const struct localise_now *now)
{
	const struct localise_element *e = link->elements[0];
	struct localise_sum sum = { 0 };
	const struct localise_path *first = e->path_count > 0 ? e->paths[0] : NULL;
	struct localise_element *tor;

	if (link->type != RM_PART_LINK || first == NULL)
		return NULL;
	tor = strcmp(first->elements[0]->a, e->a) == 0
		  ? first->elements[0]
		  : first->elements[first->element_count - 1];
	if ((strcmp(tor->a, e->a) != 0 && strcmp(tor->a, e->b) != 0) ||
	    has_named_link(&late->standings, tor->a) || is_quick_inside(now, tor->a))
		return NULL;
	for (size_t i = 0; i < tor->path_count; i++) {
		const struct localise_path *path = tor->paths[i];

		if ((path->elements[0] == tor) == (first->elements[0] == tor) &&
		    !localise_suspect_on(link, path))
			localise_path_late(now->map, path, now->now, &sum);
	}
	return share_of(&sum) >= LATE_SHARE ? tor : NULL;
}

/* Takes the ToR as late, unless an RNIC of its rack is late: see may_be_rnic. */
static void
weigh_tor(struct localise_late *late, const struct localise_standings *hard,
    const struct localise_now *now, struct localise_element *tor, double gain)
{
	const struct localise_suspect suspect = {
		.type = RM_PART_TOR, .elements = { tor }, .element_count = 1
	};
	struct localise_finding finding = {
		.suspect = &suspect, .tie_count = 1, .has_tor = true, .gain = gain
	};

	localise_suspect_part(&suspect, &finding.part);
	finding.ties[0] = finding.part;
	finding.behind = SUSPECT_GAIN;
	weigh(late, hard, now, &finding);
}

int
localise_late_judge(struct localise_late *late, const struct localise_standings *hard,
    const struct localise_now *now)
{
	struct localise_case *c = &late->c;
	struct rm_explanation explanation;
	struct localise_finding finding;
	bool switches[LOCALISE_MAX_PARTS];
	int r;

	count_losses(&late->standings, now);
	r = localise_case_build(c, now->map, now->now, localise_path_late, NULL, NULL);

	if (r < 0)
		return r;
	for (size_t i = 0; i < c->suspect_count && late->standings.count > 0; i++) {
		const struct localise_standing *s;
		struct rm_part part;

		localise_suspect_part(&c->suspects[i], &part);
		s = localise_standings_find(&late->standings, &part);
		if (s != NULL && s->named)
			c->candidates[i].log_prior += LOCALISE_NAMED_BONUS;
	}
	r = localise_find_parts(c, &explanation);
	for (size_t i = 0; r == 0 && i < explanation.part_count; i++)
		switches[i] =
		    is_late_switch(&c->suspects[explanation.parts[i].candidate], now);
	for (size_t i = 0; r == 0 && i < explanation.part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation.parts[i].candidate];
		struct localise_element *tor = late_tor(late, s, now);

		if (tor != NULL) {
			weigh_tor(late, hard, now, tor, explanation.parts[i].gain);
			continue;
		}
		if ((localise_is_faint(c, &explanation, i) && !switches[i]) ||
		    is_of_late_switch(c, &explanation, s, switches) ||
		    is_end_of_named(late, s, now) || is_explained(c, &explanation, s))
			continue;
		localise_find(c, &explanation, i, &finding);
		weigh(late, hard, now, &finding);
	}
	return r;
}

void
localise_late_fade(struct localise_late *late, rm_mono_t now)
{
	struct localise_standings *standings = &late->standings;

	for (size_t i = standings->count; i-- > 0;) {
		struct localise_standing *s = &standings->standings[i];
		const int64_t absent = rm_mono_since(now, s->seen);

		if (absent > (s->named ? NAMED_LAPSE_NS : LAPSE_NS))
			s->named = false;
		if (absent > (s->reported_at.ns != 0 ? KEPT_SLOW_NS : KEPT_NS))
			*s = standings->standings[--standings->count];
	}
}

/* ---- for other stages ---- */

/* True: replies to probes on this path may cross the part, on paths that no probe
 * takes. */
static bool
may_meet(const struct rm_part *part, const struct localise_path *path)
{
	return part->type == RM_PART_SWITCH ||
	       localise_part_is_end(part, path->elements[0]->a) ||
	       localise_part_is_end(part, localise_path_dst(path));
}

/* True: the part explains losses now, because it is or was named, or has been suspected
 * only for some seconds. If it has been suspected for longer and is not named, an RNIC
 * may be late instead. */
static bool
is_answerable(const struct localise_standing *s, bool slow, rm_mono_t now)
{
	if (s->reported_at.ns != 0)
		return rm_mono_since(now, s->reported_at) <=
		       (slow ? KEPT_SLOW_NS : KEPT_NS);
	return rm_mono_since(now, s->seen) <= LAPSE_NS &&
	       rm_mono_since(now, s->since) <= KEPT_NS;
}

enum localise_known
localise_late_known(const struct localise_late *late, const struct localise_path *path,
    bool slow, rm_mono_t now)
{
	const struct localise_standings *standings = &late->standings;
	const struct localise_element *back = path->pair->back;
	enum localise_known ret = LOCALISE_NEWS;

	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (!is_answerable(s, slow, now))
			continue;
		if (localise_part_on(&s->part, path))
			return LOCALISE_KNOWN;
		for (size_t k = 0; k < back->path_count && k < MAX_PATHS_BACK; k++)
			if (localise_part_on(&s->part, back->paths[k]))
				ret = LOCALISE_KNOWN_REPLIES;
		if (ret == LOCALISE_NEWS && may_meet(&s->part, path))
			ret = LOCALISE_KNOWN_MISSED;
	}
	return ret;
}

struct visit {
	const struct localise_map *map;
	rm_mono_t now;
	struct localise_sum sum;
};

static bool
see_path(struct localise_path *path, void *arg)
{
	struct visit *visit = arg;

	localise_path_late(visit->map, path, visit->now, &visit->sum);
	return true;
}

bool
localise_late_is_over(
    const struct localise_map *map, const struct rm_part *part, rm_mono_t now)
{
	struct visit visit = { .map = map, .now = now };

	localise_part_paths(map, part, see_path, &visit);
	return visit.sum.sent >= GOOD_MIN_SENT &&
	       visit.sum.unknown <= fmax(1, GOOD_SHARE * visit.sum.sent);
}
