#include "tor-aggregator/suspect/rack_suspect.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/window/rack_view.h"

#define FAILING_NEWEST_SHARE 0.9 /* least lost share of the rack's newest probes */
#define OUTSIDE_MIN 2 /* least number of probes to unblamed RNICs of other racks */
/* least number of probes of one bin, which are all lost, or all answered */
#define FIRST_MIN_NEWEST 4

/* The ln of a likelihood ratio: two parts with less than 20 to 1 are equally likely. */
#define AMBIGUOUS 3.0
#define SURE RACK_LOSS_SURE
#define CERTAIN RACK_LOSS_CERTAIN

/* Numbers of windows; there is one per bin. */
/* Windows to wait before "A or B" is reported, because the alert keeps this name. */
#define AMBIGUOUS_WINDOWS 3
/* Windows to wait, if the results of stalled hosts may still show which of the two it
 * is. */
#define PATIENT_WINDOWS 30
/* Windows to wait before an RNIC is reported as dead without a direction. */
#define UNDECIDED_WINDOWS 6
#define UNABLE_WINDOWS 2
#define MTU_WINDOWS 2
#define REFUSED_WINDOWS 40
/* An RNIC must be lossy in this many windows, so that the beginning or end of another
 * fault does not count as a lossy RNIC. */
#define LOSSY_WINDOWS 8
#define CHANGE_WINDOWS 4 /* windows until a reported kind or direction changes */
#define ABSENT_WINDOWS 8 /* windows until a named RNIC is forgotten */
/* Number of windows for which an RNIC stays named while its host is stalled, because
 * its results are delayed. */
#define STALLED_WINDOWS 16

#define LOSSY_MIN_GAIN 20.0
/* Before an RNIC is named as lossy, its flows in this time are examined. */
#define FLOWS_NS (2 * RM_NS_PER_S)

/* After a gap, an RNIC works if at least so many of its newest probes are answered, and
 * at most this share is lost. */
#define WORKS_MIN_NEWEST 4
#define WORKS_LOST 0.1

static double
smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Finds what could be at fault instead of this blamed part of the member `mine`. Other
 * parts of the same member are no alternatives, because the direction is decided
 * separately. */
static struct rack_finding
weigh_alternatives(
    const struct rack_view *view, const struct rm_blamed *part, size_t mine)
{
	struct rack_finding finding = {
		.member = mine,
		.gain = part->gain,
		.other_behind = CERTAIN,
		.third_behind = CERTAIN,
		.other = RACK_NO_OTHER,
	};

	for (size_t i = 0; i < part->alternative_count; i++) {
		const struct rm_alternative *a = &part->alternatives[i];
		enum rack_direction direction;
		size_t member;
		const bool is_rnic =
		    rack_legs_is_member(view->legs, a->candidate, &member, &direction);

		if (is_rnic && member == mine)
			continue;
		finding.other_behind = smaller(finding.other_behind, a->behind);
		if (a->behind <= AMBIGUOUS && is_rnic &&
		    (finding.other == RACK_NO_OTHER || finding.other == member)) {
			finding.other = member;
			continue;
		}
		finding.many_others |= a->behind <= AMBIGUOUS;
		finding.third_behind = smaller(finding.third_behind, a->behind);
	}
	return finding;
}

/* If several parts of the member are blamed, returns the alternatives of the part whose
 * alternatives are least likely, and the highest gain of all these parts. */
struct rack_finding
rack_suspect_find(const struct rack_view *view,
    const struct rm_explanation *explanation, size_t member)
{
	struct rack_finding finding = { .other_behind = -1 };
	double gain = 0;

	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct rm_blamed *part = &explanation->parts[i];
		struct rack_finding of_part;
		enum rack_direction direction;
		size_t m;

		if (!rack_legs_is_member(view->legs, part->candidate, &m, &direction) ||
		    m != member)
			continue;
		of_part = weigh_alternatives(view, part, member);
		gain = fmax(gain, part->gain);
		if (of_part.other_behind > finding.other_behind)
			finding = of_part;
	}
	finding.gain = gain;
	return finding;
}

