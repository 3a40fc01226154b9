#include "rackmesh/judge/judge.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/hypothesis.h"

#define MAX_EXCHANGES 4 /* rounds over all parts that try to replace each of them */
/* With more than so many parts more than the hypothesis, its rival is not improved by
 * exchanges: for so many parts they would cost too much time. */
#define RIVAL_PARTS 24
#define EPSILON 1e-9

struct rm_judge {
	struct rm_judge_options options;
	struct rm_hypothesis now;
	struct rm_snapshot kept; /* the best hypothesis that was found so far */
	/* the less likely one of the two hypotheses of find_two() */
	struct rm_snapshot rival;
	double rival_behind;
	/* The wide parts that are kept, and for each of them the ln of how much less
	 * likely the explanation with narrow parts in its place is. */
	struct rm_alternative *narrow;
	size_t narrow_count;
	/* the alternatives of all parts, part after part */
	struct rm_alternative *alternatives;
	size_t alternative_count, alternatives_size;
	struct rm_blamed *blamed;
};

int
rm_judge_new(const struct rm_judge_options *options, struct rm_judge **ret)
{
	struct rm_judge *judge;

	if (options->base_loss <= 0 || options->base_loss >= 1 ||
	    options->max_parts == 0 ||
	    (options->least_loss != 0 && options->least_loss <= options->base_loss))
		return -EINVAL;
	judge = calloc(1, sizeof *judge);
	if (judge == NULL)
		return -ENOMEM;
	judge->options = *options;
	judge->narrow = calloc(options->max_parts, sizeof *judge->narrow);
	judge->blamed = calloc(options->max_parts, sizeof *judge->blamed);
	if (rm_hypothesis_init(&judge->now, options) < 0 ||
	    rm_snapshot_init(&judge->kept, options) < 0 ||
	    rm_snapshot_init(&judge->rival, options) < 0 || judge->narrow == NULL ||
	    judge->blamed == NULL) {
		rm_judge_free(judge);
		return -ENOMEM;
	}
	*ret = judge;
	return 0;
}

void
rm_judge_free(struct rm_judge *judge)
{
	if (judge == NULL)
		return;
	rm_hypothesis_release(&judge->now);
	rm_snapshot_release(&judge->kept);
	rm_snapshot_release(&judge->rival);
	free(judge->narrow);
	free(judge->alternatives);
	free(judge->blamed);
	free(judge);
}

int
rm_judge_base_loss(struct rm_judge *judge, double base_loss)
{
	const double least =
	    judge->options.least_loss != 0 ? judge->options.least_loss : 1;

	if (base_loss <= 0 || base_loss >= least)
		return -EINVAL;
	judge->options.base_loss = base_loss;
	rm_hypothesis_base_loss(&judge->now, base_loss);
	return 0;
}

void
rm_judge_most_parts(struct rm_judge *judge, size_t most)
{
	const size_t room = judge->options.max_parts;

	judge->now.max = most == 0 ? 1 : most < room ? most : room;
}

/* True: the candidate with this gain, or with a gain of at most this, may be better
 * than `best`. Of two candidates with the same gain, the one with the lower index is
 * better: so the result does not depend on the order in which they are compared. */
static bool
may_be_better(double gain, size_t candidate, const struct rm_suspect *best)
{
	return gain > best->gain ||
	       (gain == best->gain && candidate < best->candidate && gain > 0);
}

/* The best candidate to add now; none that overlaps with a part: if both were blamed,
 * their common element would lose packets twice, and count for more of the possible
 * paths than it is on. If none has a gain above `floor` (0 or more), the gain returned
 * is `floor`. Candidates with known gains come first, because a high gain makes it
 * unnecessary to fit many of the others. */
