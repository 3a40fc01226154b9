#include "analyzer/suspicion/localise_naming.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/suspicion/localise_direction.h"
#include "analyzer/suspicion/localise_evidence.h"
#include "analyzer/suspicion/localise_passage.h"

#define DEAD_SHARE 0.5 /* of the flows that lose something: they lose all */
#define EVIDENCE_NS RM_NS_PER_S
#define DOWN_SHARE 0.9 /* lost, of what lets nothing through */
#define MIN_SENT 4     /* fewer, one way, say nothing */
#define TURN_NS                                                        \
	(2500 * RM_NS_PER_MS) /* another story has to last: no partial \
				 seconds at an end */

/* Until more rows tell whether anything passes, since it came under suspicion. */
#define HOLD_NS (2750 * RM_NS_PER_MS)

struct look { /* at a switch, or at a link: there and, if it is to be told of, back */
	struct localise_passed passed[2];
	size_t count, first, last; /* looked at; told */
	struct localise_directed link;
};

const struct localise_rack *
localise_rack_of(const struct localise_map *map, const struct localise_finding *finding)
{
	if (finding->suspect->type != RM_PART_TOR || finding->other != NULL)
		return NULL;
	return localise_map_find_rack(map, finding->suspect->elements[0]->a);
}

/* The one direction that is told of a link, or both; of a switch, the first is all. */
static void
pick(struct look *look)
{
	const enum localise_passage there = look->passed[0].passage,
				    back = look->passed[1].passage;

	look->first = 0;
	look->last = look->count - 1;
	if (look->count < 2)
		return;
	if (look->link.direction != LOCALISE_THERE &&
	    look->link.direction != LOCALISE_BACK) {
		/* Of a link that is dead but one way, that way is told. */
		if (there == LOCALISE_CLOSED && back == LOCALISE_PASSES)
			look->link.direction = LOCALISE_THERE;
		if (back == LOCALISE_CLOSED && there == LOCALISE_PASSES)
			look->link.direction = LOCALISE_BACK;
	}
	if (look->link.direction == LOCALISE_THERE)
		look->last = 0;
	if (look->link.direction == LOCALISE_BACK)
		look->first = 1;
}

static void
look_at(struct look *look, const struct localise_now *now,
    const struct localise_suspect *suspect, rm_wall_t since)
{
	*look = (struct look){ .count = 1 };
	if (suspect->type == RM_PART_PATH)
		return;
	localise_passage_see(suspect->elements[0], now->now, since, &look->passed[0]);
	if (suspect->type != RM_PART_LINK)
		return;
	localise_direction_see(now->map, suspect, now->now, &look->link);
	if (look->link.back == NULL ||
	    (suspect->element_count == 1 && look->link.direction != LOCALISE_BACK))
		return;
	localise_passage_see(look->link.back, now->now, since, &look->passed[1]);
	look->count = 2;
	pick(look);
}

/* What is known of few flows, or of few seconds, is not known any better for now. */
static void
settle(struct localise_passed *passed, const struct localise_sum *traffic)
{
	if (passed->passage == LOCALISE_UNDECIDED)
		passed->passage =
		    passed->dead >= 1 || (passed->window_ns == 0 &&
					     traffic->newest_sent >= MIN_SENT &&
					     traffic->newest_lost >=
						 DOWN_SHARE * traffic->newest_sent)
			? LOCALISE_CLOSED
			: LOCALISE_PASSES;
}

/* All that is told of it lets nothing pass, or something, or may be either. */
static enum localise_passage
passage_of(const struct look *look)
{
	enum localise_passage ret = LOCALISE_CLOSED;

	for (size_t i = look->first; i <= look->last; i++)
		if (look->passed[i].passage < ret)
			ret = look->passed[i].passage;
	return ret;
}

static enum rm_kind
kind_of(enum rm_part_type type, const struct localise_sum *traffic, bool slow,
    bool is_closed)
{
	if (type == RM_PART_PATH)
		return RM_KIND_PATH_LOSSY;
	if (type == RM_PART_TOR)
		return RM_KIND_TOR_DOWN;
	if (is_closed)
		return type == RM_PART_LINK ? RM_KIND_LINK_DOWN : RM_KIND_SWITCH_DOWN;
	if (!slow && traffic->dead > 0 && traffic->dead >= DEAD_SHARE * traffic->hit)
		return RM_KIND_FLOWS_BLACKHOLED;
	return type == RM_PART_LINK ? RM_KIND_LINK_LOSSY : RM_KIND_SWITCH_LOSSY;
}

static double
confidence(const struct localise_finding *finding)
{
	const double p = 1 / (1 + exp(-finding->behind));

	if (finding->is_crowded)
		return 0.5;
	if (finding->suspect->type == RM_PART_PATH)
		return 0.8;
	return p < 0.99 ? p : 0.99;
}