static bool
is_share(uint64_t part, uint64_t of, double low, double high)
{
	return (double)part >= low * (double)of && (double)part <= high * (double)of;
}

double
rack_suspect_confidence(double behind)
{
	const double p = 1 / (1 + exp(-behind));

	return p < 0.99 ? p : 0.99;
}

/* Returns the number of members from or to which probes were sent, or which could not
 * send their probes. */
static size_t
count_probed(const struct rack_view *view)
{
	size_t probed = 0;

	for (size_t i = 0; i < view->legs->members; i++)
		probed += view->tallies[i].sent + view->tallies[i].send_failed > 0;
	return probed;
}

/* True: the host is stalled or restarts, and will send more results soon. */
static bool
reports_soon(enum host_state state)
{
	return state == HOST_STALLED || state == HOST_RESTARTING;
}

/* True: the host of another member is stalled or restarts. Its results are missing in
 * this window, but will come soon. */
static bool
others_report_soon(const struct rack_view *view, size_t member)
{
	const struct rack *rack = view->rack;

	for (size_t i = 0; i < rack->member_count; i++)
		if (i != member &&
		    reports_soon(rack->hosts[rack->members[i].host_index].state))
			return true;
	return false;
}

/* Returns the ln of the prior probability that all blamed parts are at fault at once.
 * An RNIC counts once, whether both its directions are one blamed part or two. */
static double
prior_of(const struct rack_view *view, const struct rm_explanation *explanation)
{
	double sum = 0;

	for (size_t i = 0; i < explanation->part_count; i++) {
		const size_t candidate = explanation->parts[i].candidate;
		enum rack_direction direction, other_direction;
		size_t member, other;
		bool again = false;

		if (rack_legs_is_member(view->legs, candidate, &member, &direction))
			for (size_t k = 0; k < i; k++)
				again |= rack_legs_is_member(view->legs,
					     explanation->parts[k].candidate, &other,
					     &other_direction) &&
					 other == member;
		if (!again)
			sum += view->legs->candidates[candidate].log_prior;
	}
	return sum;
}

/* True: at least half of the member's newest probes to RNICs of other racks that are
 * not blamed are answered, so the ToR works. Not all of them have to be: hosts in other
 * racks may be stalled. */
static bool
reaches_outside(const struct rack_tally *tally)
{
	return tally->unblamed_sent >= OUTSIDE_MIN &&
	       tally->unblamed_newest_answered > 0 &&
	       2 * tally->unblamed_newest_answered >= tally->unblamed_newest_sent;
}

/* True: the member was dead before the window, by a verdict or because it failed while
 * another RNIC worked. */
static bool
is_known_dead(const struct rack_suspect_memory *memory)
{
	return memory->named == RM_KIND_RNIC_DOWN ||
	       memory->named == RM_KIND_RNIC_SEND_DEAD ||
	       memory->named == RM_KIND_RNIC_RECEIVE_DEAD || memory->died_first;
}

/* True: the members that are not known to be dead have enough probes out of the rack in
 * all, and more of the newest ones are answered than if the ToR were dead: the ToR
 * forwards. The losses of members that are known to be dead say nothing about the ToR,
 * but there may be so many that they hide this. */
static bool
forwards(const struct rack_view *view, const struct rack_suspect_memory *memories)
{
	uint64_t sent = 0, answered = 0;

	for (size_t i = 0; i < view->legs->members; i++) {
		if (is_known_dead(&memories[i]))
			continue;
		sent += view->tallies[i].unblamed_newest_sent;
		answered += view->tallies[i].unblamed_newest_answered;
	}
	return sent >= OUTSIDE_MIN &&
	       !is_share(sent - answered, sent, FAILING_NEWEST_SHARE, 1);
}

