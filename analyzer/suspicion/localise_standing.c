#include "analyzer/suspicion/localise_standing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_lossy_over.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_at_node.h"
#include "analyzer/suspicion/localise_evidence.h"

enum localise_enough { LOCALISE_NOTHING, LOCALISE_SUSPICIOUS, LOCALISE_ENOUGH };

/* ---- when a suspicion may be reported ---- */

/* How long a finding must have been suspected before it is named. Rows arrive every
 * second, and are delayed by up to 1.5 s. */
#define REPORT_NS (1600 * RM_NS_PER_MS) /* if no other part is nearly as likely */
#define DECIDE_NS (2250 * RM_NS_PER_MS) /* if another part is nearly as likely */
/* if it is "A or B": an incident keeps this name, and more rows may show which of the
 * two it is */
#define UNDECIDED_NS (4500 * RM_NS_PER_MS)
/* if it is "A or B" of lost flows, and other probes cross A or B: the first one of
 * these that is lost decides, and flows that are probed seldom have rows later */
#define DECISIVE_NS (7 * RM_NS_PER_S)
/* if another link of the same switch is blamed, too: the switch may be at fault */
#define SIBLING_NS (3250 * RM_NS_PER_MS)
#define CROWDED_NS (5 * RM_NS_PER_S) /* if several parts are as likely */
/* added to the time if another fault was named */
#define OVERLAP_NS (3 * RM_NS_PER_S)
#define TOR_REPORT_NS (500 * RM_NS_PER_MS) /* for a ToR that its own rack reports */
/* The losses, too, must have lasted for three windows of a second. */
#define LASTING_NS (1800 * RM_NS_PER_MS)
#define LATELY_NS (6 * RM_NS_PER_S)
/* least number of losses, and least gain, with which a suspicion begins */
#define SUSPECT_LOST 3
#define SUSPECT_GAIN 2.0
/* least number of losses, and least gain, with which a part is named */
#define MIN_LOST 4
#define MIN_NEWEST_LOST 2
#define MIN_GAIN 6.0
/* Least part of the losses a second ago (or of all newest probes, if these are fewer)
 * that must be lost now: with fewer losses the fault may be over. */
#define LASTING_SHARE 0.6
#define SLOW_MIN_TIMES 6 /* least number of slots with losses: see LOCALISE_SLOT_NS */
/* least number of slots with losses for a part that is named */
#define SLOW_STILL_TIMES 2
#define SLOW_MIN_GAIN 6.0
/* If more than this share of the losses is in the last seconds, the seconds decide, not
 * the minutes. */
#define SLOW_RECENT_SHARE 0.5
/* A longer time without losses is chance in one of 400 cases. */
#define SLOW_GAPS 6
#define SLOW_OVER_NS (4 * RM_NS_PER_S)
#define DOWN_SHARE 0.9
/* A ToR with a smaller fitted loss is left to the judgement of minutes. */
#define LOSSY_TOR 0.15
/* A rack names a dead RNIC of its own within this time. */
#define RNIC_NS (8 * RM_NS_PER_S)
#define FOUND_NS (4 * RM_NS_PER_S)
#define MAX_LOOKED 64 /* maximum number of paths of a part that are examined */

struct other {
	const struct localise_finding *finding;
	rm_mono_t now;
};

static bool
is_other_named(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	const struct other *other = arg;

	return s->reported_at.ns != 0 && !s->slow &&
	       rm_mono_since(other->now, s->reported_at) <= LATELY_NS &&
	       !localise_part_same(&s->part, &other->finding->part) &&
	       localise_part_on(&s->part, path);
}

/* True: another part that is named, or was until recently, is on this path. */
static bool
is_on_other_named(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_path *path,
    rm_mono_t now)
{
	struct other other = { finding, now };

	return localise_at_node_any(standings, path, is_other_named, &other);
}

/* True: another part that is named, or was until recently, shares a lossy path with
 * this one: one second does not show which of the two causes the losses. For a dead
 * link it must share most of the lossy paths. */
