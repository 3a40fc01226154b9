#include "tor-aggregator/lasting/rack_slow.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/lasting/rack_alone.h"
#include "tor-aggregator/lasting/rack_excuse.h"
#include "tor-aggregator/lasting/rack_lasting.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/pair_table.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

struct rack;
struct rack_seconds;
struct window_closed;

#define RACK_SECONDS RACK_COURSE_SECONDS

enum rack_seconds_status {
	/* not added: the window overlaps a second that was added before */
	RACK_SECONDS_PASSED,
	RACK_SECONDS_FEW, /* added, but there are fewer than RACK_SECONDS yet */
	RACK_SECONDS_FULL,
};

#define MAX_PAIRS 131072

struct rack_seconds {
	struct pair_table ring[RACK_SECONDS], sum;
	/* Seconds like those of the ring above, but of probes that stalled hosts sent
	 * (RACK_PAIR_STALLED). */
	struct pair_table stalled_ring[RACK_SECONDS], stalled_sum;
	bool lossy[RACK_SECONDS]; /* packets were lost in this second */
	/* The number of valid seconds in the ring, and the index of the next one. */
	unsigned known, next;
	rm_mono_t end;               /* end of the newest second; ns 0: there is none */
	struct rack_course *courses; /* by member */
	size_t members;
};

static int
rack_seconds_new(struct rack_seconds **ret)
{
	struct rack_seconds *seconds = calloc(1, sizeof(*seconds));

	if (seconds == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < RACK_SECONDS; i++) {
		pair_table_init(&seconds->ring[i], MAX_PAIRS);
		pair_table_init(&seconds->stalled_ring[i], MAX_PAIRS);
	}
	pair_table_init(&seconds->sum, MAX_PAIRS);
	pair_table_init(&seconds->stalled_sum, MAX_PAIRS);
	*ret = seconds;
	return 0;
}

static void
rack_seconds_free(struct rack_seconds *seconds)
{
	if (seconds == NULL)
		return;
	for (size_t i = 0; i < RACK_SECONDS; i++) {
		pair_table_release(&seconds->ring[i]);
		pair_table_release(&seconds->stalled_ring[i]);
	}
	pair_table_release(&seconds->sum);
	pair_table_release(&seconds->stalled_sum);
	free(seconds->courses);
	free(seconds);
}

static void
begin_afresh(struct rack_seconds *seconds, rm_mono_t end)
{
	for (size_t i = 0; i < RACK_SECONDS; i++) {
		pair_table_clear(&seconds->ring[i]);
		pair_table_clear(&seconds->stalled_ring[i]);
	}
	memset(seconds->courses, 0, seconds->members * sizeof(*seconds->courses));
	seconds->known = seconds->next = 0;
	seconds->end = end;
}

/* Deletes all seconds, because the members have changed. Returns 0 or -ENOMEM. */
static int
rack_seconds_renumber(struct rack_seconds *seconds, size_t members)
{
	struct rack_course *courses = calloc(members + 1, sizeof(*courses));

	if (courses == NULL)
		return -ENOMEM;
	free(seconds->courses);
	seconds->courses = courses;
	seconds->members = members;
	begin_afresh(seconds, (rm_mono_t){ 0 });
	return 0;
}

static int
add_stalled(struct pair_table *second, const struct window_pair *stalled)
{
	struct window_pair *to = pair_table_get(second, stalled->src, stalled->dst);

	if (to == NULL)
		return -ENOMEM;
	*to = *stalled;
	return 0;
}

static int
add_second(struct rack_seconds *seconds, const struct rack *rack,
    const struct window_closed *window)
{
	struct pair_table *second = &seconds->ring[seconds->next];
	struct pair_table *stalled_second = &seconds->stalled_ring[seconds->next];
	bool *lossy = &seconds->lossy[seconds->next];

	pair_table_clear(second);
	pair_table_clear(stalled_second);
	*lossy = false;
	seconds->next = (seconds->next + 1) % RACK_SECONDS;
	for (size_t i = 0; i < seconds->members; i++)
		rack_course_begin_second(&seconds->courses[i]);
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *from = &window->pairs[i];
		struct rack_pair pairs[RACK_PAIR_SIZES];
		const size_t sizes = rack_pair_read(rack, from, pairs);
		struct window_pair *to;

		if (rack_pair_use(rack, from) == RACK_PAIR_STALLED &&
		    add_stalled(stalled_second, from) < 0)
			return -ENOMEM;
		if (sizes == 0)
			continue;
		to = pair_table_get(second, from->src, from->dst);
		if (to == NULL)
			return -ENOMEM;
		*to = *from;
		*lossy = *lossy || from->outcomes[WIRE_NO_REPLY] > 0;
		for (size_t k = 0; k < sizes; k++) {
			rack_course_add(&seconds->courses[pairs[k].src], &pairs[k]);
			if (!pairs[k].remote)
				rack_course_add(
				    &seconds->courses[pairs[k].dst], &pairs[k]);
		}
	}
	if (seconds->known < RACK_SECONDS)
		seconds->known++;
	return 0;
}