enum rack_state
rack_suspect_tor(const struct rack_view *view, const struct rm_explanation *explanation,
    const struct rack_suspect_memory *memories)
{
	struct rack_tally all = { 0 };

	if (explanation->part_count == 0 || count_probed(view) < 2 ||
	    forwards(view, memories))
		return RACK_WORKS;
	for (size_t i = 0; i < view->legs->members; i++) {
		const struct rack_tally *tally = &view->tallies[i];

		if (reaches_outside(tally))
			return RACK_WORKS;
		all.sent += tally->sent;
		all.lost += tally->lost;
		all.newest_sent += tally->newest_sent;
		all.newest_lost += tally->newest_lost;
		all.small_sent += tally->small_sent;
		all.small_lost += tally->small_lost;
		all.send_failed += tally->send_failed;
	}
	/* If nothing works any more, the ToR explains that as well as all RNICs
	 * together: the prior decides. */
	if (!is_share(all.newest_lost, all.newest_sent, FAILING_NEWEST_SHARE, 1) ||
	    prior_of(view, explanation) > rack_legs_prior_of_tor(view->legs))
		return RACK_WORKS;
	return rack_loss_is_dead(&all) ? RACK_FAILS : RACK_FAILING;
}

/* True: too many of the member's newest probes to other racks are answered for a dead
 * RNIC or ToR. Its losses with peers that are dead hide this in its other counts. */
static bool
reaches_some(const struct rack_tally *tally)
{
	const uint64_t sent = tally->unblamed_newest_sent;

	return sent >= OUTSIDE_MIN && !is_share(sent - tally->unblamed_newest_answered,
					  sent, FAILING_NEWEST_SHARE, 1);
}

/* Decides how to name this member, which looks dead. It decides the kind, and the other
 * part if it is not known which of the two is dead. False: wait for more windows. */
static bool
name_dead(const struct rack_view *view, const struct rack_tally *tally,
    const struct rack_finding *finding, struct rack_suspect_memory *memory,
    struct rack_suspect *ret)
{
	double behind;
	const enum rm_kind kind = rack_loss_dead_kind(tally, &behind);
	const bool no_witness = rack_loss_has_no_witness(tally);

	memory->undecided++;
	/* The member has a verdict, whose kind is replaced only by a kind that is SURE.
	 */
	if (memory->named != 0) {
		ret->kind = behind >= SURE ? kind : memory->named;
		ret->confidence = rack_suspect_confidence(SURE);
		return true;
	}
	if (finding->many_others || finding->other != RACK_NO_OTHER || no_witness) {
		const bool alone = finding->is_last || count_probed(view) == 1;

		if (memory->undecided < AMBIGUOUS_WINDOWS ||
		    (alone && reaches_some(tally)) ||
		    ((finding->many_others || no_witness) && !alone) ||
		    (alone && memory->undecided < PATIENT_WINDOWS &&
			others_report_soon(view, finding->member)))
			return false;
		ret->other = alone ? RACK_OTHER_TOR : finding->other;
		ret->kind = RM_KIND_RNIC_DOWN;
		ret->confidence = rack_suspect_confidence(finding->third_behind);
		return true;
	}
	if (behind < SURE && memory->undecided < UNDECIDED_WINDOWS)
		return false;
	ret->kind = behind >= AMBIGUOUS ? kind : RM_KIND_RNIC_DOWN;
	ret->confidence =
	    rack_suspect_confidence(smaller(finding->other_behind, behind));
	return true;
}

/* Returns the kind to report. A reported kind changes only when other kinds are found
 * in several consecutive windows. */
static enum rm_kind
settle_kind(struct rack_suspect_memory *memory, enum rm_kind kind)
{
	if (memory->named == 0 || memory->named == kind ||
	    ++memory->changing >= CHANGE_WINDOWS) {
		memory->named = kind;
		memory->changing = 0;
	}
	return memory->named;
}