static bool
overlaps(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_now *now)
{
	struct localise_lossy_over over =
	    localise_lossy_over(now->map, finding->suspect, now->map->lossy_count);
	const struct localise_path *path;
	const bool dead = finding->suspect->type == RM_PART_LINK && finding->is_clear &&
			  (finding->loss >= DOWN_SHARE || finding->is_dead_alone);
	size_t looked = 0, shared = 0;

	while (looked < MAX_LOOKED && (path = localise_lossy_next(&over)) != NULL) {
		looked++;
		shared += is_on_other_named(standings, finding, path, now->now);
	}
	return dead ? 2 * shared > looked : shared > 0;
}

/* True: the ToR's rack has just found a fault of its own, which may explain the losses.
 */
static bool
found_itself(const struct localise_element *tor, rm_mono_t now)
{
	return tor->found.ns != 0 && rm_mono_since(now, tor->found) < FOUND_NS;
}

/* True: several cables of the part may be dead instead. That does not matter for a
 * single link: one part is likelier than several. */
static bool
is_against_several(const struct localise_finding *finding)
{
	return finding->has_rival && finding->suspect->type != RM_PART_LINK;
}

static bool
is_crossed(const struct localise_suspect *suspect, const struct localise_path *path)
{
	for (size_t i = 0; i < suspect->element_count; i++)
		if (localise_path_crosses(path, suspect->elements[i]))
			return true;
	return false;
}

/* True: probes of the last seconds crossed the one suspect, and not the other. */
static bool
has_probes_of_its_own(const struct localise_now *now,
    const struct localise_suspect *suspect, const struct localise_suspect *other)
{
	const struct localise_element *at = suspect->elements[0];
	struct localise_sum sum = { 0 };

	for (size_t i = 0; i < at->path_count && i < MAX_LOOKED && sum.sent < 1; i++) {
		const struct localise_path *path =
		    localise_element_sample(at, MAX_LOOKED, i);

		if (!is_crossed(other, path))
			localise_path_newest(now->map, path, now->now, &sum);
	}
	return sum.sent >= 1;
}

/* True: it is "A or B" now, whole flows are lost, and the next rows may decide. */
static bool
may_be_decided(const struct localise_now *now, const struct localise_finding *finding)
{
	return now->c->by_flow && finding->others[1] == NULL &&
	       (has_probes_of_its_own(now, finding->suspect, finding->others[0]) ||
		   has_probes_of_its_own(now, finding->others[0], finding->suspect));
}

/* How long a finding of "A or B" must have been suspected before it is named. */
static int64_t
undecided_ns(
    const struct localise_now *now, const struct localise_finding *finding, bool slow)
{
	return !slow && may_be_decided(now, finding) ? DECISIVE_NS : UNDECIDED_NS;
}

bool
localise_may_report(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first, bool slow, rm_wall_t lossy_end)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);
	int64_t wait = finding->is_crowded ? CROWDED_NS
		       : finding->others[0] != NULL && !finding->has_tor
			   ? undecided_ns(now, finding, slow)
		       : (finding->has_sibling && !finding->is_dead_alone) ||
			       is_against_several(finding)
			   ? SIBLING_NS
		       : finding->is_clear ? REPORT_NS
					   : DECIDE_NS;

	/* over minutes more losses follow, which decide between the switch and its
	 * links */
	if (slow && is_against_several(finding))
		return false;
	/* The two racks are probed only by each other, and some packets arrive: each
	 * part between the two racks may be at fault. */
	if (finding->is_crowded && finding->has_tor && finding->loss < DOWN_SHARE)
		return false;
	/* A small loss of a ToR looks like the losses of one of its links that loses as
	 * many replies as probes. */
	if (!slow && rack != NULL && !rack->tor_stands && finding->loss < LOSSY_TOR)
		return false;
	if (!slow && rack != NULL && !rack->tor_stands && finding->loss < DOWN_SHARE &&
	    found_itself(finding->suspect->elements[0], now->now))
		return false;
	if (rack != NULL && rack->tor_stands)
		wait = TOR_REPORT_NS;
	else if (!slow && lossy_end.ns - first->first_end.ns < LASTING_NS)
		return false;
	/* a path, or a transit, is named last: another part may still turn out to be
	 * the cause */
	if ((finding->suspect->type == RM_PART_PATH ||
		finding->suspect->transit != NULL) &&
	    wait < DECIDE_NS)
		wait = DECIDE_NS;
	if (overlaps(standings, finding, now))
		wait += OVERLAP_NS;
	return rm_mono_since(now->now, first->since) >= wait;
}

