#include "tor-aggregator/lasting/rack_lasting_state.h"

#include <math.h>
#include <stdio.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/lasting/rack_blocks.h"
#include "tor-aggregator/lasting/rack_steady.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define MIN_GAIN 15.0
#define STRAY_SHARE (4 * RACK_STEADY_BASE)
/* Before one is named the newest losses are not older than this, in losses that there
 * should have been since. */
#define SINCE_LOST 6.0
#define LONG_BLOCKS 6
/* Beside what all the others lose, but for one stray: weight as by rack_steady. */
#define STRAY_LOST 1
#define STANDS_OUT 20.0
#define UNDECIDED_SECONDS 3 /* before it is told without a direction */

/* The only one that tells of the member, if nobody else tells of either. */
static size_t
only_peer(const struct rack_lasting *lasting, size_t m)
{
	size_t peer = RACK_NO_OTHER, heard = 0, outside = 0;

	for (size_t i = 0; i < lasting->members; i++) {
		const struct rack_tally *tally = &lasting->tallies[i];

		outside += tally->outside_sent;
		heard += tally->sent > tally->outside_sent;
		if (i != m && tally->sent > tally->outside_sent)
			peer = i;
	}
	return heard == 2 && outside == 0 ? peer : RACK_NO_OTHER;
}

/* Who is to be named for what it is blamed for, or which two. False: nobody yet. */
static bool
tell_apart(const struct rack_lasting *lasting, const struct rack_finding *finding,
    size_t *member, size_t *other)
{
	const size_t mine = finding->member, peer = only_peer(lasting, mine);

	*member = peer < mine ? peer : mine;
	*other = peer < mine ? mine : peer;
	return peer != RACK_NO_OTHER || finding->other_behind >= RACK_LOSS_SURE;
}

/* Also where the rest of the rack loses more than is common. */
static bool
stands_out(const struct rack_lasting *lasting, size_t m)
{
	const struct rack_block_seconds seconds = rack_blocks_seconds(
	    lasting->blocks, m, rack_lasting_lengths[lasting->memories[m].length]);
	double sent = 0, lost = 0, mine = 0, common;

	for (size_t i = 0; i < lasting->legs.pair_count; i++) {
		const struct rack_pair *pair = &lasting->legs.pairs[i];

		if (pair->foreign)
			continue;
		if (pair->src == m || pair->dst == m)
			mine += pair->sent;
		if (lasting->blame.members[pair->src] ||
		    lasting->blame.members[pair->dst])
			continue;
		sent += pair->sent;
		lost += pair->sent - pair->answered;
	}
	if (lost <= STRAY_LOST)
		return true;
	common = (lost - STRAY_LOST) / sent;
	return rack_steady_weight(seconds.seconds, seconds.lossy,
		   fmax(seconds.expected,
		       -expm1(mine / seconds.seconds * log1p(-common)) *
			   seconds.seconds)) >= STANDS_OUT;
}

/* 0: none that lasts, or one of large packets alone that is not sure yet. */
static enum rm_kind
kind_of(const struct rack_tally *tally, const struct rack_lasting_memory *memory)
{
	const double share = (double)tally->lost / (double)tally->sent;

	if (rack_loss_is_mtu(tally))
		return RM_KIND_RNIC_MTU;
	if (rack_loss_is_of_large(tally) || rack_loss_is_elsewhere(tally) ||
	    share < RACK_LASTING_LEAST || memory->unlost * share > SINCE_LOST)
		return 0;
	return RM_KIND_RNIC_LOSSY;
}