static enum rm_direction
direction_of(const struct rack_tally *tally, enum rm_kind kind)
{
	switch (kind) {
	case RM_KIND_RNIC_SEND_DEAD:
	case RM_KIND_RNIC_SEND_FAILED:
		return RM_DIRECTION_SEND;
	case RM_KIND_RNIC_RECEIVE_DEAD:
		return RM_DIRECTION_RECEIVE;
	case RM_KIND_RNIC_DOWN:
		return RM_DIRECTION_BOTH;
	case RM_KIND_RNIC_LATE:
		return RM_DIRECTION_UNKNOWN;
	default:
		return rack_loss_direction(tally, kind);
	}
}

enum rm_direction
rack_suspect_settle_direction(
    struct rack_suspect_memory *memory, enum rm_direction direction)
{
	if (direction == memory->direction || direction == RM_DIRECTION_UNKNOWN) {
		memory->redirected = 0;
	} else if (memory->direction == RM_DIRECTION_UNKNOWN ||
		   ++memory->redirected >= CHANGE_WINDOWS) {
		memory->direction = direction;
		memory->redirected = 0;
	}
	return memory->direction;
}

/* True: the host of the member runs without stalls. Otherwise single packets may be
 * lost there. */
static bool
is_steady(const struct rack_view *view, size_t member)
{
	const struct rack *rack = view->rack;

	return rack->hosts[rack->members[member].host_index].state == HOST_OK;
}

/* True: the ToR is likelier to be at fault than this RNIC. */
static bool
is_common(const struct rack_view *view, const struct rack_tally *tally)
{
	return rack_blame_is_common(
		   view->blame, view->tallies, view->rack->member_count) ||
	       rack_loss_is_shared(view->legs, view->blame, tally);
}

/* Returns the kind of loss of a member that is neither dead nor healthy; 0: no kind of
 * loss has lasted long enough. */
static enum rm_kind
name_loss(const struct rack_view *view, const struct rack_tally *tally,
    const struct rack_finding *finding, struct rack_suspect_memory *memory)
{
	const bool sure =
	    finding->gain >= LOSSY_MIN_GAIN && finding->other_behind >= SURE;
	const bool mtu = sure && rack_loss_is_mtu(tally);
	const bool lossy =
	    sure && !mtu && is_steady(view, finding->member) &&
	    rack_loss_is_lossy(tally) && !rack_loss_is_elsewhere(tally) &&
	    (memory->named != 0 ||
		(!rack_loss_has_no_witness(tally) && !is_common(view, tally)));
	const bool unable = rack_loss_is_unable(tally);

	memory->mtu = mtu ? memory->mtu + 1 : 0;
	memory->lossy = lossy ? memory->lossy + 1 : 0;
	if (memory->lossy >= LOSSY_WINDOWS && memory->named != RM_KIND_RNIC_LOSSY &&
	    rack_flows_are_lost(view->rack, finding->member, FLOWS_NS))
		memory->lossy = 0;
	memory->unable = unable ? memory->unable + 1 : 0;
	if (memory->unable >= UNABLE_WINDOWS)
		return RM_KIND_RNIC_SEND_FAILED;
	if (sure && rack_tally_refuses(&view->tallies[finding->member])) {
		memory->refused = REFUSED_WINDOWS;
		return RM_KIND_RNIC_RECEIVE_DEAD;
	}
	if (memory->mtu >= MTU_WINDOWS)
		return RM_KIND_RNIC_MTU;
	return memory->lossy >= LOSSY_WINDOWS ? RM_KIND_RNIC_LOSSY : 0;
}

/* If the member has a gap in this window (see rack_gaps): returns the number of windows
 * since the gap before. 0: it has no gap, or this gap is the first. */
