#include "rackmesh/judge/hypothesis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON 1e-9
#define SLACK 1e-7 /* rounding: sums of the same terms in another order differ */
/* if at most this share of packets survives, other parts are not needed to explain
 * losses */
#define EXPLAINED 0.02

/* The high shares of loss that are tried. With the highest one, each packet that
 * arrives although it crossed the part costs 5.3 (ln). */
static const double high_levels[] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
	0.95, 0.98, 0.995 };
#define HIGH_LEVELS (sizeof high_levels / sizeof *high_levels)
#define WHOLE 0.98     /* from this share on, the part counts as losing all packets */
#define LOW_RATIO 1.4  /* ratio between two neighbouring levels below 0.05 */
#define FINE_LEVELS 16 /* steps from the level below the best one to that above it */

static void
set_levels(struct rm_levels *levels, double least_loss)
{
	for (double level = least_loss;
	     level > 0 && level * LOW_RATIO < high_levels[0] &&
	     levels->count < RM_HYPOTHESIS_LEVELS - HIGH_LEVELS;
	     level *= LOW_RATIO)
		levels->loss[levels->count++] = level;
	for (size_t i = 0; i < HIGH_LEVELS; i++)
		levels->loss[levels->count++] = high_levels[i];
}

static void
set_logs(struct rm_levels *levels, double base_loss)
{
	for (size_t i = 0; i < levels->count; i++) {
		const double kept = (1 - base_loss) * (1 - levels->loss[i]);

		levels->log_lost[i] = log(1 - kept) - log(base_loss);
	}
}

void
rm_hypothesis_base_loss(struct rm_hypothesis *h, double base_loss)
{
	h->base_loss = base_loss;
	set_logs(&h->levels, base_loss);
}

int
rm_hypothesis_init(struct rm_hypothesis *h, const struct rm_judge_options *options)
{
	*h = (struct rm_hypothesis){ .max = options->max_parts,
		.room = options->max_parts,
		.partial_log_prior = options->partial_log_prior,
		.relief = options->siblings_relief };
	set_levels(&h->levels, options->least_loss);
	rm_hypothesis_base_loss(h, options->base_loss);
	h->parts = calloc(options->max_parts, sizeof *h->parts);
	h->relieved = calloc(options->max_parts + 1, sizeof *h->relieved);
	return h->parts != NULL && h->relieved != NULL ? 0 : -ENOMEM;
}

void
rm_hypothesis_release(struct rm_hypothesis *h)
{
	free(h->parts);
	free(h->outcomes);
	free(h->passing);
	free(h->kept_gains);
	free(h->groups);
	free(h->alone);
	free(h->fits);
	free(h->stale);
	free(h->bounds);
	free(h->order);
	free(h->relieved);
	free(h->costs_less);
	free(h->blamed);
	free(h->taken);
	free(h->marked);
	free(h->before);
	free(h->changed_in);
	rm_crossings_release(&h->crossings);
	*h = (struct rm_hypothesis){ 0 };
}

/* Returns P(lost) if the share `survival` of the packets passes all parts. */
static double
chance_lost(const struct rm_hypothesis *h, double survival)
{
	return 1 - (1 - h->base_loss) * survival;
}

/* Returns the cost (ln, negative) of assuming that this candidate has this share of
 * loss. */
static double
log_prior(const struct rm_hypothesis *h, size_t candidate, double loss)
{
	return h->candidates[candidate].log_prior +
	       (h->costs_less[candidate] ? h->relief : 0) +
	       (loss < WHOLE ? h->partial_log_prior : 0);
}

/* Returns the share of packets that passes a part with this loss. share: how often a
 * packet crosses the part on average; with 1.5, all packets cross it once, and half of
 * them a second time. */
static double
let_through(double share, double loss)
{
	double left = 1;

	for (; share >= 1; share--)
		left *= 1 - loss;
	return left * (1 - share * loss);
}