/* Returns the usual time between two losses, in ns. For a link it is the average over
 * the whole window, because it may lose packets in bursts that are minutes apart. For a
 * switch it is the average between its first and last loss, because an older burst of a
 * switch must not hide later losses of its links. */
static double
gap_ns(const struct localise_suspect *suspect, const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->unknown;
	const int slots =
	    64 - __builtin_clzll(sum->lossy_slots) - __builtin_ctzll(sum->lossy_slots);

	return suspect->type == RM_PART_LINK
		   ? (double)LOCALISE_WINDOW_NS / lost
		   : slots * (double)LOCALISE_SLOT_NS / fmax(lost - 1, 1);
}

/* Returns whether the losses of the last minutes suffice to name the part, or to keep
 * it named. A burst of losses counts once. A fault has ended when nothing was lost for
 * several times the usual time between two losses. */
static enum localise_enough
how_much_slow(const struct localise_now *now, const struct localise_finding *finding,
    double recent, bool named)
{
	struct localise_sum sum;
	double lost, times, clean_ns;

	localise_evidence_losses(
	    now->map, finding->suspect, now->now, localise_path_slow, &sum);
	if (sum.lossy_slots == 0)
		return LOCALISE_NOTHING;
	lost = sum.forward + sum.unknown;
	times = __builtin_popcountll(sum.lossy_slots);
	clean_ns = (double)__builtin_ctzll(sum.lossy_slots) * (double)LOCALISE_SLOT_NS;
	return times >= (named ? SLOW_STILL_TIMES : SLOW_MIN_TIMES) &&
		       (named ||
			   finding->gain * fmin(times / lost, 1) >= SLOW_MIN_GAIN) &&
		       recent <= SLOW_RECENT_SHARE * lost &&
		       clean_ns <= fmax(SLOW_GAPS * gap_ns(finding->suspect, &sum),
				       (double)SLOW_OVER_NS)
		   ? LOCALISE_ENOUGH
		   : LOCALISE_NOTHING;
}

/* Returns whether the losses of a finding suffice to suspect its part, or to name it.
 * named: the part is named already. *recent: its losses of the last seconds. */
static enum localise_enough
localise_how_much(const struct localise_now *now,
    const struct localise_finding *finding, bool slow, bool named,
    struct localise_sum *recent)
{
	double lost;

	localise_evidence_losses(
	    now->map, finding->suspect, now->now, localise_path_recent, recent);
	lost = recent->forward + recent->unknown;
	if (slow)
		return how_much_slow(now, finding, lost, named);
	/* a wrong entry in a switch's tables loses all packets that use it, so the part
	 * is not named for fewer losses */
	if (finding->suspect->transit != NULL && !named &&
	    recent->newest_lost < DOWN_SHARE * recent->newest_sent)
		return LOCALISE_SUSPICIOUS;
	if (finding->gain >= MIN_GAIN && lost >= MIN_LOST &&
	    recent->newest_lost >= MIN_NEWEST_LOST && recent->older_lost >= 1 &&
	    recent->newest_lost >=
		LASTING_SHARE * fmin(recent->older_lost, recent->newest_sent))
		return LOCALISE_ENOUGH;
	return finding->gain >= SUSPECT_GAIN && lost >= SUSPECT_LOST
		   ? LOCALISE_SUSPICIOUS
		   : LOCALISE_NOTHING;
}

/* True: one dead RNIC may be the cause, which its rack needs some seconds to name.
 * Losses that only a link explains are not caused by an RNIC, with any number of flows.
 * The last RNIC of a rack that works may be dead instead of the ToR: if the rack
 * reports, its own verdict on the ToR decides. */
static bool
localise_may_be_rnic(const struct localise_map *map,
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now)
{
	const struct localise_rack *rack = localise_rack_of(map, finding);

	if (finding->suspect->type == RM_PART_PATH || finding->suspect->transit != NULL)
		return true;
	if (rack != NULL && rack->seen && !rack->tor_stands)
		return true;
	return finding->loss < DOWN_SHARE &&
	       (finding->has_tor || rm_mono_since(now, since) < RNIC_NS);
}

/* True: all losses may be those of one pair of RNICs. A path is named nevertheless
 * after RNIC_NS, because only one pair of RNICs may be probed between its racks. */