/* Adds a window of one second, if it does not overlap the last one: windows move by
 * less than a second. Returns an enum rack_seconds_status, or -ENOMEM: then the second
 * is incomplete. */
static int
rack_seconds_add(struct rack_seconds *seconds, const struct rack *rack,
    const struct window_closed *window)
{
	if (window->partial) {
		begin_afresh(seconds, window->end);
		return RACK_SECONDS_FEW;
	}
	if (seconds->end.ns != 0 && window->start.ns < seconds->end.ns)
		return RACK_SECONDS_PASSED;
	if (window->start.ns != seconds->end.ns)
		begin_afresh(seconds, window->end);
	seconds->end = window->end;
	if (add_second(seconds, rack, window) < 0)
		return -ENOMEM;
	return seconds->known == RACK_SECONDS ? RACK_SECONDS_FULL : RACK_SECONDS_FEW;
}

static void
sum_large(struct window_large *to, const struct window_large *from)
{
	to->answered += from->answered;
	to->lost += from->lost;
	to->failed += from->failed;
	to->newest_sent += from->newest_sent;
	to->newest_lost += from->newest_lost;
	if (from->bytes > to->bytes)
		to->bytes = from->bytes;
	if (from->small_bytes > to->small_bytes)
		to->small_bytes = from->small_bytes;
}

static bool
sum_second(struct pair_table *sum, const struct pair_table *second)
{
	for (size_t i = 0; i < second->count; i++) {
		const struct window_pair *from = &second->pairs[i];
		const size_t before = sum->count;
		struct window_pair *to = pair_table_get(sum, from->src, from->dst);

		if (to == NULL)
			return false;
		if (sum->count > before)
			to->counted = true;
		for (int k = 0; k < WIRE_OUTCOMES; k++)
			to->outcomes[k] += from->outcomes[k];
		to->kind = from->kind;
		to->newest_sent += from->newest_sent;
		to->newest_lost += from->newest_lost;
		to->arrived += from->arrived;
		to->counted = to->counted && from->counted;
		sum_large(&to->large, &from->large);
	}
	return true;
}

/* Sums up the seconds. False: no packet was lost, or out of memory. *ret and *stalled
 * are valid until the next call. */
static bool
rack_seconds_sum(struct rack_seconds *seconds, struct window_closed *ret,
    struct window_closed *stalled)
{
	bool lost = false;

	pair_table_clear(&seconds->sum);
	pair_table_clear(&seconds->stalled_sum);
	for (size_t s = 0; s < RACK_SECONDS; s++)
		lost = lost || seconds->lossy[s];
	if (!lost)
		return false;
	for (size_t s = 0; s < RACK_SECONDS; s++)
		if (!sum_second(&seconds->sum, &seconds->ring[s]) ||
		    !sum_second(&seconds->stalled_sum, &seconds->stalled_ring[s]))
			return false;
	*ret = (struct window_closed){
		.start = rm_mono_add(seconds->end, -RACK_SECONDS * RM_NS_PER_S),
		.end = seconds->end,
		.pairs = seconds->sum.pairs,
		.pair_count = seconds->sum.count,
	};
	*stalled = *ret;
	stalled->pairs = seconds->stalled_sum.pairs;
	stalled->pair_count = seconds->stalled_sum.count;
	return true;
}

#define SECONDS RACK_SECONDS
#define MAX_PARTS 64
#define BASE_LOSS 0.002
#define LEAST_LOSS 0.01
#define ALTERNATIVES_WITHIN 14

#define MIN_LOST 10
#define MIN_GAIN 20.0
/* A loss continues if the newest second has at least RECENT_LOST losses, and at least
 * 1/RECENT_PART of the losses of all seconds. */
