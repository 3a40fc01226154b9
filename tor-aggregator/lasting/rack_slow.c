#include "tor-aggregator/lasting/rack_slow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/lasting/rack_lasting.h"
#include "tor-aggregator/lasting/rack_seconds.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define SECONDS RACK_SECONDS
#define MAX_PARTS 64
#define BASE_LOSS 0.002
#define LEAST_LOSS 0.01
#define ALTERNATIVES_WITHIN 14

#define MIN_LOST 10
#define MIN_GAIN 20.0
/* Of the newest second, or it is over: so many, and this part of all. */
#define RECENT_LOST 2
#define RECENT_PART 10
#define ABSENT_SECONDS 2    /* before it is forgotten */
#define UNDECIDED_SECONDS 3 /* before it is told without a direction */

struct rack_slow {
	struct rm_judge *judge;
	struct rack_legs legs;
	struct rack_seconds *seconds;
	struct rack_support *support;
	struct rack_lasting *lasting;
	rm_wall_t wall_start; /* of the newest */
	struct rack_suspect_memory *memories;
	struct rack_tally *tallies;
	struct rack_blame blame;
	bool *witnesses;
	struct rack_slow_named named[MAX_PARTS];
	size_t named_count;
};

int
rack_slow_new(struct rack_slow **ret)
{
	const struct rm_judge_options options = {
		.base_loss = BASE_LOSS,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = MAX_PARTS,
		.least_loss = LEAST_LOSS,
	};
	struct rack_slow *slow = calloc(1, sizeof(*slow));
	int r;

	if (slow == NULL)
		return -ENOMEM;
	r = rm_judge_new(&options, &slow->judge);
	if (r == 0)
		r = rack_seconds_new(&slow->seconds);
	if (r == 0)
		r = rack_support_new(&slow->support);
	if (r == 0)
		r = rack_lasting_new(&slow->lasting);
	if (r < 0) {
		rack_slow_free(slow);
		return r;
	}
	*ret = slow;
	return 0;
}

static void
release_members(struct rack_slow *slow)
{
	free(slow->memories);
	free(slow->tallies);
	free(slow->blame.members);
	free(slow->blame.foreigners);
	free(slow->witnesses);
	slow->memories = NULL;
	slow->tallies = NULL;
	slow->blame = (struct rack_blame){ 0 };
	slow->witnesses = NULL;
}

void
rack_slow_free(struct rack_slow *slow)
{
	if (slow == NULL)
		return;
	release_members(slow);
	rack_seconds_free(slow->seconds);
	rack_support_free(slow->support);
	rack_lasting_free(slow->lasting);
	rack_legs_release(&slow->legs);
	rm_judge_free(slow->judge);
	free(slow);
}

static void
forget_memories(struct rack_slow *slow, size_t members)
{
	memset(slow->memories, 0, members * sizeof(*slow->memories));
	slow->named_count = 0;
}

int
rack_slow_forget(struct rack_slow *slow, const struct rack *rack)
{
	const size_t members = rack->member_count + 1;

	release_members(slow);
	slow->memories = calloc(members, sizeof(*slow->memories));
	slow->tallies = calloc(members, sizeof(*slow->tallies));
	slow->blame.members = calloc(members, sizeof(bool));
	slow->blame.foreigners = calloc(rack->foreigner_count + 1, sizeof(bool));
	slow->witnesses = calloc(members, sizeof(bool));
	if (slow->memories == NULL || slow->tallies == NULL ||
	    slow->blame.members == NULL || slow->blame.foreigners == NULL ||
	    slow->witnesses == NULL ||
	    rack_seconds_renumber(slow->seconds, rack->member_count) < 0 ||
	    rack_lasting_renumber(slow->lasting, rack) < 0) {
		release_members(slow);
		return -ENOMEM;
	}
	slow->named_count = 0;
	return 0;
}

/* 0: nothing, or nothing any more. */
static enum rm_kind
kind_of(const struct rack_slow *slow, const struct rack_tally *tally, size_t m,
    const struct rack_finding *finding, struct rack_suspect_memory *memory)
{
	uint64_t recent;

	if (finding->gain < MIN_GAIN || finding->other_behind < RACK_LOSS_SURE)
		return 0;
	if (rack_loss_is_mtu(tally))
		return RM_KIND_RNIC_MTU;
	/* While an MTU's first seconds are diluted by what was before. */
	memory->mtu = rack_loss_is_of_large(tally) ? memory->mtu + 1 : 0;
	if (memory->mtu > 0 && memory->mtu <= RACK_SECONDS)
		return 0;
	if (rack_loss_is_elsewhere(tally))
		return 0;
	recent = rack_seconds_newest_lost(slow->seconds, m);
	if (recent < RECENT_LOST || recent * RECENT_PART < tally->lost)
		return 0;
	if (memory->named == RM_KIND_RNIC_LOSSY)
		return RM_KIND_RNIC_LOSSY;
	return tally->lost >= MIN_LOST && rack_seconds_is_steady(slow->seconds, m)
		   ? RM_KIND_RNIC_LOSSY
		   : 0;
}

