#include "analyzer/localise_naming.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/localise_bins.h"
#include "analyzer/localise_evidence.h"

#define DEAD_SHARE 0.5 /* of the flows that lose something: they lose all */
#define EVIDENCE_NS RM_NS_PER_S
#define DOWN_SHARE 0.9 /* lost, of what lets nothing through */
#define MIN_SENT 4     /* fewer, one way, say nothing */
#define TURN_NS                                                        \
	(2500 * RM_NS_PER_MS) /* another story has to last: no partial \
				 seconds at an end */

const struct localise_rack *
localise_rack_of(const struct localise_map *map, const struct localise_finding *finding)
{
	if (finding->suspect->type != RM_PART_TOR || finding->other != NULL)
		return NULL;
	return localise_map_find_rack(map, finding->suspect->elements[0]->a);
}

/* Something was lost on it, and a good share passed it in a later second: it is flows
 * that die. In the very second in which it goes down, some pass first. */
static bool
is_passed(const struct localise_suspect *suspect, rm_mono_t now)
{
	rm_wall_t since = { INT64_MAX }, end;

	for (size_t i = 0; i < suspect->element_count; i++)
		for (size_t k = 0; k < suspect->elements[i]->way_count; k++)
			if (localise_way_lost_by(
				suspect->elements[i]->ways[k], now, &end) &&
			    end.ns < since.ns)
				since = end;
	for (size_t i = 0; i < suspect->element_count; i++)
		for (size_t k = 0; k < suspect->elements[i]->way_count; k++)
			if (localise_way_passes(
				suspect->elements[i]->ways[k], now, since))
				return true;
	return false;
}

static enum rm_kind
kind_of(
    enum rm_part_type type, const struct localise_sum *traffic, bool slow, bool passed)
{
	const bool down = !slow && !passed &&
			  traffic->newest_lost >= DOWN_SHARE * traffic->newest_sent;

	if (type == RM_PART_PATH)
		return RM_KIND_PATH_LOSSY;
	if (type == RM_PART_TOR)
		return RM_KIND_TOR_DOWN;
	if (down)
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

/* Nothing passes a link one way: it is down, whatever passes the other way. */
static bool
is_down_one_way(const struct localise_now *now, const struct localise_suspect *suspect)
{
	struct localise_sum traffic;

	for (size_t i = 0; suspect->type == RM_PART_LINK && i < suspect->element_count;
	     i++) {
		const struct localise_suspect way = { RM_PART_LINK,
			{ suspect->elements[i] }, 1 };

		localise_evidence_traffic(
		    now->map, &way, localise_way_recent, now->now, &traffic);
		if (traffic.newest_sent >= MIN_SENT &&
		    traffic.newest_lost >= DOWN_SHARE * traffic.newest_sent &&
		    !is_passed(&way, now->now))
			return true;
	}
	return false;
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

void
localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, bool slow)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);
	struct localise_sum traffic;
	enum rm_part_type type;
	enum rm_kind kind;

	if (s->named && rm_mono_since(now->now, s->told) < EVIDENCE_NS)
		return;
	localise_evidence_traffic(
	    now->map, finding->suspect, localise_way_recent, now->now, &traffic);
	type = type_of(s, finding, rack, &traffic, slow);
	kind = !slow && is_down_one_way(now, finding->suspect)
		   ? RM_KIND_LINK_DOWN
		   : kind_of(type, &traffic, slow,
			 type == RM_PART_LINK && is_passed(finding->suspect, now->now));
	kind = turn(s, kind, now->now);
	s->verdict = (struct rm_verdict){ .part = s->part,
		.kind = kind,
		.confidence = s->named
				  ? fmax(s->verdict.confidence, confidence(finding))
				  : confidence(finding) };
	s->verdict.part.type = type;
	s->verdict.evidence.window_ns = slow ? LOCALISE_WINDOW_NS : 2 * RM_NS_PER_S;
	s->verdict.evidence.window_start =
	    slow ? (rm_wall_t){ now->wall.ns - LOCALISE_WINDOW_NS } : s->start;
	localise_evidence_fill(now->map, finding,
	    slow ? localise_way_slow : localise_way_recent, now->now,
	    &s->verdict.evidence);
	if (type == RM_PART_TOR)
		say_tor(rack, &s->verdict.evidence);
	s->slow = s->named ? s->slow && slow : slow;
	s->named = true;
	s->told = now->now;
}