static struct rm_suspect
best_addition(struct rm_hypothesis *h, size_t forbidden, double floor)
{
	struct rm_suspect best = { 0, 0, floor };

	for (size_t n = 0;
	     n < h->candidate_count && rm_hypothesis_max_gain_from(h, n) >= best.gain;
	     n++) {
		const size_t c = rm_hypothesis_by_rank(h, n);
		const struct rm_suspect *known = rm_hypothesis_known_fit(h, c);

		if (known != NULL && may_be_better(known->gain, c, &best) &&
		    c != forbidden && !rm_hypothesis_overlaps(h, c))
			best = *known;
	}
	for (size_t n = 0; n < h->candidate_count; n++) {
		const size_t c = rm_hypothesis_by_rank(h, n);
		const double most = rm_hypothesis_max_gain_from(h, n);
		struct rm_suspect suspect;

		if (most < best.gain || most <= 0)
			break;
		if (!may_be_better(rm_hypothesis_gain_bound(h, c), c, &best) ||
		    c == forbidden || rm_hypothesis_overlaps(h, c))
			continue;
		suspect = rm_hypothesis_fit(h, c);
		if (may_be_better(suspect.gain, c, &best))
			best = suspect;
	}
	return best;
}

/* Fits the candidates that may gain something. Call it before parts are lifted: fits
 * that are made while a part is lifted are dropped when it is put down, and would be
 * repeated for each part. */
static void
fit_promising(struct rm_hypothesis *h)
{
	for (size_t c = 0; c < h->candidate_count; c++)
		if (!rm_hypothesis_blames(h, c) && rm_hypothesis_gain_bound(h, c) > 0)
			rm_hypothesis_fit(h, c);
}

/* Tries for each part whether a candidate in its place has a higher gain. True: at
 * least one part was replaced. */
static bool
exchange(struct rm_hypothesis *h, size_t forbidden)
{
	bool changed = false;

	fit_promising(h);
	for (size_t i = h->count; i-- > 0;) {
		const struct rm_suspect old = rm_hypothesis_lift(h, i);
		const struct rm_suspect mine = rm_hypothesis_fit(h, old.candidate);
		const struct rm_suspect best =
		    best_addition(h, forbidden, fmax(mine.gain, 0));
		const bool better = best.gain > fmax(mine.gain, 0) + EPSILON;

		if (better || mine.gain > 0)
			rm_hypothesis_put_down(h, old, better ? best : mine);
		changed |= better;
	}
	return changed;
}

/* Adds parts to the empty hypothesis, but not the forbidden candidate. Returns the
 * candidate that was added first, or candidate_count. */
static size_t
grow(struct rm_hypothesis *h, size_t forbidden)
{
	size_t first = h->candidate_count;

	rm_hypothesis_clear(h);
	for (size_t round = 0; round < 2 * h->max && h->count < h->max; round++) {
		const struct rm_suspect part = best_addition(h, forbidden, 0);

		if (part.gain <= 0)
			break;
		if (round == 0)
			first = part.candidate;
		rm_hypothesis_add(h, part);
		for (size_t i = h->count; i-- > 0;)
			rm_hypothesis_refit(h, i);
	}
	return first;
}

static void
exchange_all(struct rm_hypothesis *h, size_t forbidden)
{
	for (int i = 0; i < MAX_EXCHANGES && h->count > 0; i++)
		if (!exchange(h, forbidden))
			break;
}