static unsigned
note_gap(const struct rack_view *view, const struct rack_tally *tally,
    const struct rack_finding *finding, struct rack_suspect_memory *memory)
{
	if (finding->gain < LOSSY_MIN_GAIN || finding->other_behind < SURE ||
	    !is_steady(view, finding->member) || !rack_loss_is_gap(tally) ||
	    rack_loss_is_elsewhere(tally) || rack_loss_has_no_witness(tally))
		return 0;
	return rack_gaps_note(&memory->gaps);
}

static bool
name_gap(const struct rack_tally *tally, const struct rack_finding *finding,
    const struct rack_suspect_memory *memory, unsigned gap, struct rack_suspect *ret)
{
	double behind;
	const enum rm_kind kind = rack_loss_dead_kind(tally, &behind);

	if (gap == 0 || kind == RM_KIND_RNIC_LATE)
		return false;
	if (memory->named != 0)
		ret->kind = behind >= SURE ? kind : memory->named;
	else
		ret->kind = behind >= AMBIGUOUS ? kind : RM_KIND_RNIC_DOWN;
	ret->confidence = rack_suspect_confidence(finding->other_behind);
	ret->gap = gap;
	return true;
}

static bool
judge_finding(const struct rack_view *view, const struct rack_finding *finding,
    struct rack_suspect_memory *memory, struct rack_suspect *ret)
{
	struct rack_tally tally = view->tallies[finding->member];
	enum rm_kind loss;
	unsigned gap;

	*ret =
	    (struct rack_suspect){ .member = finding->member, .other = RACK_NO_OTHER };
	if (!rack_support_holds(view->support, view, finding->member, &tally))
		return false;
	if (memory->since.ns == 0)
		memory->since = view->start;
	loss = name_loss(view, &tally, finding, memory);
	gap = note_gap(view, &tally, finding, memory);
	/* A member that refuses probes (RECEIVE_DEAD) may look dead in the tally, if
	 * the reports of its own agent were subtracted from it. */
	if (loss != RM_KIND_RNIC_RECEIVE_DEAD && rack_loss_is_dead(&tally)) {
		if (!name_dead(view, &tally, finding, memory, ret) &&
		    !name_gap(&tally, finding, memory, gap, ret))
			return false;
		if (ret->other !=
		    RACK_NO_OTHER) /* the member may still be named alone */
			return true;
	} else {
		memory->undecided = 0;
		ret->kind = loss;
		ret->confidence = rack_suspect_confidence(finding->other_behind);
		if (loss == 0 && !name_gap(&tally, finding, memory, gap, ret))
			return false;
	}
	ret->kind = settle_kind(memory, ret->kind);
	ret->direction = direction_of(&tally, ret->kind);
	if (ret->kind == RM_KIND_RNIC_LOSSY || ret->kind == RM_KIND_RNIC_MTU)
		ret->direction = rack_suspect_settle_direction(memory, ret->direction);
	memory->direction = ret->direction;
	memory->absent = 0;
	return true;
}

/* True: all other members with probes are known to be dead, so no probe between two
 * working RNICs shows that the ToR forwards. */
static bool
is_last(const struct rack_view *view, const struct rack_suspect_memory *memories,
    size_t member)
{
	bool any = false;

	for (size_t i = 0; i < view->legs->members; i++) {
		if (i == member ||
		    view->tallies[i].sent + view->tallies[i].send_failed == 0)
			continue;
		if (memories[i].named != RM_KIND_RNIC_DOWN && !memories[i].died_first)
			return false;
		any = true;
	}
	return any;
}

/* True: the host of the member is stalled or restarts, so that its results are delayed:
 * keep what was found before. */
static bool
is_delayed(
    const struct rack_view *view, size_t member, struct rack_suspect_memory *memory)
{
	const struct rack *rack = view->rack;

	if (!reports_soon(rack->hosts[rack->members[member].host_index].state)) {
		memory->stalled = 0;
		return false;
	}
	return ++memory->stalled <= STALLED_WINDOWS;
}