/* Sums over lossy observations that are not of the common kind (all packets crossed the
 * candidate once, and no other part explains their loss), but have the same share and
 * survival. There are few different ones: one logarithm per group saves many. */
struct rm_group {
	double survival;
	double lost;        /* packets */
	double chance_lost; /* with this survival */
	uint32_t share;     /* index in crossings.shares */
};

/* The losses of the packets that cross a candidate, as far as it may explain them. */
struct sums {
	double lost; /* packets of the common kind */
	struct rm_group *groups;
	size_t group_count;
};

#define BUCKETS 256 /* each has one group; a further one ends it */

struct buckets {
	uint64_t used[BUCKETS / 64]; /* a bit per bucket: it has a group */
	struct rm_group groups[BUCKETS];
};

static uint64_t
hash_of(const struct rm_hypothesis *h, double survival, uint32_t share)
{
	uint64_t key, other;

	memcpy(&key, &survival, sizeof key);
	memcpy(&other, &h->crossings.shares[share], sizeof other);
	return (key ^ other >> 7) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Adds the losses of an observation to its group. */
static void
group_up(const struct rm_hypothesis *h, struct sums *sums, struct buckets *buckets,
    const struct rm_outcome *o, uint32_t share)
{
	const uint64_t bucket = hash_of(h, o->survival, share) >> 56;
	const uint64_t bit = UINT64_C(1) << bucket % 64;
	struct rm_group *group = &buckets->groups[bucket];

	if ((buckets->used[bucket / 64] & bit) != 0) {
		if (group->share == share && group->survival == o->survival) {
			group->lost += o->lost;
			return;
		}
		sums->groups[sums->group_count++] = *group;
	}
	buckets->used[bucket / 64] |= bit;
	*group = (struct rm_group){ o->survival, o->lost, chance_lost(h, o->survival),
		share };
}

/* False: the candidate has no loss to explain. The order of the groups, and so the
 * rounding of the gain, does not depend on the order of the observations, unless groups
 * have the same bucket. */
static bool
sum_up(const struct rm_hypothesis *h, size_t candidate, struct sums *ret)
{
	struct buckets buckets;
	bool any = false;
	size_t count;
	const struct rm_crossing *over =
	    rm_crossings_of(&h->crossings, candidate, &count);

	*ret = (struct sums){ .groups = h->groups };
	memset(buckets.used, 0, sizeof buckets.used);
	for (size_t i = 0; i < count; i++) {
		const struct rm_outcome *o = &h->outcomes[over[i].observation];
		const uint32_t share = over[i].share;

		any |= o->survival > EXPLAINED || h->crossings.shares[share] < 1;
		if (o->survival >= 1 && share == RM_CROSSED_ONCE)
			ret->lost += o->lost;
		else if (o->survival > EXPLAINED)
			group_up(h, ret, &buckets, o, share);
	}
	for (size_t i = 0; i < BUCKETS / 64; i++)
		for (uint64_t used = buckets.used[i]; used != 0; used &= used - 1)
			ret->groups[ret->group_count++] =
			    buckets.groups[64 * i + (size_t)__builtin_ctzll(used)];
	return any;
}

static struct rm_passing
passing(double share, double loss)
{
	const double left = let_through(share, loss);

	return (struct rm_passing){ left, log(left) };
}

/* Returns the part of the gain that is due to the packets that are not lost, negative.
 * It does not depend on other parts. */
static double
kept_gain(const struct rm_hypothesis *h, size_t candidate, double loss)
{
	size_t count;
	const struct rm_kept *kept =
	    rm_crossings_kept(&h->crossings, candidate, &count);
	double gain = 0;

	for (size_t i = 0; i < count; i++)
		gain += kept[i].packets *
			log(let_through(h->crossings.shares[kept[i].share], loss));
	return gain;
}

/* The gain of a candidate without its prior, by level of loss; a level is computed when
 * it is needed. */
struct curve {
	const struct rm_hypothesis *h;
	const struct rm_levels *levels;
	size_t candidate;
	const struct sums *sums;
	double gains[RM_HYPOTHESIS_LEVELS];
	bool computed[RM_HYPOTHESIS_LEVELS];
};

/* A product of many factors, and its logarithm: one logarithm per product that a double
 * can hold. */
struct product {
	double value;
	double log; /* of the factors that are no longer in `value` */
};

#define MOST_POWER 8 /* higher powers are not multiplied out */
#define MOST_VALUE \
	1e150 /* times 8 factors of at most 1e16, it still fits in a double */

static void
multiply(struct product *product, double factor, double power)
{
	if (power > MOST_POWER) {
		product->log += power * log(factor);
		return;
	}
	for (; power > 0; power--)
		product->value *= factor;
	if (product->value > MOST_VALUE) {
		product->log += log(product->value);
		product->value = 1;
	}
}

/* Each lost packet gains the ln of the ratio of P(lost) with and without the candidate.
 */
static double
compute_gain(const struct curve *curve, size_t level)
{
	const struct rm_hypothesis *h = curve->h;
	const size_t levels = curve->levels->count;
	const double loss = curve->levels->loss[level];
	const bool usual = curve->levels == &h->levels;
	const struct sums *sums = curve->sums;
	struct product ratios = { 1, 0 };

	for (size_t i = 0; i < sums->group_count; i++) {
		const struct rm_group *group = &sums->groups[i];
		const double left =
		    usual ? h->passing[group->share * levels + level].share
			  : let_through(h->crossings.shares[group->share], loss);

		multiply(&ratios,
		    chance_lost(h, group->survival * left) / group->chance_lost,
		    group->lost);
	}
	return sums->lost * curve->levels->log_lost[level] +
	       (usual ? h->kept_gains[curve->candidate * levels + level]
		      : kept_gain(h, curve->candidate, loss)) +
	       ratios.log + log(ratios.value);
}

static double
gain_at(struct curve *curve, size_t level)
{
	if (!curve->computed[level]) {
		curve->gains[level] = compute_gain(curve, level);
		curve->computed[level] = true;
	}
	return curve->gains[level];
}

/* Returns the level with the highest gain. The gain is a concave function of the loss:
 * each packet that arrives costs ln(1 - loss), whatever the other parts are, and a lost
 * packet gains the ln of a concave function. So the search walks uphill, from a level
 * that is expected to be near. */
static size_t
climb(struct curve *curve, size_t from)
{
	size_t at = from;

	while (at + 1 < curve->levels->count &&
	       gain_at(curve, at + 1) > gain_at(curve, at))
		at++;
	if (at > from)
		return at;
	while (at > 0 && gain_at(curve, at - 1) >= gain_at(curve, at))
		at--;
	return at;
}

/* The first level with at least this loss, or the highest one. */
static size_t
level_of(const struct rm_levels *levels, double loss)
{
	size_t level = 0;

	while (level + 1 < levels->count && levels->loss[level] < loss)
		level++;
	return level;
}

/* Finds the level of loss at which the candidate, added to the parts, has the highest
 * gain. expected: a loss that may be near it. Apart from the highest gain of all, only
 * the lowest level that counts as losing all packets may be the best one, because the
 * prior of those below is lower. */
static struct rm_suspect
fit(const struct rm_hypothesis *h, size_t candidate, double expected)
{
	const struct rm_levels *levels = &h->levels;
	struct sums sums;
	struct curve curve = {
		.h = h, .levels = levels, .candidate = candidate, .sums = &sums
	};
	struct rm_suspect best = { candidate, 0, -INFINITY };
	size_t at;
	double whole;

	if (!sum_up(h, candidate, &sums))
		return best;
	at = climb(&curve, level_of(levels, expected));
	best.loss = levels->loss[at];
	best.gain = gain_at(&curve, at) + log_prior(h, candidate, best.loss);
	if (best.loss >= WHOLE || h->partial_log_prior == 0)
		return best;
	at = level_of(levels, WHOLE);
	whole = gain_at(&curve, at) + log_prior(h, candidate, WHOLE);
	return whole > best.gain
		   ? (struct rm_suspect){ candidate, levels->loss[at], whole }
		   : best;
}

/* Fits the share of loss more finely, between the two levels next to the best one. */
static double
fit_finely(struct rm_hypothesis *h, struct rm_suspect part)
{
	const struct rm_levels *all = &h->levels;
	const size_t at = level_of(all, part.loss);
	struct rm_levels fine = { .count = FINE_LEVELS - 1 };
	struct sums sums;
	struct curve curve = {
		.h = h, .levels = &fine, .candidate = part.candidate, .sums = &sums
	};
	double low, high;

	if (at + 1 == all->count || all->loss[at + 1] >= WHOLE ||
	    !sum_up(h, part.candidate, &sums))
		return part.loss;
	low = all->loss[at > 0 ? at - 1 : 0];
	high = all->loss[at + 1];
	for (size_t i = 0; i < fine.count; i++)
		fine.loss[i] = low + (high - low) * (double)(i + 1) / FINE_LEVELS;
	set_logs(&fine, h->base_loss);
	return fine.loss[climb(&curve, level_of(&fine, part.loss))];
}

struct ranked {
	double gain;
	uint32_t candidate;
};

static int
by_gain(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static int
sort_candidates(struct rm_hypothesis *h)
{
	struct ranked *ranked = malloc((h->candidate_count + 1) * sizeof *ranked);

	if (ranked == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->candidate_count; i++)
		ranked[i] = (struct ranked){ h->alone[i].gain, i };
	if (h->candidate_count > 0)
		qsort(ranked, h->candidate_count, sizeof *ranked, by_gain);
	for (size_t i = 0; i < h->candidate_count; i++)
		h->order[i] = ranked[i].candidate;
	free(ranked);
	return 0;
}

/* Makes room in all arrays with one item per candidate. */
static int
make_room(struct rm_hypothesis *h, size_t count)
{
	if (rm_scratch(&h->alone, &h->alone_size, count, sizeof *h->alone) < 0 ||
	    rm_scratch(&h->fits, &h->fits_size, count, sizeof *h->fits) < 0 ||
	    rm_scratch(&h->stale, &h->stale_size, count, sizeof(bool)) < 0 ||
	    rm_scratch(&h->bounds, &h->bounds_size, count, sizeof *h->bounds) < 0 ||
	    rm_scratch(&h->order, &h->order_size, count, sizeof *h->order) < 0 ||
	    rm_scratch(&h->costs_less, &h->costs_less_size, count, sizeof(bool)) < 0 ||
	    rm_scratch(&h->blamed, &h->blamed_size, count, sizeof(bool)) < 0 ||
	    rm_scratch(&h->before, &h->before_size, count, sizeof *h->before) < 0 ||
	    rm_scratch(
		&h->changed_in, &h->changed_in_size, count, sizeof *h->changed_in) < 0)
		return -ENOMEM;
	return 0;
}

static void
blame_none(struct rm_hypothesis *h)
{
	h->count = 0;
	memset(h->taken, 0, h->element_count * sizeof *h->taken);
	for (size_t i = 0; i < h->observation_count; i++)
		h->outcomes[i].survival = 1;
	memset(h->blamed, 0, h->candidate_count * sizeof *h->blamed);
}

static void
relieve_none(struct rm_hypothesis *h)
{
	h->relieved_count = 0;
	memset(h->costs_less, 0, h->candidate_count * sizeof *h->costs_less);
}

static int
set_passing(struct rm_hypothesis *h)
{
	const size_t levels = h->levels.count;

	if (rm_scratch(&h->passing, &h->passing_size, h->crossings.share_count * levels,
		sizeof *h->passing) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->crossings.share_count; i++)
		for (size_t k = 0; k < levels; k++)
			h->passing[i * levels + k] =
			    passing(h->crossings.shares[i], h->levels.loss[k]);
	return 0;
}

static int
set_kept_gains(struct rm_hypothesis *h, size_t candidates)
{
	const size_t levels = h->levels.count;

	if (rm_scratch(&h->kept_gains, &h->kept_gains_size, candidates * levels + 1,
		sizeof *h->kept_gains) < 0)
		return -ENOMEM;
	memset(h->kept_gains, 0, candidates * levels * sizeof *h->kept_gains);
	for (size_t c = 0; c < candidates; c++) {
		size_t count;
		const struct rm_kept *kept =
		    rm_crossings_kept(&h->crossings, c, &count);

		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < levels; k++)
				h->kept_gains[c * levels + k] +=
				    kept[i].packets *
				    h->passing[kept[i].share * levels + k].log_kept;
	}
	return 0;
}

int
rm_hypothesis_begin(struct rm_hypothesis *h, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count)
{
	int r;

	r = rm_crossings_build(&h->crossings, elements, observations, observation_count,
	    candidates, candidate_count);
	if (r < 0)
		return r;
	if (rm_scratch(&h->outcomes, &h->outcomes_size, observation_count + 1,
		sizeof *h->outcomes) < 0 ||
	    rm_scratch(&h->groups, &h->groups_size, observation_count + 1,
		sizeof *h->groups) < 0 ||
	    rm_scratch(&h->taken, &h->taken_size, elements + 1, sizeof *h->taken) < 0 ||
	    make_room(h, candidate_count + 1) < 0 || set_passing(h) < 0 ||
	    set_kept_gains(h, candidate_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < observation_count; i++)
		h->outcomes[i].lost = observations[i].lost;
	h->element_count = elements;
	h->observations = observations;
	h->observation_count = observation_count;
	h->candidates = candidates;
	h->candidate_count = candidate_count;
	h->is_lifted = false;
	relieve_none(h);
	blame_none(h);
	for (size_t i = 0; i < candidate_count; i++)
		h->alone[i] = fit(h, i, WHOLE);
	rm_hypothesis_clear(h);
	return sort_candidates(h);
}

void
rm_hypothesis_clear(struct rm_hypothesis *h)
{
	blame_none(h);
	for (size_t i = 0; i < h->candidate_count; i++) {
		h->fits[i] = h->alone[i];
		h->fits[i].gain = h->bounds[i] = rm_hypothesis_max_gain(h, i);
		h->stale[i] = false;
	}
}

void
rm_hypothesis_relieve(struct rm_hypothesis *h, uint32_t element)
{
	h->relieved[h->relieved_count++] = element;
	for (size_t i = 0; i < h->candidate_count; i++) {
		if (h->costs_less[i] ||
		    !rm_candidate_within(&h->candidates[i], element))
			continue;
		h->costs_less[i] = true;
		h->fits[i].gain += h->relief;
		h->bounds[i] += h->relief;
	}
}

double
rm_hypothesis_max_gain(const struct rm_hypothesis *h, size_t candidate)
{
	return h->alone[candidate].gain + (h->costs_less[candidate] ? h->relief : 0);
}

double
rm_hypothesis_max_gain_from(const struct rm_hypothesis *h, size_t nth)
{
	return h->alone[h->order[nth]].gain + (h->relieved_count > 0 ? h->relief : 0);
}

double
rm_hypothesis_gain_bound(const struct rm_hypothesis *h, size_t candidate)
{
	return h->stale[candidate]
		   ? fmin(h->bounds[candidate], rm_hypothesis_max_gain(h, candidate))
		   : h->fits[candidate].gain;
}

size_t
rm_hypothesis_by_rank(const struct rm_hypothesis *h, size_t nth)
{
	return h->order[nth];
}

const struct rm_suspect *
rm_hypothesis_known_fit(const struct rm_hypothesis *h, size_t candidate)
{
	return h->stale[candidate] ? NULL : &h->fits[candidate];
}

/* Call it before a candidate's fit changes: while a part is lifted, remembers the fit.
 */
static void
remember(struct rm_hypothesis *h, size_t candidate)
{
	if (!h->is_lifted || h->changed_in[candidate] == h->lift)
		return;
	h->changed_in[candidate] = h->lift;
	h->before[h->before_count++] = (struct rm_fit_before){ h->fits[candidate],
		h->bounds[candidate], (uint32_t)candidate, h->stale[candidate] };
}

struct rm_suspect
rm_hypothesis_fit(struct rm_hypothesis *h, size_t candidate)
{
	if (h->stale[candidate]) {
		remember(h, candidate);
		h->fits[candidate] = fit(h, candidate, h->fits[candidate].loss);
		/* -INFINITY: the parts explain all losses of packets that cross the
		 * candidate. It is not a bound for later fits, because a part may be
		 * removed. */
		h->bounds[candidate] = isinf(h->fits[candidate].gain)
					   ? rm_hypothesis_max_gain(h, candidate)
					   : h->fits[candidate].gain;
		h->stale[candidate] = false;
	}
	return h->fits[candidate];
}

bool
rm_hypothesis_blames(const struct rm_hypothesis *h, size_t candidate)
{
	return h->blamed[candidate];
}

bool
rm_hypothesis_overlaps(const struct rm_hypothesis *h, size_t candidate)
{
	const struct rm_candidate *c = &h->candidates[candidate];

	for (uint32_t k = 0; k < c->element_count; k++)
		if (h->taken[c->elements[k]] > 0)
			return true;
	return false;
}

static void
set_blamed(struct rm_hypothesis *h, size_t candidate, bool blamed)
{
	const struct rm_candidate *c = &h->candidates[candidate];

	h->blamed[candidate] = blamed;
	for (uint32_t k = 0; k < c->element_count; k++)
		h->taken[c->elements[k]] += blamed ? 1 : -1;
}

/* Updates the survival of lossy observations after a part was added or removed. */
static void
scale_survival(struct rm_hypothesis *h, size_t candidate, double loss, bool added)
{
	size_t count;
	const struct rm_crossing *over =
	    rm_crossings_of(&h->crossings, candidate, &count);
	uint32_t share = UINT32_MAX; /* of the observation before */
	double left = 1;

	for (size_t i = 0; i < count; i++) {
		struct rm_outcome *o = &h->outcomes[over[i].observation];

		if (over[i].share != share) {
			share = over[i].share;
			left = let_through(h->crossings.shares[share], loss);
			left = added ? left : 1 / left;
		}
		o->survival *= left;
		if (o->survival >
		    1 - EPSILON) /* apart from rounding, no part is left */
			o->survival = 1;
	}
}

/* The survival of an observation has grown from `before` to `now`. Returns an upper
 * bound of the increase of a candidate's gain for each lost packet: the gain of a
 * candidate that lets no packet through. */
static double
more_for_each(const struct rm_hypothesis *h, double before, double now)
{
	if (now <= before)
		return 0;
	return (before > EXPLAINED ? log(chance_lost(h, before)) : 0) -
	       log(chance_lost(h, now));
}

/* The share of loss of a part has changed from `before` to `loss`. Marks as stale the
 * fits of all candidates that have a lossy observation in common with it, and raises
 * their bounds as far as the change may raise their gains. */
static void
forget_fits(struct rm_hypothesis *h, size_t candidate, double loss, double before)
{
	const struct rm_index *index = &h->crossings.candidates;
	size_t count;
	const struct rm_crossing *over =
	    rm_crossings_of(&h->crossings, candidate, &count);

	for (size_t i = 0; i < count; i++) {
		const uint32_t at = over[i].observation;
		const struct rm_outcome *o = &h->outcomes[at];
		double more = 0;

		if (loss < before) {
			const double share = h->crossings.shares[over[i].share];
			const double was = o->survival * let_through(share, before) /
					   let_through(share, loss);

			more = o->lost * more_for_each(h, was, o->survival) + SLACK;
		}
		for (size_t k = index->first[at]; k < index->first[at + 1]; k++) {
			const uint32_t c = index->list[k];

			remember(h, c);
			h->stale[c] = true;
			h->bounds[c] += more;
		}
	}
}

/* Adds a part without fitting its share of loss again, and without forgetting fits. */
static void
place(struct rm_hypothesis *h, struct rm_suspect part)
{
	h->parts[h->count++] = part;
	set_blamed(h, part.candidate, true);
	scale_survival(h, part.candidate, part.loss, true);
}

static void
add_part(struct rm_hypothesis *h, struct rm_suspect part)
{
	place(h, part);
	forget_fits(h, part.candidate, part.loss, 0);
}

void
rm_hypothesis_add(struct rm_hypothesis *h, struct rm_suspect part)
{
	part.loss = fit_finely(h, part);
	add_part(h, part);
}

static void
remove_part(struct rm_hypothesis *h, size_t at)
{
	set_blamed(h, h->parts[at].candidate, false);
	h->count--;
	memmove(&h->parts[at], &h->parts[at + 1],
	    (h->count - at) * sizeof(struct rm_suspect));
}

struct rm_suspect
rm_hypothesis_remove(struct rm_hypothesis *h, size_t at)
{
	const struct rm_suspect part = h->parts[at];

	remove_part(h, at);
	scale_survival(h, part.candidate, part.loss, false);
	forget_fits(h, part.candidate, 0, part.loss);
	return part;
}

struct rm_suspect
rm_hypothesis_lift(struct rm_hypothesis *h, size_t at)
{
	if (++h->lift == 0) { /* The counter has wrapped: numbers of earlier lifts could
				 equal new ones. */
		memset(h->changed_in, 0, h->changed_in_size * sizeof *h->changed_in);
		h->lift = 1;
	}
	h->before_count = 0;
	h->is_lifted = true;
	return rm_hypothesis_remove(h, at);
}

void
rm_hypothesis_put_down(
    struct rm_hypothesis *h, struct rm_suspect lifted, struct rm_suspect part)
{
	h->is_lifted = false;
	part.loss = fit_finely(h, part);
	if (part.candidate != lifted.candidate || part.loss != lifted.loss) {
		add_part(h, part);
		return;
	}
	place(h, part);
	for (size_t i = 0; i < h->before_count; i++) {
		const struct rm_fit_before *before = &h->before[i];

		h->fits[before->candidate] = before->fit;
		h->bounds[before->candidate] = before->bound;
		h->stale[before->candidate] = before->stale;
	}
}

void
rm_hypothesis_refit(struct rm_hypothesis *h, size_t at)
{
	const struct rm_suspect old = h->parts[at];
	struct rm_suspect part;

	if (!h->stale[old.candidate])
		return;
	scale_survival(h, old.candidate, old.loss, false);
	part = fit(h, old.candidate, old.loss);
	if (part.gain > 0) {
		part.loss = fit_finely(h, part);
		h->parts[at] = part;
		scale_survival(h, old.candidate, part.loss, true);
	} else {
		remove_part(h, at);
	}
	if (part.gain <= 0 || part.loss != old.loss)
		forget_fits(h, old.candidate, part.gain > 0 ? part.loss : 0, old.loss);
	h->stale[old.candidate] = part.gain <= 0;
}

double
rm_hypothesis_score(const struct rm_hypothesis *h)
{
	const double base = log(h->base_loss);
	double sum = 0;

	for (size_t i = 0; i < h->observation_count; i++) {
		const struct rm_outcome *o = &h->outcomes[i];

		if (o->lost > 0 && o->survival < 1)
			sum += o->lost * (log(chance_lost(h, o->survival)) - base);
	}
	for (size_t i = 0; i < h->count; i++) {
		const struct rm_suspect *part = &h->parts[i];

		sum += log_prior(h, part->candidate, part->loss) +
		       kept_gain(h, part->candidate, part->loss);
	}
	return sum;
}

/* ---- marks ---- */

#define STATE_ARRAYS 9

struct state_array {
	void *array;
	size_t bytes;
};

/* The arrays that a change of the hypothesis changes. */
static void
list_state(struct rm_hypothesis *h, struct state_array ret[STATE_ARRAYS])
{
	const size_t n = h->candidate_count;
	const struct state_array arrays[STATE_ARRAYS] = {
		{ h->parts, h->room * sizeof *h->parts },
		{ h->relieved, (h->room + 1) * sizeof *h->relieved },
		{ h->outcomes, h->observation_count * sizeof *h->outcomes },
		{ h->taken, h->element_count * sizeof *h->taken },
		{ h->fits, n * sizeof *h->fits },
		{ h->bounds, n * sizeof *h->bounds },
		{ h->stale, n * sizeof *h->stale },
		{ h->costs_less, n * sizeof *h->costs_less },
		{ h->blamed, n * sizeof *h->blamed },
	};

	memcpy(ret, arrays, sizeof arrays);
}

int
rm_hypothesis_mark(struct rm_hypothesis *h)
{
	struct state_array arrays[STATE_ARRAYS];
	size_t bytes = 0, at = 0;

	list_state(h, arrays);
	for (size_t i = 0; i < STATE_ARRAYS; i++)
		bytes += arrays[i].bytes;
	if (rm_scratch(&h->marked, &h->marked_size, bytes, 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < STATE_ARRAYS; at += arrays[i++].bytes)
		memcpy(h->marked + at, arrays[i].array, arrays[i].bytes);
	h->marked_count = h->count;
	h->marked_relieved = h->relieved_count;
	return 0;
}

void
rm_hypothesis_return(struct rm_hypothesis *h)
{
	struct state_array arrays[STATE_ARRAYS];
	size_t at = 0;

	list_state(h, arrays);
	for (size_t i = 0; i < STATE_ARRAYS; at += arrays[i++].bytes)
		memcpy(arrays[i].array, h->marked + at, arrays[i].bytes);
	h->count = h->marked_count;
	h->relieved_count = h->marked_relieved;
}

/* ---- snapshots ---- */

int
rm_snapshot_init(struct rm_snapshot *snapshot, const struct rm_judge_options *options)
{
	*snapshot = (struct rm_snapshot){
		.parts = calloc(options->max_parts, sizeof *snapshot->parts),
		.relieved = calloc(options->max_parts + 1, sizeof *snapshot->relieved)
	};
	return snapshot->parts != NULL && snapshot->relieved != NULL ? 0 : -ENOMEM;
}

void
rm_snapshot_release(struct rm_snapshot *snapshot)
{
	free(snapshot->parts);
	free(snapshot->relieved);
	*snapshot = (struct rm_snapshot){ 0 };
}

static void
fill(struct rm_snapshot *to, const struct rm_suspect *parts, size_t count,
    const uint32_t *relieved, size_t relieved_count)
{
	memcpy(to->parts, parts, count * sizeof *parts);
	to->count = count;
	memcpy(to->relieved, relieved, relieved_count * sizeof *relieved);
	to->relieved_count = relieved_count;
}

void
rm_snapshot_copy(struct rm_snapshot *to, const struct rm_snapshot *from)
{
	fill(to, from->parts, from->count, from->relieved, from->relieved_count);
}

void
rm_hypothesis_save(const struct rm_hypothesis *h, struct rm_snapshot *ret)
{
	fill(ret, h->parts, h->count, h->relieved, h->relieved_count);
}

void
rm_hypothesis_restore(struct rm_hypothesis *h, const struct rm_snapshot *snapshot)
{
	relieve_none(h);
	for (size_t i = 0; i < snapshot->relieved_count; i++)
		rm_hypothesis_relieve(h, snapshot->relieved[i]);
	rm_hypothesis_clear(h);
	for (size_t i = 0; i < snapshot->count; i++)
		add_part(h, snapshot->parts[i]);
}
