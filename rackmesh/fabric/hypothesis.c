#include "rackmesh/fabric/hypothesis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS RM_HYPOTHESIS_LEVELS
#define EPSILON 1e-9
#define EXPLAINED 0.02 /* where no more than this survives, losses need nobody else */
#define SPREAD_EXPLAINED 0.5 /* by a part that loses more of its share than this */

/* Shares of loss that are tried; one arrival through a part at the last costs 5.3. */
static const double levels[LEVELS] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
	0.9, 0.95, 0.98, 0.995 };

int
rm_hypothesis_init(struct rm_hypothesis *h, double base_loss, size_t max_parts)
{
	*h = (struct rm_hypothesis){ .base_loss = base_loss, .max = max_parts };
	for (size_t i = 0; i < LEVELS; i++) {
		const double kept = (1 - base_loss) * (1 - levels[i]);

		h->log_lost[i] = log(1 - kept) - log(base_loss);
		h->log_kept[i] = log(1 - levels[i]);
	}
	h->parts = calloc(max_parts, sizeof *h->parts);
	return h->parts != NULL ? 0 : -ENOMEM;
}

void
rm_hypothesis_release(struct rm_hypothesis *h)
{
	free(h->parts);
	free(h->survival);
	free(h->fits);
	free(h->stale);
	free(h->blamed);
	rm_crossings_release(&h->crossings);
	*h = (struct rm_hypothesis){ 0 };
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
	if (rm_scratch(&h->survival, &h->survival_size, observation_count + 1,
		sizeof *h->survival) < 0 ||
	    rm_scratch(&h->fits, &h->fits_size, candidate_count + 1, sizeof *h->fits) <
		0 ||
	    rm_scratch(&h->stale, &h->stale_size, candidate_count + 1, sizeof(bool)) <
		0 ||
	    rm_scratch(&h->blamed, &h->blamed_size, candidate_count + 1, sizeof(bool)) <
		0)
		return -ENOMEM;
	h->observations = observations;
	h->observation_count = observation_count;
	h->candidates = candidates;
	h->candidate_count = candidate_count;
	rm_hypothesis_clear(h);
	return 0;
}

void
rm_hypothesis_clear(struct rm_hypothesis *h)
{
	h->count = 0;
	for (size_t i = 0; i < h->observation_count; i++)
		h->survival[i] = 1;
	for (size_t i = 0; i < h->candidate_count; i++) {
		h->stale[i] = true;
		h->blamed[i] = false;
	}
}

/* ln P(lost) where the parts let `survival` through. */
static double
log_lost(const struct rm_hypothesis *h, double survival)
{
	return log(1 - (1 - h->base_loss) * survival);
}

/* Who is looked for no more: a part that only some of it crossed is enough, too. */
static double
explained(const struct rm_observation *o)
{
	return o->spread == 0 ? EXPLAINED : 1 - SPREAD_EXPLAINED * (double)o->share;
}

/* What only some of the packets crossed, or what others explain in part. */
static void
fit_shared(const struct rm_hypothesis *h, const struct rm_observation *o,
    double survival, double share, double gains[LEVELS])
{
	const double before = log_lost(h, survival);

	for (size_t k = 0; k < LEVELS; k++)
		gains[k] += o->lost *
			    (log_lost(h, survival * (1 - share * levels[k])) - before);
}

/*
 * How much likelier the candidate, added to what is blamed now, makes the whole at
 * its best share of loss. An arrival costs ln(1 - loss) whatever else is blamed; a
 * loss brings more where nothing else explains it.
 */
static struct rm_suspect
fit(struct rm_hypothesis *h, size_t candidate)
{
	struct rm_suspect best = { candidate, 0, -INFINITY };
	double kept = 0, lost = 0, shared[LEVELS] = { 0 };
	bool any = false;
	struct rm_walk walk =
	    rm_crossings_walk(&h->crossings, &h->candidates[candidate]);
	size_t i;

	while (rm_crossings_next(&h->crossings, &walk, &i)) {
		const struct rm_observation *o = &h->observations[i];
		const double s = h->survival[i];
		const double share = rm_crossings_share(o, &h->candidates[candidate]);

		kept += share * (o->sent - o->lost);
		if (s >= 1 && share >= 1) {
			lost += o->lost;
		} else if (o->lost > 0 && s > explained(o)) {
			any = true;
			fit_shared(h, o, s, share, shared);
		}
	}
	if (lost == 0 && !any)
		return best;
	for (size_t k = 0; k < LEVELS; k++) {
		const double gain = lost * h->log_lost[k] + kept * h->log_kept[k] +
				    shared[k] + h->candidates[candidate].log_prior;

		if (gain > best.gain) {
			best.gain = gain;
			best.loss = levels[k];
		}
	}
	return best;
}