static bool
localise_may_be_one_pair(
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now)
{
	return finding->suspect->type == RM_PART_PATH &&
	       rm_mono_since(now, since) < RNIC_NS;
}

/* ---- suspicions, and reported findings ---- */

/* After a pause of this length a suspicion begins anew, and a name ends. */
#define LAPSE_NS (1500 * RM_NS_PER_MS)
#define SLOW_LAPSE_NS (6 * RM_NS_PER_S) /* the same time for losses of minutes */
/* Least fitted loss, in seconds, that changes the verdict on a part with a small loss.
 */
#define SUDDEN_LOSS 0.3
#define WAIT_NS (6 * RM_NS_PER_S)
/* How long a part that was named is remembered after it was blamed last: */
#define STALE_NS (8 * RM_NS_PER_S) /* if it lost all packets */
/* if it is a link, which may lose a share in bursts */
#define STALE_SHARE_NS (20 * RM_NS_PER_S)
/* If it is a switch that lost a share: this is shorter, so that the switch is not
 * blamed for later losses of its links. */
#define STALE_NODE_NS (7 * RM_NS_PER_S)
#define DECIDED_NS (5 * RM_NS_PER_S) /* the same flows have rows within this time */
#define FLOWS_NS (15 * RM_NS_PER_S)  /* and three times within this time */
#define LINK_LED_NS (2250 * RM_NS_PER_MS) /* the time of two more sets of rows */
/* It may be disputed for this time whether a switch or a link of it is at fault. */
#define DISPUTED_NS (10 * RM_NS_PER_S)

int
localise_standings_init(struct localise_standings *standings, size_t size)
{
	*standings = (struct localise_standings){
		.standings = calloc(size, sizeof *standings->standings), .size = size
	};
	return standings->standings != NULL ? 0 : -ENOMEM;
}

void
localise_standings_release(struct localise_standings *standings)
{
	free(standings->standings);
	free(standings->at_nodes);
	*standings = (struct localise_standings){ 0 };
}

struct localise_standing *
localise_standings_find(
    const struct localise_standings *standings, const struct rm_part *part)
{
	for (size_t i = 0; i < standings->count; i++)
		if (localise_part_same(&standings->standings[i].part, part))
			return &standings->standings[i];
	return NULL;
}

/* True: the part is named for the loss of a share. Its losses remain in the input of
 * the judge, together with all others, which blames it again as long as they last. */
static bool
loses_a_share(const struct localise_standing *s)
{
	return s->slow || s->verdict.kind == RM_KIND_LINK_LOSSY ||
	       s->verdict.kind == RM_KIND_SWITCH_LOSSY;
}

bool
localise_standings_slow(
    const struct localise_standings *standings, const struct localise_path *path)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (s->named && s->slow && localise_part_on(&s->part, path))
			return true;
	}
	return false;
}

bool
localise_standing_on(
    const struct localise_standing *s, const struct localise_path *path)
{
	return localise_part_on(&s->part, path) && localise_pairs_on(&s->pairs, path);
}

struct forget {
	const struct localise_standings *standings;
	const struct localise_standing *s;
};

static bool
is_named_on(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	(void)arg;
	return s->named && localise_standing_on(s, path);
}

static bool
is_on_named(
    const struct localise_standings *standings, const struct localise_path *path)
{
	return localise_at_node_any(standings, path, is_named_on, NULL);
}

/* Forgets losses of replies to probes over other paths, which may have been lost on the
 * part. For a link, these are the losses of all paths back. For a switch that lost all
 * packets, they are only the losses that may be lost replies, because some path of all
 * racks crosses the switch. */
static void
forget_back(const struct forget *forget, const struct localise_element *back)
{
	const struct localise_standing *s = forget->s;

	for (size_t i = 0; i < back->path_count && i < MAX_LOOKED; i++) {
		if (is_on_named(forget->standings, back->paths[i]))
			continue;
		if (s->part.type == RM_PART_LINK)
			localise_bins_forget(back->paths[i]);
		else if (s->part.type == RM_PART_SWITCH && !loses_a_share(s))
			localise_bins_forget_replies(back->paths[i]);
	}
}

static bool
forget_path(struct localise_path *path, void *arg)
{
	const struct forget *forget = arg;

	if (!localise_standing_on(forget->s, path) ||
	    is_on_named(forget->standings, path))
		return true;
	localise_bins_forget(path);
	forget_back(forget, path->pair->back);
	return true;
}