#define RECENT_LOST 2
#define RECENT_PART 10
/* seconds without the loss after which a member is not suspected any more */
#define ABSENT_SECONDS 2
/* seconds after which the loss is reported without a direction */
#define UNDECIDED_SECONDS 3
/* Verdicts of rack_lasting whose flows are examined each second. If a common part loses
 * flows of more RNICs, none of these RNICs is named. */
#define MAX_LOOKED 2
/* Seconds without the loss after which the last working RNIC is not suspected. */
#define ALONE_SECONDS 5

struct rack_alone {    /* state of a member, see rack_alone.h */
	unsigned left; /* seconds left of ALONE_SECONDS; 0: it is not named */
	rm_wall_t since;
};

struct rack_slow {
	struct rm_judge *judge;
	struct rack_legs legs;
	struct rack_seconds *seconds;
	struct rack_support *support;
	struct rack_lasting *lasting;
	rm_wall_t wall_start; /* when the newest second began */
	struct rack_suspect_memory *memories;
	struct rack_alone *alone; /* one per member */
	struct rack_tally *tallies;
	struct rack_blame blame;
	bool *witnesses;
	/* one per member: number of seconds of the window that may contain a stutter of
	 * its host */
	unsigned *unsteady;
	size_t unsteady_count; /* number of members for which `unsteady` is not 0 */
	bool *not_lasting;     /* members that rack_lasting does not count */
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
	free(slow->alone);
	free(slow->tallies);
	free(slow->blame.members);
	free(slow->blame.remotes);
	free(slow->witnesses);
	free(slow->unsteady);
	free(slow->not_lasting);
	slow->unsteady = NULL;
	slow->not_lasting = NULL;
	slow->memories = NULL;
	slow->alone = NULL;
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
	memset(slow->alone, 0, members * sizeof(*slow->alone));
	slow->named_count = 0;
}

int
rack_slow_forget(struct rack_slow *slow, const struct rack *rack)
{
	const size_t members = rack->member_count + 1;

	release_members(slow);
	slow->memories = calloc(members, sizeof(*slow->memories));
	slow->alone = calloc(members, sizeof(*slow->alone));
	slow->tallies = calloc(members, sizeof(*slow->tallies));
	slow->blame.members = calloc(members, sizeof(bool));
	slow->blame.remotes = calloc(rack->remote_count + 1, sizeof(bool));
	slow->witnesses = calloc(members, sizeof(bool));
	slow->unsteady = calloc(members, sizeof(*slow->unsteady));
	slow->not_lasting = calloc(members, sizeof(bool));
	slow->unsteady_count = 0;
	if (slow->memories == NULL || slow->alone == NULL || slow->tallies == NULL ||
	    slow->blame.members == NULL || slow->blame.remotes == NULL ||
	    slow->witnesses == NULL || slow->unsteady == NULL ||
	    slow->not_lasting == NULL ||
	    rack_seconds_renumber(slow->seconds, rack->member_count) < 0 ||
	    rack_lasting_renumber(slow->lasting, rack) < 0) {
		release_members(slow);
		return -ENOMEM;
	}
	slow->named_count = 0;
	return 0;
}

static void
note_unsteady(struct rack_slow *slow, const struct rack *rack, const bool *unsteady)
{
	slow->unsteady_count = 0;
	for (size_t i = 0; i < rack->member_count; i++) {
		if (unsteady[i])
			slow->unsteady[i] = RACK_SECONDS;
		else if (slow->unsteady[i] > 0)
			slow->unsteady[i]--;
		slow->unsteady_count += slow->unsteady[i] > 0;
	}
}

/* True: the host of the member stuttered, or most hosts did. */
static bool
stutters(const struct rack_slow *slow, size_t m, size_t members)
{
	return slow->unsteady[m] > 0 || 2 * slow->unsteady_count > members;
}

/* True: the newest second shows the loss, too. */
static bool
continues(const struct rack_slow *slow, const struct rack_tally *tally, size_t m)
{
	const uint64_t recent = rack_course_newest_lost(&slow->seconds->courses[m]);

	return recent >= RECENT_LOST && recent * RECENT_PART >= tally->lost;
}

/* True: another blamed member was dead for half a second or more. */
static bool
peer_had_outage(const struct rack_slow *slow, size_t m, size_t members)
{
	for (size_t i = 0; i < members; i++)
		if (i != m && slow->blame.members[i] &&
		    rack_course_has_outage(&slow->seconds->courses[i]))
			return true;
	return false;
}

