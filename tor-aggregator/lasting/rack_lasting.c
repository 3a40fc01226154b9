#include "tor-aggregator/lasting/rack_lasting.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/lasting/rack_blocks.h"
#include "tor-aggregator/lasting/rack_slow_named.h"
#include "tor-aggregator/lasting/rack_steady.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define RACK_LASTING_PARTS 64
#define RACK_LASTING_LEAST 0.002 /* a smaller share of loss is not reported */

#define RACK_LASTING_LENGTHS 6
/* Lengths of the windows in blocks: at most 20, 30, 40, 60, 80 and 120 s, as the newest
 * block may not be full. */
static const unsigned rack_lasting_lengths[RACK_LASTING_LENGTHS] = { 2, 3, 4, 6, 8,
	RACK_BLOCKS };

struct rack_lasting_memory { /* state of one member */
	struct rack_suspect_memory suspect;
	/* the other RNIC of a verdict "A or B", while the member is named */
	size_t other;
	/* share of round trips that the member loses, while it is named */
	double share;
	/* ln of the likelihood ratio of "the loss has ended" to "it continues" */
	double over;
	double over_at; /* the value of `over` from which on the loss has ended */
	double unlost;  /* round trips since its newest loss */
	/* Index in rack_lasting_lengths of the window that shows the loss most clearly.
	 */
	unsigned length;
	/* shows: in this second the loss is clear; seen: an explanation of this second
	 * includes the member. */
	bool shows, seen;
};

struct rack_lasting {
	struct rm_judge *judge;
	struct rack_legs legs;
	struct rack_support *support;
	struct rack_blocks *blocks;
	struct rm_rnic_id *ids;
	size_t members;
	struct rack_lasting_memory *memories;
	bool *known; /* one per member: there is a verdict on it */
	struct rack_tally *tallies;
	struct rack_blame blame;
	bool *witnesses;
	struct rack_slow_named named[RACK_LASTING_PARTS];
	size_t named_count;
};

static struct rack_slow_named *
find_named(struct rack_lasting *lasting, size_t member)
{
	for (size_t i = 0; i < lasting->named_count; i++)
		if (lasting->named[i].member == member)
			return &lasting->named[i];
	return NULL;
}

/* Finds or adds the verdict on a member; NULL: no room for more. */
static struct rack_slow_named *
rack_lasting_keep(struct rack_lasting *lasting, size_t member)
{
	struct rack_slow_named *named = find_named(lasting, member);

	if (named != NULL || lasting->named_count == RACK_LASTING_PARTS)
		return named;
	named = &lasting->named[lasting->named_count++];
	lasting->known[member] = true;
	lasting->memories[member].over = 0;
	return named;
}

/* ---- explaining one window ---- */

#define MIN_GAIN 15.0
#define STRAY_SHARE (4 * RACK_STEADY_BASE)
/* A member is named only if its newest loss is recent. It is recent if, with the
 * member's share of loss, fewer losses than this are expected since then. */
#define SINCE_LOST 6.0
#define LONG_BLOCKS 6
/* The member's losses are compared with those of all other members. One loss, which may
 * be chance, is left out; the weight is calculated as in rack_steady. */
#define STRAY_LOST 1
#define STANDS_OUT 20.0
/* seconds after which the loss is reported without a direction */
#define UNDECIDED_SECONDS 3

/* Returns the other member, if only two members of the rack probe each other and no
 * member probes other racks; else RACK_NO_OTHER. */
static size_t
only_peer(const struct rack_lasting *lasting, size_t m)
{
	size_t peer = RACK_NO_OTHER, seen = 0, outside = 0;

	for (size_t i = 0; i < lasting->members; i++) {
		const struct rack_tally *tally = &lasting->tallies[i];

		outside += tally->outside_sent;
		seen += tally->sent > tally->outside_sent;
		if (i != m && tally->sent > tally->outside_sent)
			peer = i;
	}
	return seen == 2 && outside == 0 ? peer : RACK_NO_OTHER;
}

/* Decides whether one RNIC or two are named. False: no RNIC can be named yet. */
static bool
report_apart(const struct rack_lasting *lasting, const struct rack_finding *finding,
    size_t *member, size_t *other)
{
	const size_t mine = finding->member, peer = only_peer(lasting, mine);

	*member = peer < mine ? peer : mine;
	*other = peer < mine ? mine : peer;
	return peer != RACK_NO_OTHER || finding->other_behind >= RACK_LOSS_SURE;
}

/* True: the member loses more than the rest of the rack, even if the whole rack loses
 * more than usual. */