static void
say_tor(const struct localise_rack *rack, struct rm_evidence *evidence)
{
	if (rack == NULL)
		return;
	if (rack->tor_stands && !rack->mesh_fails)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "what stays in the rack arrives, what leaves or enters it does "
		    "not: all its uplinks");
	else if (rack->tor_stands)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "its own rack says so too");
	else if (!rack->heard)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "nothing is heard of its rack either");
}

/* A switch that is a ToR keeps the name it was first given: down, or one of many. */
static enum rm_part_type
type_of(const struct localise_standing *s, const struct localise_finding *finding,
    const struct localise_rack *rack, const struct localise_sum *traffic, bool slow)
{
	if (s->named)
		return s->verdict.part.type;
	if (finding->suspect->type == RM_PART_TOR &&
	    (rack == NULL || !rack->tor_stands) &&
	    (slow || traffic->newest_lost < DOWN_SHARE * traffic->newest_sent))
		return RM_PART_SWITCH;
	return finding->suspect->type;
}

/* What is told of it, once told, changes when another kind has been seen for a while.
 */
static enum rm_kind
turn(struct localise_standing *s, enum rm_kind kind, rm_mono_t now)
{
	if (!s->named || kind == s->verdict.kind) {
		s->turn = kind;
		s->turn_at = now;
		return kind;
	}
	if (kind != s->turn) {
		s->turn = kind;
		s->turn_at = now;
	}
	return rm_mono_since(now, s->turn_at) >= TURN_NS ? kind : s->verdict.kind;
}

/* Of what carries nothing, since it does. */
static void
fill_closed(const struct look *look, struct rm_evidence *evidence)
{
	double sent = 0, lost = 0;
	int64_t window_ns = 0;

	for (size_t i = look->first; i <= look->last; i++) {
		const struct localise_passed *passed = &look->passed[i];

		sent += passed->sent;
		lost += passed->lost + passed->lost_replies;
		if (window_ns < passed->window_ns)
			window_ns = passed->window_ns;
	}
	if (window_ns == 0)
		return;
	evidence->window_ns = window_ns;
	evidence->to_part.sent = (uint64_t)round(sent);
	evidence->to_part.arrived = (uint64_t)round(fmax(sent - lost, 0));
}

/* What is told of a link one way counts that alone. */
static void
fill(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct look *look, bool slow)
{
	struct rm_evidence *evidence = &s->verdict.evidence;
	struct localise_suspect told = *finding->suspect;

	if (told.type == RM_PART_LINK && look->first == look->last)
		told = (struct localise_suspect){ RM_PART_LINK,
			{ look->first == 0 ? told.elements[0] : look->link.back }, 1 };
	evidence->window_ns = slow ? LOCALISE_WINDOW_NS : 2 * RM_NS_PER_S;
	evidence->window_start =
	    slow ? (rm_wall_t){ now->wall.ns - LOCALISE_WINDOW_NS } : s->start;
	if (told.type == RM_PART_LINK)
		localise_direction_say(&look->link, evidence->observed);
	localise_evidence_fill(now->map, finding, &told,
	    slow ? localise_way_slow : localise_way_recent, now->now, evidence);
	if (!slow && passage_of(look) == LOCALISE_CLOSED)
		fill_closed(look, evidence);
}

/* The kind as it is seen now; false: not yet known. */
static bool
see_kind(struct look *look, const struct localise_standing *first,
    const struct localise_now *now, enum rm_part_type type,
    const struct localise_sum *traffic, bool slow, enum rm_kind *ret)
{
	const bool may_close =
	    !slow && (type == RM_PART_LINK || type == RM_PART_SWITCH);

	if (may_close && passage_of(look) == LOCALISE_UNDECIDED) {
		if (rm_mono_since(now->now, first->since) < HOLD_NS)
			return false;
		for (size_t i = 0; i < look->count; i++)
			settle(&look->passed[i], traffic);
		pick(look);
	}
	*ret = kind_of(
	    type, traffic, slow, may_close && passage_of(look) == LOCALISE_CLOSED);
	return true;
}

void
localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);
	struct localise_sum traffic;
	enum rm_part_type type;
	struct look look;
	enum rm_kind kind;

	if (s->named && rm_mono_since(now->now, s->told) < EVIDENCE_NS)
		return;
	localise_evidence_traffic(
	    now->map, finding->suspect, localise_way_recent, now->now, &traffic);
	type = type_of(s, finding, rack, &traffic, slow);
	look_at(&look, now, finding->suspect, first->first_end);
	if (!see_kind(&look, first, now, type, &traffic, slow, &kind))
		return;
	s->told = now->now;
	s->slow = s->named ? s->slow && slow : slow;
	/* Figures of one kind do not go with the sentence of another. */
	if (turn(s, kind, now->now) != kind)
		return;
	s->verdict = (struct rm_verdict){ .part = s->part,
		.kind = kind,
		.confidence = s->named
				  ? fmax(s->verdict.confidence, confidence(finding))
				  : confidence(finding) };
	s->verdict.part.type = type;
	fill(s, now, finding, &look, slow);
	if (type == RM_PART_TOR)
		say_tor(rack, &s->verdict.evidence);
	s->named = true;
}
