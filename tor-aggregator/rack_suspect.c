#include "tor-aggregator/rack_suspect.h"

#include <math.h>
#include <stdint.h>

#include "rackmesh/fabric/judge.h"
#include "tor-aggregator/rack_evidence.h"
#include "tor-aggregator/rack_judge.h"
#include "tor-aggregator/rack_legs.h"

/* Dead: of the newest two bins all, but for a straggler, and of the window so much. */
#define DEAD_MIN_NEWEST 4
#define DEAD_NEWEST_SHARE 0.95
#define DEAD_SHARE 0.45
#define FAILING_NEWEST_SHARE 0.9 /* of the whole rack: no time to name single RNICs */
#define GETS_OUT_MIN 3
#define DEAD_MIN_LOST 4 /* of others' making: own failed sends are not enough */

/* ln of likelihood ratios: 20 to 1 is as good as equal, 1000 to 1 is sure. */
#define AMBIGUOUS 3.0
#define SURE 6.9
#define CERTAIN 14.0 /* no alternative was listed */

/* Windows, one per bin. */
#define AMBIGUOUS_WINDOWS                                          \
	3 /* before "A or B" is said: it stays in the alert's name \
	   */
#define UNDECIDED_WINDOWS                                                         \
	6                /* before an RNIC is called down for want of a direction \
			  */
#define LOSSY_WINDOWS 8  /* longer than a fault's onset or end takes to pass */
#define CHANGE_WINDOWS 4 /* before a named kind becomes another one */
#define ABSENT_WINDOWS 8 /* before a named RNIC is forgotten */

#define LOSSY_SHARE 0.2
#define LOSSY_HALF_SHARE 0.1 /* in the newer and the older half of the window each */
#define LOSSY_MIN_LOST 10
#define LOSSY_MIN_GAIN 20.0

/* One member as the explanation sees it. */
struct finding {
	size_t member;
	double gain;
	double other_behind; /* nearest that blames somebody else in its place */
	double third_behind; /* nearest but for `other` */
	size_t other;        /* a member within AMBIGUOUS, if there is exactly one */
	bool crowded;        /* more than that, or what is no RNIC, within AMBIGUOUS */
};

static double
nearer(double a, double b)
{
	return a < b ? a : b;
}

/* What could stand in the place of one of a member's blamed parts. Its other sides are
 * no alternatives: its direction is decided by itself. */
static struct finding
weigh_alternatives(
    const struct rack_view *view, const struct rm_blamed *part, size_t mine)
{
	struct finding finding = {
		.member = mine,
		.gain = part->gain,
		.other_behind = CERTAIN,
		.third_behind = CERTAIN,
		.other = RACK_NO_OTHER,
	};

	for (size_t i = 0; i < part->alternative_count; i++) {
		const struct rm_alternative *a = &part->alternatives[i];
		enum rack_way way;
		size_t member;
		const bool is_rnic =
		    rack_legs_is_member(view->legs, a->candidate, &member, &way);

		if (is_rnic && member == mine)
			continue;
		finding.other_behind = nearer(finding.other_behind, a->behind);
		if (a->behind <= AMBIGUOUS && is_rnic &&
		    (finding.other == RACK_NO_OTHER || finding.other == member)) {
			finding.other = member;
			continue;
		}
		finding.crowded |= a->behind <= AMBIGUOUS;
		finding.third_behind = nearer(finding.third_behind, a->behind);
	}
	return finding;
}

/* All that the explanation says of a member that it blames. Of two parts of one RNIC,
 * the one that is harder to explain away. */
static struct finding
find(const struct rack_view *view, const struct rm_explanation *explanation,
    size_t member)
{
	struct finding finding = { .other_behind = -1 };
	double gain = 0;

	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct rm_blamed *part = &explanation->parts[i];
		struct finding one;
		enum rack_way way;
		size_t m;

		if (!rack_legs_is_member(view->legs, part->candidate, &m, &way) ||
		    m != member)
			continue;
		one = weigh_alternatives(view, part, member);
		gain = fmax(gain, part->gain);
		if (one.other_behind > finding.other_behind)
			finding = one;
	}
	finding.gain = gain;
	return finding;
}