void
localise_standings_fade(
    struct localise_standings *standings, const struct localise_map *map, rm_mono_t now)
{
	for (size_t i = standings->count; i-- > 0;) {
		struct localise_standing *s = &standings->standings[i];
		const int64_t absent = rm_mono_since(now, s->seen);
		/* A part that was named is remembered until its last losses are older
		 * than the seconds that are judged. Then the minutes of its paths are
		 * forgotten, too: they must not count for the next fault of these
		 * paths. */
		const int64_t kept = s->reported_at.ns == 0         ? SLOW_LAPSE_NS
				     : !loses_a_share(s)            ? STALE_NS
				     : s->part.type == RM_PART_LINK ? STALE_SHARE_NS
								    : STALE_NODE_NS;
		struct forget forget = { standings, s };

		if (absent > (s->slow ? SLOW_LAPSE_NS : LAPSE_NS))
			s->named = false;
		if (absent <= kept)
			continue;
		if (s->reported_at.ns != 0)
			localise_part_paths(map, &s->part, forget_path, &forget);
		*s = standings->standings[--standings->count];
		localise_at_node_forget(standings);
	}
}

static bool
was_reported(const struct localise_standing *s, const struct localise_path *path,
    rm_mono_t since)
{
	return s->reported_at.ns != 0 && s->reported_at.ns >= since.ns &&
	       localise_standing_on(s, path);
}

static bool
explains(const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	const rm_mono_t *since = arg;

	return !loses_a_share(s) && was_reported(s, path, *since);
}

bool
localise_standings_explain(const struct localise_standings *standings,
    const struct localise_path *path, rm_mono_t since)
{
	return localise_at_node_any(standings, path, explains, &since);
}

struct explaining {
	bool slow;
	rm_mono_t since;
};

static bool
explains_path(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	const struct explaining *explaining = arg;

	return s->part.type != RM_PART_PATH && (explaining->slow || !s->slow) &&
	       was_reported(s, path, explaining->since);
}

bool
localise_standings_explain_path(const struct localise_standings *standings,
    const struct localise_path *path, bool slow, rm_mono_t since)
{
	struct explaining explaining = { slow, since };

	return localise_at_node_any(standings, path, explains_path, &explaining);
}

static bool
is_on_some(const struct localise_standing *s, const struct localise_element *pair,
    rm_mono_t since)
{
	for (size_t i = 0; i < pair->path_count; i++)
		if (was_reported(s, pair->paths[i], since))
			return true;
	return false;
}

bool
localise_standings_explain_between(const struct localise_standings *standings,
    const struct localise_element *pair, rm_mono_t since)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if ((s->part.type == RM_PART_LINK || s->part.type == RM_PART_SWITCH) &&
		    !loses_a_share(s) &&
		    (is_on_some(s, pair, since) || is_on_some(s, pair->back, since)))
			return true;
	}
	return false;
}

bool
localise_standings_wait(const struct localise_standings *standings, rm_mono_t now)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (!s->named && rm_mono_since(now, s->seen) < LOCALISE_JUST_NOW_NS &&
		    rm_mono_since(now, s->since) < WAIT_NS)
			return true;
	}
	return false;
}

struct localise_standing *
localise_standings_touch(struct localise_standings *standings,
    const struct rm_part *part, bool slow, const struct localise_sum *recent,
    const struct localise_now *now)
{
	struct localise_standing *s = localise_standings_find(standings, part);

	if (s == NULL) {
		if (standings->count == standings->size) {
			standings->refused++;
			return NULL;
		}
		s = &standings->standings[standings->count++];
		*s = (struct localise_standing){ .part = *part };
		localise_at_node_add(standings, now->map);
		s->seen.ns = s->decided.ns = s->led[0].ns = s->led[1].ns =
		    INT64_MIN / 2;
	}
	if (!s->named &&
	    rm_mono_since(now->now, s->seen) > (slow ? SLOW_LAPSE_NS : LAPSE_NS)) {
		s->since = now->now;
		s->first_end = recent->lossy_end;
		s->late_ns = recent->late_ns;
		s->start.ns = now->wall.ns - 2 * RM_NS_PER_S;
	}
	s->seen = now->now;
	return s;
}