static bool
exceeds_rack(const struct rack_lasting *lasting, size_t m)
{
	const struct rack_block_seconds seconds = rack_blocks_seconds(
	    lasting->blocks, m, rack_lasting_lengths[lasting->memories[m].length]);
	double sent = 0, lost = 0, mine = 0, common;

	for (size_t i = 0; i < lasting->legs.pair_count; i++) {
		const struct rack_pair *pair = &lasting->legs.pairs[i];

		if (pair->remote)
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

/* Returns the kind of the loss. 0: there is no lasting loss, or only large packets seem
 * to be lost and that is not certain yet. */
static enum rm_kind
kind_of(const struct rack_tally *tally, const struct rack_lasting_memory *memory)
{
	const double share = (double)tally->lost / (double)tally->sent;

	if (rack_loss_is_mtu(tally))
		return RM_KIND_RNIC_MTU;
	if (rack_loss_is_of_large(tally) || rack_loss_is_elsewhere(tally) ||
	    (memory->suspect.named == 0 && rack_loss_has_no_witness(tally)) ||
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
	/* The share in a shorter window may be too high by chance; a longer window
	 * includes the time after the end of the loss. */
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
	evidence->direction = memory->suspect.direction;
	if (other == RACK_NO_OTHER)
		named->verdict.rnic = view->rack->members[m].id;
	if (evidence->observed[0] == '\0')
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "%sit lost packets in %u of %u seconds",
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

	if (finding.gain < MIN_GAIN || !report_apart(lasting, &finding, &m, &other))
		return;
	memory = &lasting->memories[m];
	if (other == RACK_NO_OTHER &&
	    !rack_support_holds(lasting->support, view, m, &tally))
		return;
	if (!lasting->known[m] &&
	    (!memory->shows ||
		rack_blame_is_common(
		    &lasting->blame, lasting->tallies, lasting->members) ||
		rack_loss_is_shared(&lasting->legs, &lasting->blame, &tally)))
		return;
	if (!lasting->known[m] && !exceeds_rack(lasting, m))
		return;
	kind = lasting->known[m] ? memory->suspect.named : kind_of(&tally, memory);
	if (kind == 0)
		return;
	memory->suspect.absent = 0;
	memory->seen = true;
	if (memory->suspect.since.ns == 0)
		memory->suspect.since = view->start;
	rack_suspect_settle_direction(
	    &memory->suspect, other == RACK_NO_OTHER ? rack_loss_direction(&tally, kind)
						     : RM_DIRECTION_UNKNOWN);
	if (memory->suspect.direction == RM_DIRECTION_UNKNOWN && !lasting->known[m] &&
	    ++memory->suspect.undecided < UNDECIDED_SECONDS)
		return;
	name_member(lasting, view, &finding, m, other, kind);
}

/* Explains one of the windows that show the loss of a member, and names the members
 * whose loss this window shows best. end: the end of the newest second. */
static int
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
	    rack->member_count, rack->remote_count);
	rack_evidence_tally(&lasting->legs, &lasting->blame, lasting->tallies);
	for (size_t i = 0; i < lasting->members; i++)
		if (lasting->blame.members[i] && lasting->memories[i].length == length)
			judge_member(lasting, &view, &explanation, i);
	return 0;
}

/* ---- state kept from second to second ---- */

#define ALTERNATIVES_WITHIN 14
/* A verdict ends if for so many seconds no explanation has included its member. */
#define ABSENT_SECONDS 15
/* The first count of losses may be too high by chance: this number of standard
 * deviations is subtracted from it. */
#define MAX_DEVIATIONS 1.5
#define SHARES 8 /* number of seconds in the moving mean */

int
rack_lasting_new(struct rack_lasting **ret)
{
	const struct rm_judge_options options = {
		.base_loss = RACK_STEADY_BASE,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = RACK_LASTING_PARTS,
		.least_loss = RACK_LASTING_LEAST,
	};
	struct rack_lasting *lasting = calloc(1, sizeof(*lasting));
	int r;

	if (lasting == NULL)
		return -ENOMEM;
	r = rm_judge_new(&options, &lasting->judge);
	if (r == 0)
		r = rack_support_new(&lasting->support);
	if (r == 0)
		r = rack_blocks_new(&lasting->blocks);
	if (r < 0) {
		rack_lasting_free(lasting);
		return r;
	}
	*ret = lasting;
	return 0;
}

static void
release_members(struct rack_lasting *lasting)
{
	free(lasting->ids);
	free(lasting->memories);
	free(lasting->known);
	free(lasting->tallies);
	free(lasting->blame.members);
	free(lasting->blame.remotes);
	free(lasting->witnesses);
	lasting->ids = NULL;
	lasting->memories = NULL;
	lasting->known = NULL;
	lasting->tallies = NULL;
	lasting->blame = (struct rack_blame){ 0 };
	lasting->witnesses = NULL;
	lasting->members = 0;
}

void
rack_lasting_free(struct rack_lasting *lasting)
{
	if (lasting == NULL)
		return;
	release_members(lasting);
	rack_blocks_free(lasting->blocks);
	rack_support_free(lasting->support);
	rack_legs_release(&lasting->legs);
	rm_judge_free(lasting->judge);
	free(lasting);
}

/* ---- standing verdicts ----------------------------------------------------------- */

static void
drop_named(struct rack_lasting *lasting, size_t member)
{
	struct rack_slow_named *named = find_named(lasting, member);

	if (named != NULL)
		*named = lasting->named[--lasting->named_count];
	lasting->known[member] = false;
	lasting->memories[member] =
	    (struct rack_lasting_memory){ .other = RACK_NO_OTHER,
		    .unlost = lasting->memories[member].unlost };
}

/* Deletes all losses of the member, because they are reported, or the loss is over. */
static void
forget_member(struct rack_lasting *lasting, size_t member)
{
	drop_named(lasting, member);
	rack_blocks_forget(lasting->blocks, member);
}

/* Returns the share of loss. The share that led to the verdict may be too high by
 * chance. Therefore the share is at first the lower limit of what was certainly lost,
 * and then the mean of the later losses. */
static double
share_of(const struct rack_tally *tally, double before)
{
	const double lost = (double)tally->lost, sent = (double)tally->sent;

	return before == 0 ? (lost - MAX_DEVIATIONS * sqrt(lost)) / sent
			   : before + (lost / sent - before) / SHARES;
}

void
rack_lasting_take(struct rack_lasting *lasting, const struct rack_slow_named *named,
    const struct rack_tally *tally)
{
	struct rack_slow_named *kept;
	struct rack_lasting_memory *memory;

	if (lasting->members == 0)
		return;
	if (named->verdict.kind != RM_KIND_RNIC_LOSSY) {
		forget_member(lasting, named->member);
		return;
	}
	kept = rack_lasting_keep(lasting, named->member);
	if (kept == NULL)
		return;
	*kept = *named;
	memory = &lasting->memories[named->member];
	memory->suspect.named = RM_KIND_RNIC_LOSSY;
	memory->suspect.since = named->verdict.evidence.window_start;
	memory->suspect.direction = named->verdict.evidence.direction;
	memory->suspect.absent = 0;
	memory->other = RACK_NO_OTHER;
	memory->share = share_of(tally, memory->share);
	memory->over_at = RACK_STEADY_OVER_SOON;
}

/* ---- changes of the members ------------------------------------------------------ */

static size_t
find_member(const struct rack *rack, struct rm_rnic_id id)
{
	for (size_t i = 0; i < rack->member_count; i++)
		if (rm_rnic_id_equal(rack->members[i].id, id))
			return i;
	return SIZE_MAX;
}

static void
move_named(struct rack_lasting *lasting, const size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < lasting->named_count; i++) {
		struct rack_slow_named *named = &lasting->named[i];

		if (moved[named->member] == SIZE_MAX || named->other != RACK_NO_OTHER)
			continue;
		named->member = moved[named->member];
		lasting->named[kept++] = *named;
	}
	lasting->named_count = kept;
}