static void
note_absence(struct rack_suspect_memory *memory, bool blamed)
{
	if (!blamed) {
		memory->since.ns = 0;
		memory->undecided = memory->lossy = memory->unable = memory->mtu = 0;
	}
	memory->changing = 0;
	if (memory->named != 0 && ++memory->absent >= ABSENT_WINDOWS) {
		memory->named = 0;
		memory->direction = RM_DIRECTION_UNKNOWN;
	}
}

void
rack_suspect_name(
    const struct rack *rack, const struct rack_suspect *suspect, struct rm_part *part)
{
	char a[RACK_MEMBER_NAME_BYTES], b[RACK_MEMBER_NAME_BYTES];
	bool swap;

	snprintf(part->place, sizeof part->place, "%.63s", rack->tor);
	rack_member_name(rack, suspect->member, a);
	if (suspect->other == RACK_NO_OTHER) {
		snprintf(part->name, sizeof part->name, "%s", a);
		return;
	}
	if (suspect->other == RACK_OTHER_TOR)
		snprintf(b, sizeof b, "%.63s", rack->tor);
	else
		rack_member_name(rack, suspect->other, b);
	swap = strcmp(a, b) > 0 && suspect->other != RACK_OTHER_TOR;
	snprintf(part->name, sizeof part->name, "%s%s%s", swap ? b : a, RM_PART_OR,
	    swap ? a : b);
}

/* True: the member works in the newest half of the window. If it is not blamed, losses
 * may be losses of other members. */
static bool
works_now(const struct rack_tally *tally, bool blamed)
{
	return tally->clean_newest_answered >= WORKS_MIN_NEWEST &&
	       (!blamed ||
		   is_share(tally->newest_lost, tally->newest_sent, 0, WORKS_LOST));
}

size_t
rack_suspects(const struct rack_view *view, const struct rm_explanation *explanation,
    struct rack_suspect_memory *memories, struct rack_suspect *suspects)
{
	size_t count = 0;

	for (size_t member = 0; member < view->legs->members; member++) {
		const bool blamed = view->blame->members[member];
		struct rack_finding finding;

		memories[member].refused -= memories[member].refused > 0;
		rack_gaps_pass(
		    &memories[member].gaps, works_now(&view->tallies[member], blamed));
		if (blamed) {
			finding = rack_suspect_find(view, explanation, member);
			finding.is_last = is_last(view, memories, member);
			if (judge_finding(
				view, &finding, &memories[member], &suspects[count])) {
				count++;
				continue;
			}
		}
		if (!is_delayed(view, member, &memories[member]))
			note_absence(&memories[member], blamed);
	}
	return count;
}

static bool
loses_all(const struct rack_view *view, size_t member)
{
	const struct rack_tally *tally = &view->tallies[member];

	return is_steady(view, member) &&
	       tally->unblamed_newest_sent >= FIRST_MIN_NEWEST &&
	       tally->newest_lost == tally->newest_sent;
}

static bool
loses_none(const struct rack_view *view, size_t member)
{
	const struct rack_tally *tally = &view->tallies[member];

	return is_steady(view, member) &&
	       tally->unblamed_newest_sent >= FIRST_MIN_NEWEST &&
	       tally->unblamed_newest_answered == tally->unblamed_newest_sent;
}

void
rack_suspects_note_first(
    const struct rack_view *view, struct rack_suspect_memory *memories)
{
	bool others_work = false;

	for (size_t i = 0; i < view->legs->members; i++)
		others_work |= loses_none(view, i);
	for (size_t i = 0; i < view->legs->members; i++) {
		if (view->tallies[i].unblamed_newest_answered > 0)
			memories[i].died_first = false;
		else if (others_work && loses_all(view, i))
			memories[i].died_first = true;
	}
}

void
rack_suspects_forget(const struct rack_view *view, struct rack_suspect_memory *memories)
{
	for (size_t i = 0; i < view->legs->members; i++)
		note_absence(&memories[i], false);
}