/* Returns `first`, or an older suspicion of a path part with this path: a path that was
 * suspected first may turn out to be one of its elements. */
static const struct localise_standing *
earlier(const struct localise_standing *first,
    const struct localise_standings *standings, const struct localise_path *path,
    const struct localise_now *now)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (s->part.type == RM_PART_PATH && !s->named &&
		    rm_mono_since(now->now, s->seen) <= LAPSE_NS &&
		    (first == NULL || s->since.ns < first->since.ns) &&
		    localise_part_on(&s->part, path))
			first = s;
	}
	return first;
}

/* The losses of a dead link may have counted as losses of a switch at its end, before
 * rows of all racks showed that the switch forwards packets. */
static const struct localise_standing *
earlier_switch(const struct localise_standing *first,
    const struct localise_standings *standings, const struct localise_finding *finding,
    const struct localise_now *now)
{
	if (!finding->is_dead_alone || !finding->is_clear)
		return first;
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if ((s->part.type == RM_PART_SWITCH || s->part.type == RM_PART_TOR) &&
		    !s->named && rm_mono_since(now->now, s->seen) <= LAPSE_NS &&
		    (first == NULL || s->since.ns < first->since.ns) &&
		    localise_part_is_end(&finding->part, s->part.name))
			first = s;
	}
	return first;
}

/* True: the part is named for packets between pairs of racks, and all lossy paths of
 * the suspect are among these. */
static bool
explains_transit(const struct localise_standing *s,
    const struct localise_suspect *suspect, const struct localise_map *map)
{
	struct localise_lossy_over over =
	    localise_lossy_over(map, suspect, map->lossy_count);
	const struct localise_path *path;
	bool any = false;

	if (!s->named || s->pairs.count == 0)
		return false;
	while ((path = localise_lossy_next(&over)) != NULL) {
		if (!localise_standing_on(s, path))
			return false;
		any = true;
	}
	return any;
}

/* The part among the ties that is named already; or NULL. */
static const struct localise_standing *
named_among(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_map *map)
{
	const struct localise_standing *named = NULL;

	for (size_t i = 0; i < finding->tie_count; i++) {
		const struct localise_standing *s =
		    localise_standings_find(standings, &finding->ties[i]);

		if (s != NULL && s->named)
			named = s;
	}
	if (named != NULL || finding->suspect->transit == NULL)
		return named;
	for (size_t i = 0; i < standings->count && named == NULL; i++)
		if (explains_transit(&standings->standings[i], finding->suspect, map))
			named = &standings->standings[i];
	return named;
}

/* Suspects all ties. Returns the suspicion that began first, or NULL. */
static const struct localise_standing *
touch_all(struct localise_standings *standings, const struct localise_finding *finding,
    bool slow, const struct localise_sum *recent, const struct localise_now *now)
{
	struct localise_lossy_over over =
	    localise_lossy_over(now->map, finding->suspect, now->map->lossy_count);
	const struct localise_standing *first = NULL;
	const struct localise_path *path;
	size_t looked = 0;

	for (size_t i = 0; i < finding->tie_count; i++) {
		const struct localise_standing *s = localise_standings_touch(
		    standings, &finding->ties[i], slow, recent, now);

		if (s != NULL && (first == NULL || s->since.ns < first->since.ns))
			first = s;
	}
	while (looked < MAX_LOOKED && (path = localise_lossy_next(&over)) != NULL) {
		looked++;
		first = earlier(first, standings, path, now);
	}
	return earlier_switch(first, standings, finding, now);
}

/* True: the finding is "A or B" now, but the rows of the last seconds decided for one
 * of the two, and the next rows may do so again. */
static bool
was_decided(const struct localise_standings *standings,
    const struct localise_finding *finding, rm_mono_t now)
{
	const struct localise_standing *likeliest =
	    localise_standings_find(standings, &finding->ties[0]);

	return finding->others[0] != NULL && likeliest != NULL &&
	       rm_mono_since(now, likeliest->decided) < DECIDED_NS;
}

/* Returns whether a finding blamed this part alone since the suspicion began. */
static bool
was_blamed_alone(const struct localise_standings *standings, const struct rm_part *part,
    const struct localise_standing *first, rm_mono_t now)
{
	const struct localise_standing *s = localise_standings_find(standings, part);

	return s != NULL && s->decided.ns >= first->since.ns &&
	       rm_mono_since(now, s->decided) < FLOWS_NS;
}