static void
name_member(struct rack_slow *slow, const struct rack *rack, size_t m,
    const struct rack_finding *finding, enum rm_kind kind)
{
	struct rack_slow_named *named = &slow->named[slow->named_count];
	const struct rack_suspect_memory *memory = &slow->memories[m];
	struct rm_evidence *evidence = &named->verdict.evidence;

	if (slow->named_count == MAX_PARTS)
		return;
	slow->named_count++;
	named->member = m;
	named->other = RACK_NO_OTHER;
	named->verdict = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.rnic = rack->members[m].id,
		.kind = kind,
		.confidence = rack_suspect_confidence(finding->other_behind),
	};
	rack_evidence_of_member(rack, &slow->legs, &slow->blame, slow->tallies, m, kind,
	    slow->witnesses, evidence);
	evidence->window_ns = SECONDS * RM_NS_PER_S;
	evidence->window_start = memory->since;
	evidence->way = memory->way;
}

static void
note_absence(struct rack_suspect_memory *memory)
{
	if (++memory->absent >= ABSENT_SECONDS)
		*memory = (struct rack_suspect_memory){ .mtu = memory->mtu };
}

static void
judge_member(struct rack_slow *slow, const struct rack *rack,
    const struct rack_view *view, const struct rm_explanation *explanation, size_t m)
{
	struct rack_suspect_memory *memory = &slow->memories[m];
	const struct rack_finding finding = rack_suspect_find(view, explanation, m);
	struct rack_tally tally = slow->tallies[m];
	const bool common = memory->named == 0 &&
			    rack_blame_is_common(&slow->blame, rack->member_count);
	const enum rm_kind kind =
	    !common && rack_support_holds(slow->support, view, m, &tally)
		? kind_of(slow, &tally, m, &finding, memory)
		: 0;

	if (kind == 0) {
		note_absence(memory);
		return;
	}
	memory->absent = 0;
	if (memory->since.ns == 0)
		memory->since = view->start;
	rack_suspect_settle_way(memory, rack_loss_way(&slow->tallies[m], kind));
	if (memory->way == RM_WAY_UNKNOWN && memory->named == 0 &&
	    ++memory->undecided < UNDECIDED_SECONDS)
		return;
	memory->named = kind;
	name_member(slow, rack, m, &finding, kind);
}

static int
judge_seconds(
    struct rack_slow *slow, const struct rack *rack, const struct window_closed *window)
{
	const struct rack_view view = { rack, &slow->legs, &slow->blame, slow->tallies,
		{ slow->wall_start.ns - (SECONDS - 1) * RM_NS_PER_S }, slow->support,
		0 };
	struct rm_explanation explanation;
	int r;

	r = rack_legs_build(&slow->legs, rack, window);
	if (r < 0)
		return r;
	for (size_t i = 0; i < rack->member_count; i++)
		if (slow->memories[i].named != 0)
			rack_legs_expect(&slow->legs, i);
	r = rm_judge_explain(slow->judge, slow->legs.elements, slow->legs.observations,
	    slow->legs.observation_count, slow->legs.candidates,
	    slow->legs.candidate_count, &explanation);
	if (r < 0)
		return r;
	rack_blame_note(&slow->blame, &slow->legs, &explanation, rack->member_count,
	    rack->foreigner_count);
	rack_evidence_tally(&slow->legs, &slow->blame, slow->tallies);
	for (size_t i = 0; i < rack->member_count; i++) {
		if (slow->blame.members[i])
			judge_member(slow, rack, &view, &explanation, i);
		else
			note_absence(&slow->memories[i]);
	}
	return 0;
}

/* What shorter windows named is told as they see it. */
static void
add_lasting(
    struct rack_slow *slow, const struct rack_slow_named *lasting, size_t lasting_count)
{
	const size_t shorter = slow->named_count;

	for (size_t i = 0; i < lasting_count && slow->named_count < MAX_PARTS; i++) {
		bool told = false;

		for (size_t k = 0; k < shorter; k++)
			told |= slow->named[k].member == lasting[i].member;
		if (!told)
			slow->named[slow->named_count++] = lasting[i];
	}
}

static int
judge_lasting(struct rack_slow *slow, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame)
{
	const struct rack_slow_named *lasting;
	size_t count;
	int r;

	for (size_t i = 0; i < slow->named_count; i++)
		rack_lasting_take(slow->lasting, &slow->named[i],
		    &slow->tallies[slow->named[i].member]);
	r = rack_lasting_judge(
	    slow->lasting, rack, second, slow->wall_start, blame, &lasting, &count);
	add_lasting(slow, lasting, count);
	return r;
}

int
rack_slow_judge(struct rack_slow *slow, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start,
    const struct rack_blame *blame, const struct rack_slow_named **ret, size_t *count)
{
	struct window_closed sum;
	int r, lasts;

	r = rack_seconds_add(slow->seconds, rack, window);
	if (r == RACK_SECONDS_PASSED) {
		*ret = slow->named;
		*count = slow->named_count;
		return 0;
	}
	slow->wall_start = window_start;
	slow->named_count = 0;
	if (r == RACK_SECONDS_FULL && rack_seconds_sum(slow->seconds, &sum))
		r = judge_seconds(slow, rack, &sum);
	else
		forget_memories(slow, rack->member_count);
	lasts = judge_lasting(slow, rack, window, blame);
	*ret = slow->named;
	*count = slow->named_count;
	return r < 0 ? r : lasts;
}