/* ln of how much likelier it is that the way out lost them than the way back. */
static double
out_over_back(const struct rack_way_out *way)
{
	const double out = way->lost - way->missing, back = way->missing;

	return way->variance > 0 ? (back * back - out * out) / (2 * way->variance) : 0;
}

/* Which sides of a dead RNIC are dead; *behind: ln of how much less likely the next
 * best is, 0 if there is nothing to go by. */
static enum rm_kind
direction(const struct rack_tally *tally, double *behind)
{
	/* A host that cannot even send says so itself. */
	const bool cannot_send =
	    2 * tally->send_failed > tally->own_sent + tally->send_failed;
	const double send = cannot_send ? CERTAIN : out_over_back(&tally->own);
	const double receive = out_over_back(&tally->peers);

	*behind = nearer(fabs(send), fabs(receive));
	if (send > 0 && receive > 0)
		return RM_KIND_RNIC_DOWN;
	if (send > 0)
		return RM_KIND_RNIC_SEND_DEAD;
	if (receive > 0)
		return RM_KIND_RNIC_RECEIVE_DEAD;
	*behind = 0; /* both arrive, and nothing comes back: no side of it alone */
	return RM_KIND_RNIC_DOWN;
}

static bool
is_dead(const struct rack_tally *tally)
{
	const double failed = (double)tally->send_failed;
	const double lost = (double)tally->lost, sent = (double)tally->sent;

	return tally->newest_sent >= DEAD_MIN_NEWEST && tally->lost >= DEAD_MIN_LOST &&
	       (double)tally->newest_lost >=
		   DEAD_NEWEST_SHARE * (double)tally->newest_sent &&
	       lost + failed >= DEAD_SHARE * (sent + failed);
}

static bool
is_share(uint64_t part, uint64_t of, double low, double high)
{
	return (double)part >= low * (double)of && (double)part <= high * (double)of;
}

static bool
is_lossy(const struct rack_tally *tally, const struct finding *finding)
{
	return tally->lost >= LOSSY_MIN_LOST && finding->gain >= LOSSY_MIN_GAIN &&
	       finding->other_behind >= SURE &&
	       is_share(tally->lost, tally->sent, LOSSY_SHARE, DEAD_NEWEST_SHARE) &&
	       is_share(tally->newest_lost, tally->newest_sent, LOSSY_HALF_SHARE,
		   DEAD_NEWEST_SHARE) &&
	       is_share(tally->lost - tally->newest_lost,
		   tally->sent - tally->newest_sent, LOSSY_HALF_SHARE,
		   DEAD_NEWEST_SHARE);
}

static double
confidence(double behind)
{
	const double p = 1 / (1 + exp(-behind));

	return p < 0.99 ? p : 0.99;
}

static size_t
count_voters(const struct rack_view *view)
{
	size_t voters = 0;

	for (size_t i = 0; i < view->legs->members; i++)
		voters += view->tallies[i].sent + view->tallies[i].send_failed > 0;
	return voters;
}

/* ln of how likely all that is blamed is at fault at once; an RNIC counts once, whether
 * its two sides are blamed together or apart. */
static double
prior_of(const struct rack_view *view, const struct rm_explanation *explanation)
{
	double sum = 0;

	for (size_t i = 0; i < explanation->part_count; i++) {
		const size_t candidate = explanation->parts[i].candidate;
		enum rack_way way, other_way;
		size_t member, other;
		bool again = false;

		if (rack_legs_is_member(view->legs, candidate, &member, &way))
			for (size_t k = 0; k < i; k++)
				again |= rack_legs_is_member(view->legs,
					     explanation->parts[k].candidate, &other,
					     &other_way) &&
					 other == member;
		if (!again)
			sum += view->legs->candidates[candidate].log_prior;
	}
	return sum;
}

/* Through a ToR that is dead nobody gets out; one whose probes all come back does,
 * until now. */
static bool
gets_out(const struct rack_tally *tally)
{
	return tally->way_out_sent >= GETS_OUT_MIN &&
	       tally->way_out_answered == tally->way_out_sent &&
	       tally->way_out_newest_answered > 0;
}

