#include "rackmesh/judge/crossings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
rm_scratch(void *array, size_t *have, size_t count, size_t size)
{
	void **p = array;

	if (count <= *have)
		return 0;
	free(*p);
	*have = 0;
	*p = calloc(count, size);
	if (*p == NULL)
		return -ENOMEM;
	*have = count;
	return 0;
}

static void
index_release(struct rm_element_index *index)
{
	free(index->first);
	free(index->list);
}

void
rm_crossings_release(struct rm_crossings *crossings)
{
	index_release(&crossings->observations);
	index_release(&crossings->candidates);
	free(crossings->first);
	free(crossings->list);
	free(crossings->shares);
	free(crossings->stamps);
	*crossings = (struct rm_crossings){ 0 };
}

static bool
are_below(const uint32_t *elements, uint32_t count, size_t limit)
{
	for (uint32_t i = 0; i < count; i++)
		if (elements[i] >= limit)
			return false;
	return true;
}

static bool
are_shares(const struct rm_observation *o)
{
	for (uint32_t i = 0; i < o->spread; i++)
		if (!(o->shares[i] > 0 && o->shares[i] <= 1))
			return false;
	return true;
}

static int
check(size_t elements, const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count)
{
	if (count > UINT32_MAX || candidate_count > UINT32_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		const struct rm_observation *o = &observations[i];

		if (o->lost > o->sent || o->element_count > RM_OBSERVATION_ELEMENTS ||
		    o->spread > (o->round_trip ? 0 : o->element_count) ||
		    !are_shares(o) ||
		    !are_below(o->elements, o->element_count, elements))
			return -EINVAL;
	}
	for (size_t i = 0; i < candidate_count; i++) {
		const struct rm_candidate *c = &candidates[i];

		if (c->element_count > RM_CANDIDATE_ELEMENTS ||
		    !are_below(c->elements, c->element_count, elements))
			return -EINVAL;
	}
	return 0;
}

static bool
is_of(const struct rm_candidate *candidate, uint32_t element)
{
	for (uint32_t k = 0; k < candidate->element_count; k++)
		if (candidate->elements[k] == element)
			return true;
	return false;
}

/* Returns the share of the packets that crossed the element, if only a share of them
 * crossed it; else 0. */
static double
share_of(const struct rm_observation *o, uint32_t element)
{
	const uint32_t sure = o->element_count - o->spread;

	for (uint32_t i = 0; i < o->spread; i++)
		if (o->elements[sure + i] == element)
			return (double)o->shares[i];
	return 0;
}

bool
rm_candidate_within(const struct rm_candidate *candidate, uint32_t element)
{
	for (uint32_t i = 0; i < candidate->within_count; i++)
		if (candidate->within[i] == element)
			return true;
	return false;
}

/* Returns how often a packet of the observation crossed the candidate, on average. */
static double
share_over(const struct rm_observation *o, const struct rm_candidate *candidate)
{
	const uint32_t sure = o->element_count - o->spread;
	double share = 0;

	if (o->round_trip) {
		for (uint32_t i = 0; i < o->element_count; i++)
			share += is_of(candidate, o->elements[i]);
		return share;
	}
	if (o->spread == 0)
		return 1;
	for (uint32_t i = 0; i < candidate->element_count; i++)
		share += share_of(o, candidate->elements[i]);
	share = share < 1 ? share : 1;
	for (uint32_t i = 0; i < sure; i++)
		if (is_of(candidate, o->elements[i]))
			return 1 +
			       (o->first_stands ? share_of(o, o->elements[i]) : share);
	return share;
}

/* The elements of the i-th observation or candidate. */
typedef const uint32_t *elements_of(const void *items, size_t i, uint32_t *count);

static const uint32_t *
elements_of_observation(const void *items, size_t i, uint32_t *count)
{
	const struct rm_observation *o = (const struct rm_observation *)items + i;

	*count = o->element_count;
	return o->elements;
}

static const uint32_t *
elements_of_candidate(const void *items, size_t i, uint32_t *count)
{
	const struct rm_candidate *c = (const struct rm_candidate *)items + i;

	*count = c->element_count;
	return c->elements;
}