/* Whole flows are lost, and the finding is "A or B" now. Returns the one of the two
 * that earlier rows of this suspicion blamed alone: each set of rows has only some of
 * the flows, and flows of other sets have ruled out the other one. NULL: earlier rows
 * did not decide, or not always for the same part. */
static struct localise_standing *
known_earlier(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first)
{
	const bool a = was_blamed_alone(standings, &finding->ties[0], first, now->now);
	const bool b = was_blamed_alone(standings, &finding->ties[1], first, now->now);

	if (!now->c->by_flow || finding->others[0] == NULL || finding->tie_count != 2 ||
	    a == b)
		return NULL;
	return localise_standings_find(standings, &finding->ties[a ? 0 : 1]);
}

/* True: a link that loses a share is blamed now, but its switch was blamed some seconds
 * ago: single seconds do not decide between the two. */
static bool
was_its_switch(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow, rm_mono_t now)
{
	const struct localise_element *link = finding->suspect->elements[0];

	if (!finding->loses_share || finding->suspect->type != RM_PART_LINK ||
	    finding->is_clear || rm_mono_since(now, first->since) >= DISPUTED_NS)
		return false;
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (s->part.type == RM_PART_SWITCH &&
		    rm_mono_since(now, s->led[slow]) < DECIDED_NS &&
		    (strcmp(s->part.name, link->a) == 0 ||
			strcmp(s->part.name, link->b) == 0))
			return true;
	}
	return false;
}

/* True: a ToR is blamed now, but one of its links was blamed a second or two ago. The
 * rack is connected, and would itself report a dead ToR. */
static bool
was_its_link(const struct localise_standings *standings, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);

	if (rack == NULL || rack->tor_stands || !rack->seen ||
	    rm_mono_since(now->now, first->since) >= DISPUTED_NS)
		return false;
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (rm_mono_since(now->now, s->led[false]) < LINK_LED_NS &&
		    localise_part_is_end(&s->part, rack->tor))
			return true;
	}
	return false;
}

static void
note_leader(struct localise_standings *standings, const struct rm_part *part, bool slow,
    rm_mono_t now)
{
	struct localise_standing *s = localise_standings_find(standings, part);

	if (s != NULL)
		s->led[slow] = now;
}

/* Names s, with evidence of its own. If s is only a tie of the finding now, the
 * direction and the figures of the finding's suspect would be wrong. */
static void
name_part(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow)
{
	const struct localise_suspect *mine = localise_find_tied(finding, &s->part);
	struct localise_finding own;

	if (mine == NULL || localise_part_same(&s->part, &finding->part)) {
		localise_name(s, now, finding, first, slow);
		return;
	}
	own = *finding;
	memset(own.others, 0, sizeof own.others);
	localise_find_instead(&own, mine);
	localise_name(s, now, &own, first, slow);
}

static bool
is_other_reported(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	return s != arg && s->reported_at.ns != 0 && localise_standing_on(s, path);
}

/* True: the part was named before, and its losses of the minutes may be those of the
 * old fault, whose end is not proven yet, and those of another reported part that is on
 * some of its paths. So it is named again only if paths that no other reported part is
 * on had losses often enough. */
static bool
may_be_old(const struct localise_standings *standings, const struct localise_now *now,
    const struct localise_finding *finding)
{
	struct localise_standing *s =
	    localise_standings_find(standings, &finding->part);
	struct localise_lossy_over over = localise_lossy_over(
	    now->map, finding->suspect, localise_listed(now->map, localise_path_slow));
	struct localise_sum sum = { 0 };
	struct localise_path *path;

	if (s == NULL || s->reported_at.ns == 0)
		return false;
	while ((path = localise_lossy_next(&over)) != NULL)
		if (!localise_at_node_any(standings, path, is_other_reported, s))
			localise_path_slow(now->map, path, now->now, &sum);
	return __builtin_popcountll(sum.lossy_slots) < SLOW_MIN_TIMES;
}

