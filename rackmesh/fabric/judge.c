#include "rackmesh/fabric/judge.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/fabric/crossings.h"

/* Shares of loss that are tried; one arrival through a part at the last costs 5.3. */
static const double levels[] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
	0.95, 0.98, 0.995 };

#define LEVELS (sizeof levels / sizeof *levels)
#define MAX_EXCHANGES 4 /* rounds over all parts; each makes the whole likelier */
#define EPSILON 1e-9

struct part {
	size_t candidate;
	double loss, gain;
};

/* A set of parts and how likely they make what was seen, as ln against none. */
struct hypothesis {
	struct part *parts;
	size_t count;
	double score;
};

struct rm_judge {
	struct rm_judge_options options;
	double log_lost[LEVELS]; /* ln P(lost) of a level over that of base_loss */
	double log_kept[LEVELS];

	/* of the current call */
	const struct rm_observation *observations;
	size_t observation_count;
	const struct rm_candidate *candidates;
	size_t candidate_count;
	struct hypothesis now, best;

	/* scratch, kept and grown */
	struct rm_crossings crossings;
	double *survival; /* by observation: share that the blamed parts let through */
	size_t survival_size;
	struct rm_alternative *alternatives;
	size_t alternatives_size;
	struct rm_blamed *blamed;
};

int
rm_judge_new(const struct rm_judge_options *options, struct rm_judge **ret)
{
	struct rm_judge *judge;

	if (options->base_loss <= 0 || options->base_loss >= 1 ||
	    options->max_parts == 0)
		return -EINVAL;
	judge = calloc(1, sizeof *judge);
	if (judge == NULL)
		return -ENOMEM;
	judge->options = *options;
	judge->now.parts = calloc(options->max_parts, sizeof(struct part));
	judge->best.parts = calloc(options->max_parts, sizeof(struct part));
	judge->blamed = calloc(options->max_parts, sizeof *judge->blamed);
	if (judge->now.parts == NULL || judge->best.parts == NULL ||
	    judge->blamed == NULL) {
		rm_judge_free(judge);
		return -ENOMEM;
	}
	for (size_t i = 0; i < LEVELS; i++) {
		const double kept = (1 - options->base_loss) * (1 - levels[i]);

		judge->log_lost[i] = log(1 - kept) - log(options->base_loss);
		judge->log_kept[i] = log(1 - levels[i]);
	}
	*ret = judge;
	return 0;
}

void
rm_judge_free(struct rm_judge *judge)
{
	if (judge == NULL)
		return;
	free(judge->now.parts);
	free(judge->best.parts);
	free(judge->blamed);
	rm_crossings_release(&judge->crossings);
	free(judge->survival);
	free(judge->alternatives);
	free(judge);
}

/* ln P(lost) where the blamed parts let `survival` through. */
static double
log_lost(const struct rm_judge *judge, double survival)
{
	return log(1 - (1 - judge->options.base_loss) * survival);
}

/*
 * How much likelier the candidate, added to what is blamed now, makes the whole at
 * its best share of loss. An arrival costs ln(1 - loss) whatever else is blamed; a
 * loss brings more where nothing else explains it.
 */
static struct part
fit(struct rm_judge *judge, size_t candidate)
{
	struct part part = { candidate, 0, -INFINITY };
	double kept = 0, lost = 0, shared[LEVELS] = { 0 };
	bool any = false;
	struct rm_walk walk =
	    rm_crossings_walk(&judge->crossings, &judge->candidates[candidate]);
	size_t i;

	while (rm_crossings_next(&judge->crossings, &walk, &i)) {
		const struct rm_observation *o = &judge->observations[i];
		const double s = judge->survival[i];

		kept += o->sent - o->lost;
		if (s >= 1) {
			lost += o->lost;
		} else if (o->lost > 0) {
			any = true;
			for (size_t k = 0; k < LEVELS; k++)
				shared[k] +=
				    o->lost * (log_lost(judge, s * (1 - levels[k])) -
						  log_lost(judge, s));
		}
	}
	if (lost == 0 && !any)
		return part;
	for (size_t k = 0; k < LEVELS; k++) {
		const double gain = lost * judge->log_lost[k] +
				    kept * judge->log_kept[k] + shared[k] +
				    judge->candidates[candidate].log_prior;

		if (gain > part.gain) {
			part.gain = gain;
			part.loss = levels[k];
		}
	}
	return part;
}