/* Returns the kind of the fault. 0: there is no fault, or it is over. */
static enum rm_kind
kind_of(const struct rack_slow *slow, const struct rack *rack,
    const struct rack_tally *tally, size_t m, const struct rack_finding *finding,
    struct rack_suspect_memory *memory)
{
	const struct rack_excuse_facts facts = {
		.rack = rack,
		.member = m,
		.tally = tally,
		.course = &slow->seconds->courses[m],
		.stutters = stutters(slow, m, rack->member_count),
		.named = memory->named == RM_KIND_RNIC_LOSSY,
		.peer_outage = peer_had_outage(slow, m, rack->member_count),
	};

	if (finding->gain < MIN_GAIN || finding->other_behind < RACK_LOSS_SURE)
		return 0;
	if (rack_loss_is_mtu(tally))
		return RM_KIND_RNIC_MTU;
	/* In the first seconds of an MTU fault the window still includes time before
	 * the fault. So this waits for more seconds. */
	memory->mtu = rack_loss_is_of_large(tally) ? memory->mtu + 1 : 0;
	if (memory->mtu > 0 && memory->mtu <= RACK_SECONDS)
		return 0;
	if (!continues(slow, tally, m) || (!facts.named && tally->lost < MIN_LOST))
		return 0;
	return rack_excuse_find(&facts) == RACK_EXCUSE_NONE ? RM_KIND_RNIC_LOSSY : 0;
}

/* Adds a verdict on a member, without its RNIC and direction; NULL: no room for more.
 */
static struct rack_slow_named *
add_named(struct rack_slow *slow, const struct rack *rack, size_t m, size_t other,
    enum rm_kind kind, double behind)
{
	struct rack_slow_named *named = &slow->named[slow->named_count];

	if (slow->named_count == MAX_PARTS)
		return NULL;
	slow->named_count++;
	named->member = m;
	named->other = other;
	named->verdict = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.kind = kind,
		.confidence = rack_suspect_confidence(behind),
	};
	rack_evidence_of_member(rack, &slow->legs, &slow->blame, slow->tallies, m, kind,
	    slow->witnesses, &named->verdict.evidence);
	named->verdict.evidence.window_ns = SECONDS * RM_NS_PER_S;
	return named;
}

static void
name_member(struct rack_slow *slow, const struct rack *rack, size_t m,
    const struct rack_finding *finding, enum rm_kind kind)
{
	struct rack_slow_named *named =
	    add_named(slow, rack, m, RACK_NO_OTHER, kind, finding->other_behind);

	if (named == NULL)
		return;
	named->verdict.rnic = rack->members[m].id;
	named->verdict.evidence.window_start = slow->memories[m].since;
	named->verdict.evidence.direction = slow->memories[m].direction;
}

/* Names the last working RNIC of the rack, or its ToR, while packets are lost. */
static void
judge_alone(struct rack_slow *slow, const struct rack_view *view, size_t m)
{
	struct rack_alone *alone = &slow->alone[m];
	struct rack_slow_named *named;

	if (slow->memories[m].named != 0 ||
	    !rack_alone_is(slow->tallies, view->rack->member_count, m)) {
		alone->left = 0;
		return;
	}
	if (!stutters(slow, m, view->rack->member_count) &&
	    rack_alone_loses(
		view->rack, m, &slow->seconds->courses[m], alone->left > 0)) {
		if (alone->left == 0)
			alone->since = view->start;
		alone->left = ALONE_SECONDS;
	} else if (alone->left > 0) {
		alone->left--;
	}
	if (alone->left == 0)
		return;
	named = add_named(
	    slow, view->rack, m, RACK_OTHER_TOR, RM_KIND_RNIC_LOSSY, RACK_LOSS_SURE);
	if (named == NULL)
		return;
	named->verdict.evidence.window_start = alone->since;
	snprintf(named->verdict.evidence.observed,
	    sizeof(named->verdict.evidence.observed),
	    "no other RNIC of the rack works, so no probe tells which of the two; all "
	    "flows to other racks lose packets at the same rate");
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
	const bool common =
	    memory->named == 0 &&
	    (rack_blame_is_common(&slow->blame, slow->tallies, rack->member_count) ||
		rack_loss_is_shared(&slow->legs, &slow->blame, &slow->tallies[m]));
	const enum rm_kind kind =
	    !common && rack_support_holds(slow->support, view, m, &tally)
		? kind_of(slow, rack, &tally, m, &finding, memory)
		: 0;

	if (kind == 0) {
		note_absence(memory);
		return;
	}
	memory->absent = 0;
	if (memory->since.ns == 0)
		memory->since = view->start;
	rack_suspect_settle_direction(
	    memory, rack_loss_direction(&slow->tallies[m], kind));
	if (memory->direction == RM_DIRECTION_UNKNOWN && memory->named == 0 &&
	    ++memory->undecided < UNDECIDED_SECONDS)
		return;
	memory->named = kind;
	name_member(slow, rack, m, &finding, kind);
}