void
localise_standings_weigh(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding, bool slow)
{
	const struct localise_standing *named, *first;
	struct localise_standing *s, *known;
	struct rm_part part = finding->part;
	struct localise_sum recent;
	enum localise_enough much;

	/* A named part that explains the losses as well keeps its name, and the other
	 * ties are not suspected. */
	named = named_among(standings, finding, now->map);
	/* for a part that was named by seconds, the seconds show when the fault has
	 * ended */
	if (slow && named != NULL && !named->slow)
		return;
	much = localise_how_much(now, finding, slow, named != NULL, &recent);
	if (much == LOCALISE_NOTHING ||
	    (slow && named == NULL && may_be_old(standings, now, finding)))
		return;
	if (named != NULL)
		part = named->part;
	first =
	    named != NULL ? NULL : touch_all(standings, finding, slow, &recent, now);
	s = localise_standings_touch(standings, &part, slow, &recent, now);
	if (s == NULL)
		return;
	if (finding->others[0] == NULL && !finding->is_crowded)
		s->decided = now->now;
	note_leader(standings, &finding->ties[0], slow, now->now);
	if (finding->suspect->transit != NULL)
		localise_pairs_note(&s->pairs, finding->suspect, false, now->now);
	/* A few losses in one second fit a part that is named for a small loss. */
	if (!slow && s->named && s->slow &&
	    (much != LOCALISE_ENOUGH || finding->loss < SUDDEN_LOSS))
		return;
	if (!s->named) {
		first = first != NULL ? first : s;
		if (finding->minutes_contradict)
			return;
		if (was_decided(standings, finding, now->now) ||
		    was_its_switch(standings, finding, first, slow, now->now) ||
		    (!slow && was_its_link(standings, now, finding, first)))
			return;
		if (much != LOCALISE_ENOUGH ||
		    !localise_may_report(
			standings, now, finding, first, slow, recent.lossy_end))
			return;
		/* the losses may be those of one RNIC that its rack has not named yet
		 */
		if ((slow || (localise_may_be_rnic(
				  now->map, finding, first->since, now->now) &&
				 !localise_evidence_confined(now, finding->suspect))) &&
		    localise_evidence_one_rnic(now, finding, finding->suspect,
			slow ? localise_path_slow : localise_path_recent, standings,
			localise_may_be_one_pair(finding, first->since, now->now)))
			return;
		known = known_earlier(standings, now, finding, first);
		s = known != NULL ? known : s;
	}
	name_part(s, now, finding, s->named ? s : first, slow);
}

static bool
is_seen_by(const struct localise_standing *s, const struct localise_rack *rack)
{
	for (const struct localise_path *path = rack->paths; path != NULL;
	     path = path->hh.next)
		if (localise_part_on(&s->part, path))
			return true;
	return false;
}

void
localise_standings_set_back(struct localise_standings *standings,
    const struct localise_rack *rack, rm_wall_t end, int64_t by_ns)
{
	for (size_t i = 0; i < standings->count; i++) {
		struct localise_standing *s = &standings->standings[i];

		/* The time is unchanged if it is not ahead of the rack's newest rows by
		 * about by_ns: then it is from another rack's clock, or corrected
		 * already. */
		if (s->first_end.ns <= end.ns ||
		    s->first_end.ns - end.ns <= by_ns / 2 || !is_seen_by(s, rack))
			continue;
		s->first_end.ns = by_ns < s->first_end.ns ? s->first_end.ns - by_ns : 0;
	}
}

void
localise_standings_own(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_rack *rack)
{
	const struct localise_sum recent = { .lossy_end = now->wall };
	struct rm_part part = { .type = RM_PART_TOR };
	struct localise_standing *s;

	snprintf(part.name, sizeof part.name, "%s", rack->tor);
	s = localise_standings_touch(standings, &part, false, &recent, now);
	if (s == NULL || s->named || rm_mono_since(now->now, s->since) < TOR_REPORT_NS)
		return;
	s->verdict = (struct rm_verdict){
		.part = part, .kind = RM_KIND_TOR_DOWN, .confidence = 0.95
	};
	s->verdict.evidence.window_ns = 2 * RM_NS_PER_S;
	s->verdict.evidence.window_start = s->start;
	snprintf(s->verdict.evidence.observed, RM_EVIDENCE_TEXT,
	    "its own rack reports it, and no probe of another rack contradicts it%s",
	    rack->two_report
		? "; or both of its probed RNICs are dead: there is no third RNIC "
		  "to compare"
		: "");
	s->named = true;
	s->slow = false;
	s->reported_at = now->now;
}