static void
scale_survival(struct rm_judge *judge, size_t candidate, double factor)
{
	struct rm_walk walk =
	    rm_crossings_walk(&judge->crossings, &judge->candidates[candidate]);
	size_t i;

	while (rm_crossings_next(&judge->crossings, &walk, &i)) {
		double *s = &judge->survival[i];

		*s *= factor;
		if (*s > 1 - EPSILON) /* what was multiplied in came out again */
			*s = 1;
	}
}

static void
put(struct rm_judge *judge, struct part part)
{
	judge->now.parts[judge->now.count++] = part;
	scale_survival(judge, part.candidate, 1 - part.loss);
}

/* Takes the part out; what it gave back to the score is fitted anew. */
static struct part
take(struct rm_judge *judge, size_t at)
{
	const struct part part = judge->now.parts[at];

	judge->now.count--;
	memmove(&judge->now.parts[at], &judge->now.parts[at + 1],
	    (judge->now.count - at) * sizeof part);
	scale_survival(judge, part.candidate, 1 / (1 - part.loss));
	return part;
}

/* What the whole hypothesis gains: not the sum of gains, which depend on order. */
static double
score(const struct rm_judge *judge)
{
	const double base = log(judge->options.base_loss);
	double sum = 0;

	for (size_t i = 0; i < judge->observation_count; i++) {
		const struct rm_observation *o = &judge->observations[i];
		const double s = judge->survival[i];

		if (s < 1)
			sum += o->lost * (log_lost(judge, s) - base) +
			       (o->sent - o->lost) * log(s);
	}
	for (size_t i = 0; i < judge->now.count; i++)
		sum += judge->candidates[judge->now.parts[i].candidate].log_prior;
	return sum;
}

static bool
is_blamed(const struct rm_judge *judge, size_t candidate)
{
	for (size_t i = 0; i < judge->now.count; i++)
		if (judge->now.parts[i].candidate == candidate)
			return true;
	return false;
}

/* The best one to add now; its gain is negative when there is none. */
static struct part
best_addition(struct rm_judge *judge, size_t forbidden)
{
	struct part best = { 0, 0, -INFINITY };

	for (size_t c = 0; c < judge->candidate_count; c++) {
		struct part part;

		if (c == forbidden || is_blamed(judge, c))
			continue;
		part = fit(judge, c);
		if (part.gain > best.gain)
			best = part;
	}
	return best;
}

/* Each part again in the light of the others: its share, or whether it is needed. */
static void
refit(struct rm_judge *judge)
{
	for (size_t i = judge->now.count; i-- > 0;) {
		const struct part part = fit(judge, take(judge, i).candidate);

		if (part.gain > 0)
			put(judge, part);
	}
}

/* Replaces a part by any candidate that does better in its place. */
static bool
exchange(struct rm_judge *judge, size_t forbidden)
{
	bool changed = false;

	for (size_t i = judge->now.count; i-- > 0;) {
		const size_t old = take(judge, i).candidate;
		const struct part mine = fit(judge, old);
		const struct part best = best_addition(judge, forbidden);
		const bool better = best.gain > mine.gain + EPSILON;

		if (better ? best.gain > 0 : mine.gain > 0)
			put(judge, better ? best : mine);
		changed |= better;
	}
	return changed;
}