struct rm_suspect
rm_hypothesis_fit(struct rm_hypothesis *h, size_t candidate)
{
	if (h->stale[candidate]) {
		h->fits[candidate] = fit(h, candidate);
		h->stale[candidate] = false;
	}
	return h->fits[candidate];
}

bool
rm_hypothesis_blames(const struct rm_hypothesis *h, size_t candidate)
{
	return h->blamed[candidate];
}

/* A part comes, or goes: so much less, or more, survives. */
static void
scale_survival(struct rm_hypothesis *h, size_t candidate, double loss, bool comes)
{
	struct rm_walk walk =
	    rm_crossings_walk(&h->crossings, &h->candidates[candidate]);
	size_t i;

	while (rm_crossings_next(&h->crossings, &walk, &i)) {
		const double left = 1 - loss * rm_crossings_share(&h->observations[i],
						   &h->candidates[candidate]);

		h->survival[i] *= comes ? left : 1 / left;
		if (h->survival[i] > 1 - EPSILON) /* what came in went out again */
			h->survival[i] = 1;
	}
}

/* What is remembered of all that share an observation with it holds no longer. */
static void
forget_fits(struct rm_hypothesis *h, size_t candidate)
{
	const struct rm_element_index *index = &h->crossings.candidates;
	struct rm_walk walk =
	    rm_crossings_walk(&h->crossings, &h->candidates[candidate]);
	size_t i;

	while (rm_crossings_next(&h->crossings, &walk, &i)) {
		const struct rm_observation *o = &h->observations[i];

		for (uint32_t k = 0; k < o->element_count; k++)
			for (size_t at = index->first[o->elements[k]];
			     at < index->first[o->elements[k] + 1]; at++)
				h->stale[index->list[at]] = true;
	}
}

void
rm_hypothesis_put(struct rm_hypothesis *h, struct rm_suspect part)
{
	h->parts[h->count++] = part;
	h->blamed[part.candidate] = true;
	scale_survival(h, part.candidate, part.loss, true);
	forget_fits(h, part.candidate);
}

static void
remove_part(struct rm_hypothesis *h, size_t at)
{
	h->blamed[h->parts[at].candidate] = false;
	h->count--;
	memmove(&h->parts[at], &h->parts[at + 1],
	    (h->count - at) * sizeof(struct rm_suspect));
}

struct rm_suspect
rm_hypothesis_take(struct rm_hypothesis *h, size_t at)
{
	const struct rm_suspect part = h->parts[at];

	remove_part(h, at);
	scale_survival(h, part.candidate, part.loss, false);
	forget_fits(h, part.candidate);
	return part;
}

void
rm_hypothesis_refit(struct rm_hypothesis *h, size_t at)
{
	const struct rm_suspect old = h->parts[at];
	struct rm_suspect part;

	if (!h->stale[old.candidate])
		return;
	scale_survival(h, old.candidate, old.loss, false);
	part = fit(h, old.candidate);
	if (part.gain <= 0)
		remove_part(h, at);
	else
		h->parts[at] = part;
	if (part.gain > 0)
		scale_survival(h, old.candidate, part.loss, true);
	if (part.gain <= 0 || part.loss != old.loss)
		forget_fits(h, old.candidate);
	h->stale[old.candidate] = part.gain <= 0;
}

double
rm_hypothesis_score(const struct rm_hypothesis *h)
{
	const double base = log(h->base_loss);
	double sum = 0;

	for (size_t i = 0; i < h->observation_count; i++) {
		const struct rm_observation *o = &h->observations[i];
		const double s = h->survival[i];

		if (s < 1)
			sum += o->lost * (log_lost(h, s) - base) +
			       (o->sent - o->lost) * log(s);
	}
	for (size_t i = 0; i < h->count; i++)
		sum += h->candidates[h->parts[i].candidate].log_prior;
	return sum;
}