/* Keeps the state of members that stay. A verdict "A or B" ends: it is possible only in
 * a rack of these two RNICs. */
static void
move_memories(struct rack_lasting *lasting, struct rack_lasting_memory *memories,
    bool *known, const size_t *moved)
{
	for (size_t i = 0; i < lasting->members; i++)
		if (moved[i] != SIZE_MAX &&
		    lasting->memories[i].other == RACK_NO_OTHER) {
			memories[moved[i]] = lasting->memories[i];
			known[moved[i]] = lasting->known[i];
		}
	move_named(lasting, moved);
}

int
rack_lasting_renumber(struct rack_lasting *lasting, const struct rack *rack)
{
	const size_t members = rack->member_count + 1;
	size_t *moved = calloc(lasting->members + 1, sizeof(*moved));
	struct rack_lasting_memory *memories = calloc(members, sizeof(*memories));
	bool *known = calloc(members, sizeof(bool));
	int r = -ENOMEM;

	if (moved == NULL || memories == NULL || known == NULL)
		goto fail;
	for (size_t i = 0; i < lasting->members; i++)
		moved[i] = find_member(rack, lasting->ids[i]);
	for (size_t i = 0; i < members; i++)
		memories[i].other = RACK_NO_OTHER;
	r = rack_blocks_renumber(lasting->blocks, rack, moved);
	if (r < 0)
		goto fail;
	move_memories(lasting, memories, known, moved);
	free(moved);
	release_members(lasting);
	lasting->memories = memories;
	lasting->known = known;
	lasting->ids = calloc(members, sizeof(*lasting->ids));
	lasting->tallies = calloc(members, sizeof(*lasting->tallies));
	lasting->blame.members = calloc(members, sizeof(bool));
	lasting->blame.remotes = calloc(rack->remote_count + 1, sizeof(bool));
	lasting->witnesses = calloc(members, sizeof(bool));
	if (lasting->ids == NULL || lasting->tallies == NULL ||
	    lasting->blame.members == NULL || lasting->blame.remotes == NULL ||
	    lasting->witnesses == NULL) {
		release_members(lasting);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rack->member_count; i++)
		lasting->ids[i] = rack->members[i].id;
	lasting->members = rack->member_count;
	return 0;
fail:
	free(moved);
	free(memories);
	free(known);
	release_members(lasting);
	lasting->named_count = 0;
	return r;
}