static void
name_member(struct rack_lasting *lasting, const struct rack_view *view,
    const struct rack_finding *finding, size_t m, size_t other, enum rm_kind kind)
{
	struct rack_lasting_memory *memory = &lasting->memories[m];
	struct rack_slow_named *named = rack_lasting_keep(lasting, m);
	const struct rack_block_seconds seconds = rack_blocks_seconds(
	    lasting->blocks, m, rack_lasting_lengths[memory->length]);
	const double share =
	    (double)lasting->tallies[m].lost / (double)lasting->tallies[m].sent;
	struct rm_evidence *evidence;

	if (named == NULL)
		return;
	/* Shorter windows may have been unlucky, later ones hold the time after its
	 * end.
	 */
	if (memory->suspect.named == 0) {
		memory->share = share;
		memory->over_at = RACK_STEADY_OVER;
	} else if (rack_lasting_lengths[memory->length] >= LONG_BLOCKS) {
		memory->share = fmax(memory->share, share);
	}
	memory->suspect.named = kind;
	memory->other = other;
	*named = (struct rack_slow_named){ .member = m, .other = other };
	named->verdict = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.kind = kind,
		.confidence = rack_suspect_confidence(other == RACK_NO_OTHER
							  ? finding->other_behind
							  : finding->third_behind),
	};
	evidence = &named->verdict.evidence;
	rack_evidence_of_member(view->rack, &lasting->legs, &lasting->blame,
	    lasting->tallies, m, kind, lasting->witnesses, evidence);
	evidence->window_ns = (int64_t)(lasting->legs.seconds * (double)RM_NS_PER_S);
	evidence->window_start = memory->suspect.since;
	evidence->way = memory->suspect.way;
	if (other == RACK_NO_OTHER)
		named->verdict.rnic = view->rack->members[m].id;
	if (evidence->observed[0] == '\0')
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "%sit lost some in %u of %u seconds",
		    other == RACK_NO_OTHER ? ""
					   : "no other probes tell which of the two; ",
		    seconds.lossy, seconds.seconds);
}

static void
judge_member(struct rack_lasting *lasting, const struct rack_view *view,
    const struct rm_explanation *explanation, size_t blamed)
{
	const struct rack_finding finding =
	    rack_suspect_find(view, explanation, blamed);
	struct rack_tally tally = lasting->tallies[blamed];
	struct rack_lasting_memory *memory;
	enum rm_kind kind;
	size_t m, other;

	if (finding.gain < MIN_GAIN || !tell_apart(lasting, &finding, &m, &other))
		return;
	memory = &lasting->memories[m];
	if (other == RACK_NO_OTHER &&
	    !rack_support_holds(lasting->support, view, m, &tally))
		return;
	if (!lasting->known[m] &&
	    (!memory->shows || rack_blame_is_common(&lasting->blame, lasting->members)))
		return;
	if (!lasting->known[m] && !stands_out(lasting, m))
		return;
	kind = lasting->known[m] ? memory->suspect.named : kind_of(&tally, memory);
	if (kind == 0)
		return;
	memory->suspect.absent = 0;
	memory->seen = true;
	if (memory->suspect.since.ns == 0)
		memory->suspect.since = view->start;
	rack_suspect_settle_way(&memory->suspect,
	    other == RACK_NO_OTHER ? rack_loss_way(&tally, kind) : RM_WAY_UNKNOWN);
	if (memory->suspect.way == RM_WAY_UNKNOWN && !lasting->known[m] &&
	    ++memory->suspect.undecided < UNDECIDED_SECONDS)
		return;
	name_member(lasting, view, &finding, m, other, kind);
}

int
rack_lasting_explain(struct rack_lasting *lasting, const struct rack *rack,
    rm_wall_t end, unsigned length)
{
	struct rack_view view = { rack, &lasting->legs, &lasting->blame,
		lasting->tallies, end, lasting->support, STRAY_SHARE };
	struct rm_explanation explanation;
	struct window_closed sum;
	int r;

	r = rack_blocks_sum(lasting->blocks, rack_lasting_lengths[length], &sum);
	if (r == 0)
		r = rack_legs_build(&lasting->legs, rack, &sum);
	if (r < 0)
		return r;
	view.start.ns -= rm_mono_since(sum.end, sum.start);
	for (size_t i = 0; i < lasting->members; i++)
		if (lasting->known[i] && lasting->memories[i].other == RACK_NO_OTHER)
			rack_legs_expect(&lasting->legs, i);
	r = rm_judge_explain(lasting->judge, lasting->legs.elements,
	    lasting->legs.observations, lasting->legs.observation_count,
	    lasting->legs.candidates, lasting->legs.candidate_count, &explanation);
	if (r < 0)
		return r;
	rack_blame_note(&lasting->blame, &lasting->legs, &explanation,
	    rack->member_count, rack->foreigner_count);
	rack_evidence_tally(&lasting->legs, &lasting->blame, lasting->tallies);
	for (size_t i = 0; i < lasting->members; i++)
		if (lasting->blame.members[i] && lasting->memories[i].length == length)
			judge_member(lasting, &view, &explanation, i);
	return 0;
}