static int
by_behind(const void *a, const void *b)
{
	const struct rm_alternative *x = a, *y = b;

	if (x->behind != y->behind)
		return x->behind < y->behind ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static int
add_alternative(struct rm_judge *judge, struct rm_alternative alternative)
{
	if (judge->alternative_count == judge->alternatives_size) {
		const size_t more = 2 * judge->alternatives_size + 64;
		struct rm_alternative *wider =
		    realloc(judge->alternatives, more * sizeof *wider);

		if (wider == NULL)
			return -ENOMEM;
		judge->alternatives = wider;
		judge->alternatives_size = more;
	}
	judge->alternatives[judge->alternative_count++] = alternative;
	return 0;
}

static double
rival_behind(const struct rm_judge *judge, size_t candidate)
{
	for (size_t i = 0; i < judge->narrow_count; i++)
		if (judge->narrow[i].candidate == candidate)
			return judge->narrow[i].behind;
	for (size_t i = 0; i < judge->rival.count; i++)
		if (judge->rival.parts[i].candidate == candidate)
			return INFINITY;
	return judge->rival.count > 0 ? judge->rival_behind : INFINITY;
}

/* Describes the first part of the hypothesis, and appends the candidates that could be
 * blamed in its place to the judge's alternatives. Moves the part to the end of the
 * hypothesis, so that as many calls as there are parts describe each of them once. */
static int
describe(struct rm_judge *judge, struct rm_blamed *ret)
{
	struct rm_hypothesis *h = &judge->now;
	const struct rm_suspect old = rm_hypothesis_lift(h, 0);
	const size_t candidate = old.candidate;
	const struct rm_suspect part = rm_hypothesis_fit(h, candidate);
	const double within = judge->options.alternatives_within;
	const size_t first = judge->alternative_count;

	for (size_t n = 0; n < h->candidate_count &&
			   part.gain - rm_hypothesis_max_gain_from(h, n) <= within;
	     n++) {
		const size_t c = rm_hypothesis_by_rank(h, n);
		struct rm_alternative other = { .candidate = c };
		struct rm_suspect fit;

		if (c == candidate || rm_hypothesis_blames(h, c) ||
		    part.gain - rm_hypothesis_gain_bound(h, c) > within)
			continue;
		fit = rm_hypothesis_fit(h, c);
		other.behind = part.gain - fit.gain;
		other.loss = fit.loss;
		if (other.behind <= within && add_alternative(judge, other) < 0)
			return -ENOMEM;
	}
	rm_hypothesis_put_down(h, old, part);
	*ret = (struct rm_blamed){ candidate, h->parts[h->count - 1].loss, part.gain,
		rival_behind(judge, candidate), NULL,
		judge->alternative_count - first };
	if (ret->alternative_count > 0)
		qsort(judge->alternatives + first, ret->alternative_count,
		    sizeof *judge->alternatives, by_behind);
	return 0;
}

static int
by_gain(const void *a, const void *b)
{
	const struct rm_blamed *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* Fills judge->blamed, one entry per blamed part. */
static int
describe_all(struct rm_judge *judge)
{
	size_t first = 0;

	judge->alternative_count = 0;
	/* While all parts are blamed, the other candidates gain little, and without one
	 * part hardly more: by this bound, describe() skips most of them. */
	for (size_t c = 0; judge->now.count > 2 && c < judge->now.candidate_count; c++)
		if (!rm_hypothesis_blames(&judge->now, c))
			rm_hypothesis_fit(&judge->now, c);
	for (size_t i = 0; i < judge->now.count; i++)
		if (describe(judge, &judge->blamed[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < judge->now.count; i++) {
		struct rm_blamed *b = &judge->blamed[i];

		if (b->alternative_count > 0)
			b->alternatives = judge->alternatives + first;
		first += b->alternative_count;
	}
	qsort(judge->blamed, judge->now.count, sizeof *judge->blamed, by_gain);
	return 0;
}

static uint64_t
unexplained(const struct rm_hypothesis *h)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < h->observation_count; i++)
		if (h->outcomes[i].survival >= 1)
			lost += h->observations[i].lost;
	return lost;
}

/* Returns the ln by which this hypothesis has to be likelier than the kept one, because
 * it has more parts. 0: it has not more. */
static double
doubt(const struct rm_judge *judge)
{
	const struct rm_hypothesis *h = &judge->now;
	double lost = 0;

	if (judge->options.doubt == 0 || h->count <= judge->kept.count)
		return 0;
	for (size_t i = 0; i < h->observation_count; i++)
		lost += h->observations[i].lost;
	return fmin(judge->options.doubt * lost, RM_JUDGE_MOST_DOUBT);
}

/* Finds two hypotheses; leaves the likelier one in judge->kept, and the other one in
 * judge->rival. */
static void
find_two(struct rm_judge *judge)
{
	struct rm_hypothesis *h = &judge->now;
	const size_t first_pick = grow(h, h->candidate_count);
	double score, other;

	judge->rival.count = 0;
	exchange_all(h, h->candidate_count);
	score = rm_hypothesis_score(h);
	rm_hypothesis_save(h, &judge->kept);
	if (h->count == 0)
		return;
	/* If several narrow parts are at fault, the wide part that contains them may be
	 * added first, and then they cannot be added, because they share its elements.
	 * So search without it, too. */
	grow(h, first_pick);
	if (h->count <= judge->kept.count + RIVAL_PARTS)
		exchange_all(h, first_pick);
	other = rm_hypothesis_score(h);
	score += doubt(judge);
	judge->rival_behind = fabs(other - score);
	if (other > score) {
		rm_snapshot_copy(&judge->rival, &judge->kept);
		rm_hypothesis_save(h, &judge->kept);
		return;
	}
	rm_hypothesis_save(h, &judge->rival);
}

/* ---- several narrow parts in the place of a wide one ---- */

/* Adds the parts that make the hypothesis likelier, but not this wide candidate.
 * Returns how many parts of the hypothesis are narrow parts of that candidate. */
static size_t
grow_without(struct rm_hypothesis *h, size_t candidate)
{
	const uint32_t element = h->candidates[candidate].elements[0];
	size_t count = 0;

	for (size_t round = 0; round < h->max && h->count < h->max; round++) {
		const struct rm_suspect best = best_addition(h, candidate, 0);

		if (best.gain <= 0)
			break;
		rm_hypothesis_add(h, best);
		for (size_t i = h->count; i-- > 0;)
			rm_hypothesis_refit(h, i);
	}
	exchange_all(h, candidate);
	for (size_t i = 0; i < h->count; i++)
		count +=
		    rm_candidate_within(&h->candidates[h->parts[i].candidate], element);
	return count;
}

/* Like doubt(), but counts only the losses of observations that crossed this candidate.
 */
static double
doubt_of(struct rm_judge *judge, size_t candidate)
{
	struct rm_hypothesis *h = &judge->now;
	double lost = 0;
	size_t count;
	const struct rm_crossing *over =
	    rm_crossings_of(&h->crossings, candidate, &count);

	for (size_t i = 0; i < count; i++)
		lost += h->observations[over[i].observation].lost;
	return fmin(judge->options.doubt * lost, RM_JUDGE_MOST_DOUBT);
}

/* Replaces the nth kept part, which is wide, by other parts, if the hypothesis with
 * them is likelier by options.clear. One of the narrow parts has to cost its full
 * prior, so the relief of one part is subtracted. */
static bool
narrow_down(struct rm_judge *judge, size_t nth)
{
	struct rm_hypothesis *h = &judge->now;
	const size_t candidate = judge->kept.parts[nth].candidate;
	const uint32_t element = h->candidates[candidate].elements[0];
	double behind;
	size_t count;

	rm_hypothesis_return(h);
	behind = rm_hypothesis_score(h) + doubt_of(judge, candidate);
	rm_hypothesis_remove(h, nth);
	rm_hypothesis_relieve(h, element);
	count = grow_without(h, candidate);
	behind -= rm_hypothesis_score(h) - (count > 0 ? h->relief : 0);
	if (behind <= -judge->options.clear) {
		rm_hypothesis_save(h, &judge->kept);
		return true;
	}
	judge->narrow[judge->narrow_count++] =
	    (struct rm_alternative){ .candidate = candidate, .behind = behind };
	return false;
}

/* Marks the kept hypothesis, for narrow_down(). With several parts, most fits are
 * needed for each wide part again. */
static int
mark_kept(struct rm_judge *judge)
{
	rm_hypothesis_restore(&judge->now, &judge->kept);
	if (judge->kept.count > 2)
		fit_promising(&judge->now);
	return rm_hypothesis_mark(&judge->now);
}

/* Stores the likeliest hypothesis that was found in judge->now. */
static int
find_best(struct rm_judge *judge)
{
	struct rm_hypothesis *h = &judge->now;
	size_t i = 0, replaced = 0;
	bool is_marked = false;

	find_two(judge);
	judge->narrow_count = 0;
	while (h->relief > 0 && i < judge->kept.count && replaced < h->max) {
		if (!h->candidates[judge->kept.parts[i].candidate].wide) {
			i++;
			continue;
		}
		if (!is_marked && mark_kept(judge) < 0)
			return -ENOMEM;
		if (narrow_down(judge, i)) {
			/* The kept hypothesis is another one now: mark it again. */
			replaced++;
			is_marked = false;
		} else {
			i++;
			is_marked = true;
		}
	}
	rm_hypothesis_restore(h, &judge->kept);
	return 0;
}

int
rm_judge_explain(struct rm_judge *judge, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count,
    struct rm_explanation *ret)
{
	int r;

	r = rm_hypothesis_begin(&judge->now, elements, observations, observation_count,
	    candidates, candidate_count);
	if (r < 0)
		return r;
	r = find_best(judge);
	if (r == 0)
		r = describe_all(judge);
	if (r < 0)
		return r;
	*ret = (struct rm_explanation){ judge->blamed, judge->now.count,
		unexplained(&judge->now) };
	return 0;
}