static int
index_build(struct rm_element_index *index, size_t elements, const void *items,
    size_t count, elements_of *of)
{
	const uint32_t *e;
	size_t *first;
	uint32_t n;

	if (rm_scratch(&index->first, &index->first_size, elements + 2, sizeof *first) <
	    0)
		return -ENOMEM;
	first = index->first;
	memset(first, 0, (elements + 2) * sizeof *first);
	for (size_t i = 0; i < count; i++) {
		e = of(items, i, &n);
		for (uint32_t k = 0; k < n; k++)
			first[e[k] + 2]++;
	}
	for (size_t k = 2; k < elements + 2; k++)
		first[k] += first[k - 1];
	if (rm_scratch(&index->list, &index->list_size, first[elements + 1] + 1,
		sizeof *index->list) < 0)
		return -ENOMEM;
	/* Until here, first[e + 1] is the start of e's list; each entry written below
	 * moves it forward, so in the end it is the end of that list. */
	for (size_t i = 0; i < count; i++) {
		e = of(items, i, &n);
		for (uint32_t k = 0; k < n; k++)
			index->list[first[e[k] + 1]++] = (uint32_t)i;
	}
	return 0;
}

/* Makes room for `count` items, and keeps the present ones. */
static int
grow(void *array, size_t *have, size_t count, size_t size)
{
	void **p = array, *wider;

	if (count <= *have)
		return 0;
	wider = realloc(*p, 2 * count * size);
	if (wider == NULL)
		return -ENOMEM;
	*p = wider;
	*have = 2 * count;
	return 0;
}

/* *ret: the index of the share in the list of the different ones. */
static int
share_index(struct rm_crossings *crossings, double share, uint32_t *ret)
{
	size_t i = 0;

	while (i < crossings->share_count && crossings->shares[i] != share)
		i++;
	if (i == crossings->share_count) {
		if (grow(&crossings->shares, &crossings->shares_size, i + 1,
			sizeof *crossings->shares) < 0)
			return -ENOMEM;
		crossings->shares[i] = share;
		crossings->share_count++;
	}
	*ret = (uint32_t)i;
	return 0;
}

/* Appends the observations of the candidate to the list. */
static int
list_candidate(struct rm_crossings *crossings,
    const struct rm_observation *observations, const struct rm_candidate *candidate,
    uint32_t stamp, size_t *count)
{
	const struct rm_element_index *index = &crossings->observations;

	for (uint32_t k = 0; k < candidate->element_count; k++)
		for (size_t at = index->first[candidate->elements[k]];
		     at < index->first[candidate->elements[k] + 1]; at++) {
			struct rm_crossing crossing = { index->list[at],
				RM_CROSSED_ONCE };
			const struct rm_observation *o =
			    &observations[crossing.observation];

			if (crossings->stamps[crossing.observation] == stamp)
				continue;
			crossings->stamps[crossing.observation] = stamp;
			if (((o->spread > 0 || o->round_trip) &&
				share_index(crossings, share_over(o, candidate),
				    &crossing.share) < 0) ||
			    grow(&crossings->list, &crossings->list_size, *count + 1,
				sizeof *crossings->list) < 0)
				return -ENOMEM;
			crossings->list[(*count)++] = crossing;
		}
	return 0;
}

static int
list_all(struct rm_crossings *crossings, const struct rm_observation *observations,
    size_t observation_count, const struct rm_candidate *candidates,
    size_t candidate_count)
{
	size_t count = 0;
	uint32_t once;

	if (rm_scratch(&crossings->stamps, &crossings->stamps_size,
		observation_count + 1, sizeof *crossings->stamps) < 0 ||
	    rm_scratch(&crossings->first, &crossings->first_size, candidate_count + 1,
		sizeof *crossings->first) < 0)
		return -ENOMEM;
	memset(crossings->stamps, 0, observation_count * sizeof *crossings->stamps);
	crossings->share_count = 0;
	if (share_index(crossings, 1, &once) < 0)
		return -ENOMEM;
	for (size_t c = 0; c < candidate_count; c++) {
		crossings->first[c] = count;
		if (list_candidate(crossings, observations, &candidates[c],
			(uint32_t)c + 1, &count) < 0)
			return -ENOMEM;
	}
	crossings->first[candidate_count] = count;
	return 0;
}

int
rm_crossings_build(struct rm_crossings *crossings, size_t elements,
    const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count)
{
	int r;

	r = check(elements, observations, count, candidates, candidate_count);
	if (r < 0)
		return r;
	r = index_build(&crossings->observations, elements, observations, count,
	    elements_of_observation);
	if (r < 0)
		return r;
	r = index_build(&crossings->candidates, elements, candidates, candidate_count,
	    elements_of_candidate);
	if (r < 0)
		return r;
	return list_all(crossings, observations, count, candidates, candidate_count);
}