static int
judge_seconds(struct rack_slow *slow, const struct rack *rack,
    const struct window_closed *sum, const struct window_closed *stalled)
{
	const struct rack_view view = { rack, &slow->legs, &slow->blame, slow->tallies,
		{ slow->wall_start.ns - (SECONDS - 1) * RM_NS_PER_S }, slow->support,
		0 };
	struct rm_explanation explanation;
	int r;

	r = rack_legs_build_sums(&slow->legs, rack, sum, stalled);
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
	    rack->remote_count);
	rack_evidence_tally(&slow->legs, &slow->blame, slow->tallies);
	for (size_t i = 0; i < rack->member_count; i++) {
		if (slow->blame.members[i])
			judge_member(slow, rack, &view, &explanation, i);
		else
			note_absence(&slow->memories[i]);
		judge_alone(slow, &view, i);
	}
	return 0;
}

/* Adds verdicts of rack_lasting on members that this window does not name, unless it
 * shows that whole flows are lost. */
static void
add_lasting(struct rack_slow *slow, const struct rack *rack,
    const struct rack_slow_named *lasting, size_t lasting_count)
{
	const size_t shorter = slow->named_count;
	unsigned looked = 0;

	for (size_t i = 0; i < lasting_count && slow->named_count < MAX_PARTS; i++) {
		bool reported = false;

		for (size_t k = 0; k < shorter; k++) {
			if (slow->named[k].member != lasting[i].member)
				continue;
			reported = true;
			/* The RNIC was lossy while others worked: not the ToR. */
			if (slow->named[k].other == RACK_OTHER_TOR &&
			    lasting[i].other == RACK_NO_OTHER)
				slow->named[k] = lasting[i];
		}
		if (!reported && (looked++ >= MAX_LOOKED ||
				     !rack_flows_are_lost(rack, lasting[i].member,
					 SECONDS * RM_NS_PER_S)))
			slow->named[slow->named_count++] = lasting[i];
	}
}

static int
judge_lasting(struct rack_slow *slow, const struct rack *rack, const bool *unsteady,
    const struct window_closed *second, const struct rack_blame *blame)
{
	const struct rack_slow_named *lasting;
	struct rack steady = *rack;
	size_t count;
	int r;

	for (size_t i = 0; i < rack->member_count; i++)
		slow->not_lasting[i] =
		    unsteady[i] || (rack->excused != NULL && rack->excused[i]);
	steady.excused = slow->not_lasting;
	for (size_t i = 0; i < slow->named_count; i++)
		if (slow->named[i].other == RACK_NO_OTHER)
			rack_lasting_take(slow->lasting, &slow->named[i],
			    &slow->tallies[slow->named[i].member]);
	r = rack_lasting_judge(
	    slow->lasting, &steady, second, slow->wall_start, blame, &lasting, &count);
	add_lasting(slow, rack, lasting, count);
	return r;
}

int
rack_slow_judge(struct rack_slow *slow, const struct rack *rack, const bool *unsteady,
    const struct window_closed *window, rm_wall_t window_start,
    const struct rack_blame *blame, const struct rack_slow_named **ret, size_t *count)
{
	struct window_closed sum, stalled;
	int r, lasts;

	r = rack_seconds_add(slow->seconds, rack, window);
	if (r == RACK_SECONDS_PASSED) {
		*ret = slow->named;
		*count = slow->named_count;
		return 0;
	}
	slow->wall_start = window_start;
	slow->named_count = 0;
	note_unsteady(slow, rack, unsteady);
	if (r == RACK_SECONDS_FULL && rack_seconds_sum(slow->seconds, &sum, &stalled))
		r = judge_seconds(slow, rack, &sum, &stalled);
	else
		forget_memories(slow, rack->member_count);
	lasts = judge_lasting(slow, rack, unsteady, window, blame);
	*ret = slow->named;
	*count = slow->named_count;
	return r < 0 ? r : lasts;
}