enum rack_state
rack_suspect_tor(const struct rack_view *view, const struct rm_explanation *explanation)
{
	struct rack_tally all = { 0 };

	if (explanation->part_count == 0 || count_voters(view) < 2)
		return RACK_WORKS;
	for (size_t i = 0; i < view->legs->members; i++) {
		const struct rack_tally *tally = &view->tallies[i];

		if (gets_out(tally))
			return RACK_WORKS;
		all.sent += tally->sent;
		all.lost += tally->lost;
		all.newest_sent += tally->newest_sent;
		all.newest_lost += tally->newest_lost;
		all.send_failed += tally->send_failed;
	}
	/* When nothing works any more, whatever is blamed explains it: what is likelier
	 * to fail decides. */
	if (!is_share(all.newest_lost, all.newest_sent, FAILING_NEWEST_SHARE, 1) ||
	    prior_of(view, explanation) > rack_legs_prior_of_tor(view->legs))
		return RACK_WORKS;
	return is_dead(&all) ? RACK_FAILS : RACK_FAILING;
}

/* A dead one: who it is, or which two it may be. False: wait for more. */
static bool
name_dead(const struct rack_view *view, const struct finding *finding,
    struct rack_suspect_memory *memory, struct rack_suspect *ret)
{
	double behind;
	const enum rm_kind kind = direction(&view->tallies[finding->member], &behind);

	memory->undecided++;
	if (memory->named != 0) { /* it stands; a new kind must be sure of itself */
		ret->kind = behind >= SURE ? kind : memory->named;
		ret->confidence = confidence(SURE);
		return true;
	}
	if (finding->crowded || finding->other != RACK_NO_OTHER) {
		const bool alone = count_voters(view) == 1;

		if (memory->undecided < AMBIGUOUS_WINDOWS ||
		    (finding->crowded && !alone))
			return false;
		ret->other = alone ? RACK_OTHER_TOR : finding->other;
		ret->kind = RM_KIND_RNIC_DOWN;
		ret->confidence = confidence(finding->third_behind);
		return true;
	}
	if (behind < SURE && memory->undecided < UNDECIDED_WINDOWS)
		return false;
	ret->kind = behind >= AMBIGUOUS ? kind : RM_KIND_RNIC_DOWN;
	ret->confidence = confidence(nearer(finding->other_behind, behind));
	return true;
}

/* A kind that was named changes only for good reasons. */
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

static bool
judge_finding(const struct rack_view *view, const struct finding *finding,
    struct rack_suspect_memory *memory, struct rack_suspect *ret)
{
	const struct rack_tally *tally = &view->tallies[finding->member];

	*ret =
	    (struct rack_suspect){ .member = finding->member, .other = RACK_NO_OTHER };
	if (memory->since.ns == 0)
		memory->since = view->start;
	memory->lossy = is_lossy(tally, finding) ? memory->lossy + 1 : 0;
	if (is_dead(tally)) {
		if (!name_dead(view, finding, memory, ret))
			return false;
		if (ret->other !=
		    RACK_NO_OTHER) /* it may still get a name of its own */
			return true;
	} else {
		memory->undecided = 0;
		if (memory->lossy < LOSSY_WINDOWS)
			return false;
		ret->kind = RM_KIND_RNIC_LOSSY;
		ret->confidence = confidence(finding->other_behind);
	}
	ret->kind = settle_kind(memory, ret->kind);
	memory->absent = 0;
	return true;
}

static void
note_absence(struct rack_suspect_memory *memory, bool blamed)
{
	if (!blamed) {
		memory->since.ns = 0;
		memory->undecided = memory->lossy = 0;
	}
	memory->changing = 0;
	if (memory->named != 0 && ++memory->absent >= ABSENT_WINDOWS)
		memory->named = 0;
}

size_t
rack_suspects(const struct rack_view *view, const struct rm_explanation *explanation,
    struct rack_suspect_memory *memories, struct rack_suspect *suspects)
{
	size_t count = 0;

	for (size_t member = 0; member < view->legs->members; member++) {
		const bool blamed = view->blame->members[member];
		struct finding finding;

		if (blamed) {
			finding = find(view, explanation, member);
			if (judge_finding(
				view, &finding, &memories[member], &suspects[count])) {
				count++;
				continue;
			}
		}
		note_absence(&memories[member], blamed);
	}
	return count;
}

void
rack_suspects_forget(const struct rack_view *view, struct rack_suspect_memory *memories)
{
	for (size_t i = 0; i < view->legs->members; i++)
		note_absence(&memories[i], false);
}