/* Builds judge->now without the forbidden candidate; its first pick is *ret. */
static void
search(struct rm_judge *judge, size_t forbidden, size_t *ret)
{
	judge->now.count = 0;
	judge->now.score = 0;
	for (size_t i = 0; i < judge->observation_count; i++)
		judge->survival[i] = 1;
	*ret = judge->candidate_count;
	for (size_t round = 0; round < 2 * judge->options.max_parts; round++) {
		struct part part;

		if (judge->now.count == judge->options.max_parts)
			break;
		part = best_addition(judge, forbidden);
		if (part.gain <= 0)
			break;
		if (round == 0)
			*ret = part.candidate;
		put(judge, part);
		if (judge->now.count > 1)
			refit(judge);
	}
	for (int i = 0; i < MAX_EXCHANGES && judge->now.count > 0; i++)
		if (!exchange(judge, forbidden))
			break;
	judge->now.score = score(judge);
}

static int
by_behind(const void *a, const void *b)
{
	const struct rm_alternative *x = a, *y = b;

	if (x->behind != y->behind)
		return x->behind < y->behind ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* The first part of judge->now, with all that could stand in its place. It goes to
 * the end, so that as many calls as there are parts describe each of them once. */
static void
describe(
    struct rm_judge *judge, struct rm_alternative *alternatives, struct rm_blamed *ret)
{
	const struct part part = fit(judge, take(judge, 0).candidate);
	size_t count = 0;

	for (size_t c = 0; c < judge->candidate_count; c++) {
		double behind;

		if (c == part.candidate || is_blamed(judge, c))
			continue;
		behind = part.gain - fit(judge, c).gain;
		if (behind <= judge->options.alternatives_within)
			alternatives[count++] = (struct rm_alternative){ c, behind };
	}
	qsort(alternatives, count, sizeof *alternatives, by_behind);
	put(judge, part);
	*ret = (struct rm_blamed){ part.candidate, part.loss, part.gain, alternatives,
		count };
}

static uint64_t
unexplained(const struct rm_judge *judge)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < judge->observation_count; i++)
		if (judge->survival[i] >= 1)
			lost += judge->observations[i].lost;
	return lost;
}

static void
swap_hypotheses(struct rm_judge *judge)
{
	const struct hypothesis now = judge->now;

	judge->now = judge->best;
	judge->best = now;
}

/* Makes the kept hypothesis the current one again. */
static void
restore_best(struct rm_judge *judge)
{
	swap_hypotheses(judge);
	for (size_t i = 0; i < judge->observation_count; i++)
		judge->survival[i] = 1;
	for (size_t i = 0; i < judge->now.count; i++)
		scale_survival(
		    judge, judge->now.parts[i].candidate, 1 - judge->now.parts[i].loss);
}

int
rm_judge_explain(struct rm_judge *judge, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count,
    struct rm_explanation *ret)
{
	size_t first_pick, used = 0;
	int r;

	judge->observations = observations;
	judge->observation_count = observation_count;
	judge->candidates = candidates;
	judge->candidate_count = candidate_count;
	r = rm_crossings_build(&judge->crossings, elements, observations,
	    observation_count, candidates, candidate_count);
	if (r < 0)
		return r;
	if (rm_scratch(&judge->alternatives, &judge->alternatives_size,
		judge->options.max_parts * candidate_count + 1,
		sizeof *judge->alternatives) < 0 ||
	    rm_scratch(&judge->survival, &judge->survival_size, observation_count + 1,
		sizeof *judge->survival) < 0)
		return -ENOMEM;
	search(judge, candidate_count, &first_pick);
	if (judge->now.count > 0) {
		/* A wide part may be picked first where several narrow ones are at
		 * fault, and then stand in their way: try without it too. */
		swap_hypotheses(judge);
		search(judge, first_pick, &first_pick);
		if (judge->now.score <= judge->best.score)
			restore_best(judge);
	}
	for (size_t i = 0; i < judge->now.count; i++) {
		describe(judge, judge->alternatives + used, &judge->blamed[i]);
		used += judge->blamed[i].alternative_count;
	}
	*ret = (struct rm_explanation){ judge->blamed, judge->now.count,
		unexplained(judge) };
	return 0;
}