/* ---- once a second --------------------------------------------------------------- */

/* Finds the window that shows the member's loss best, and whether the loss is clear. */
static void
weigh(struct rack_lasting *lasting, size_t m)
{
	struct rack_lasting_memory *memory = &lasting->memories[m];
	double most = 0;

	memory->shows = memory->seen = false;
	memory->length = RACK_LASTING_LENGTHS - 1;
	for (unsigned i = 0; i < RACK_LASTING_LENGTHS; i++) {
		const struct rack_block_seconds seconds =
		    rack_blocks_seconds(lasting->blocks, m, rack_lasting_lengths[i]);
		const double weight = rack_steady_weight(
		    seconds.seconds, seconds.lossy, seconds.expected);

		if (weight <= most)
			continue;
		most = weight;
		memory->length = i;
	}
	memory->shows = most >= RACK_STEADY_SURE;
}

static void
note_newest(struct rack_lasting *lasting, size_t m)
{
	const struct rack_block_newest *newest = rack_blocks_newest(lasting->blocks, m);
	struct rack_lasting_memory *memory = &lasting->memories[m];

	memory->unlost =
	    newest->lost > 0 || newest->blamed ? 0 : memory->unlost + newest->sent;
	if (!lasting->known[m])
		return;
	memory->over =
	    rack_steady_over(memory->over, memory->share, newest->sent, newest->lost);
}

static bool
shows_any(const struct rack_lasting *lasting, unsigned length)
{
	for (size_t i = 0; i < lasting->members; i++)
		if (lasting->memories[i].length == length &&
		    (lasting->memories[i].shows || lasting->known[i]))
			return true;
	return false;
}

/* Ends verdicts whose loss is over, or whose member no explanation includes any
 * more. */
static void
end_verdicts(struct rack_lasting *lasting)
{
	for (size_t i = 0; i < lasting->members; i++) {
		struct rack_lasting_memory *memory = &lasting->memories[i];

		if (!lasting->known[i])
			continue;
		if (memory->over >= memory->over_at)
			forget_member(lasting, i);
		else if (!memory->seen && !memory->shows &&
			 ++memory->suspect.absent >= ABSENT_SECONDS)
			drop_named(lasting, i);
	}
}

int
rack_lasting_judge(struct rack_lasting *lasting, const struct rack *rack,
    const struct window_closed *second, rm_wall_t start, const struct rack_blame *blame,
    const struct rack_slow_named **ret, size_t *count)
{
	const rm_wall_t end = { start.ns + rm_mono_since(second->end, second->start) };
	int r;

	*ret = lasting->named;
	*count = lasting->named_count;
	if (lasting->members == 0 || second->partial)
		return 0;
	r = rack_blocks_add(lasting->blocks, rack, second, blame, lasting->known);
	for (size_t i = 0; i < lasting->members; i++) {
		note_newest(lasting, i);
		weigh(lasting, i);
	}
	for (unsigned i = 0; i < RACK_LASTING_LENGTHS && r == 0; i++)
		if (shows_any(lasting, i))
			r = rack_lasting_explain(lasting, rack, end, i);
	end_verdicts(lasting);
	*count = lasting->named_count;
	return r;
}
