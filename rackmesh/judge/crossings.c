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
index_release(struct rm_index *index)
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
	free(crossings->kept_first);
	free(crossings->kept);
	free(crossings->kept_by_share);
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

/* Makes room for the lists of `keys` keys. *first is then all zeros: count the items of
 * k at (*first)[k + 2]. */
static int
index_begin(struct rm_index *index, size_t keys, size_t **first)
{
	if (rm_scratch(&index->first, &index->first_size, keys + 2, sizeof **first) < 0)
		return -ENOMEM;
	*first = index->first;
	memset(*first, 0, (keys + 2) * sizeof **first);
	return 0;
}

/* Call it when the items are counted. Then first[k + 1] is the start of k's list. Each
 * entry that is written moves it forward, so when all entries are written it is the end
 * of that list. */
static int
index_counted(struct rm_index *index, size_t keys)
{
	size_t *first = index->first;

	for (size_t k = 2; k < keys + 2; k++)
		first[k] += first[k - 1];
	return rm_scratch(
	    &index->list, &index->list_size, first[keys + 1] + 1, sizeof *index->list);
}

static int
index_observations(struct rm_index *index, size_t elements,
    const struct rm_observation *observations, size_t count)
{
	size_t *first;

	if (index_begin(index, elements, &first) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < observations[i].element_count; k++)
			first[observations[i].elements[k] + 2]++;
	if (index_counted(index, elements) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < observations[i].element_count; k++)
			index->list[first[observations[i].elements[k] + 1]++] =
			    (uint32_t)i;
	return 0;
}

static int
index_candidates(struct rm_crossings *crossings, size_t observations, size_t candidates)
{
	struct rm_index *index = &crossings->candidates;
	const size_t count = crossings->first[candidates];
	size_t *first;

	if (index_begin(index, observations, &first) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		first[crossings->list[i].observation + 2]++;
	if (index_counted(index, observations) < 0)
		return -ENOMEM;
	for (size_t c = 0; c < candidates; c++)
		for (size_t i = crossings->first[c]; i < crossings->first[c + 1]; i++)
			index->list[first[crossings->list[i].observation + 1]++] =
			    (uint32_t)c;
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
			sizeof *crossings->shares) < 0 ||
		    grow(&crossings->kept_by_share, &crossings->kept_by_share_size,
			i + 1, sizeof *crossings->kept_by_share) < 0)
			return -ENOMEM;
		crossings->shares[i] = share;
		crossings->kept_by_share[i] = 0;
		crossings->share_count++;
	}
	*ret = (uint32_t)i;
	return 0;
}

/* Counts the packets of an observation that crossed the candidate, and appends the
 * observation to the list if it is lossy. */
static int
list_observation(struct rm_crossings *crossings,
    const struct rm_observation *observations, uint32_t i,
    const struct rm_candidate *candidate, size_t *count)
{
	const struct rm_observation *o = &observations[i];
	struct rm_crossing crossing = { i, RM_CROSSED_ONCE };

	if ((o->spread > 0 || o->round_trip) &&
	    share_index(crossings, share_over(o, candidate), &crossing.share) < 0)
		return -ENOMEM;
	crossings->kept_by_share[crossing.share] += o->sent - o->lost;
	if (o->lost == 0)
		return 0;
	if (grow(&crossings->list, &crossings->list_size, *count + 1,
		sizeof *crossings->list) < 0)
		return -ENOMEM;
	crossings->list[(*count)++] = crossing;
	return 0;
}

/* Appends what list_observation() counted, and sets the counts to 0. */
static int
list_kept(struct rm_crossings *crossings, size_t *count)
{
	if (grow(&crossings->kept, &crossings->kept_size,
		*count + crossings->share_count, sizeof *crossings->kept) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < crossings->share_count; i++) {
		if (crossings->kept_by_share[i] > 0)
			crossings->kept[(*count)++] =
			    (struct rm_kept){ crossings->kept_by_share[i], i };
		crossings->kept_by_share[i] = 0;
	}
	return 0;
}

static int
list_candidate(struct rm_crossings *crossings,
    const struct rm_observation *observations, const struct rm_candidate *candidate,
    uint32_t stamp, size_t *count)
{
	const struct rm_index *index = &crossings->observations;

	for (uint32_t k = 0; k < candidate->element_count; k++)
		for (size_t at = index->first[candidate->elements[k]];
		     at < index->first[candidate->elements[k] + 1]; at++) {
			const uint32_t i = index->list[at];

			if (crossings->stamps[i] == stamp)
				continue;
			crossings->stamps[i] = stamp;
			if (list_observation(
				crossings, observations, i, candidate, count) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int
list_all(struct rm_crossings *crossings, const struct rm_observation *observations,
    size_t observation_count, const struct rm_candidate *candidates,
    size_t candidate_count)
{
	size_t count = 0, kept = 0;
	uint32_t once;

	if (rm_scratch(&crossings->stamps, &crossings->stamps_size,
		observation_count + 1, sizeof *crossings->stamps) < 0 ||
	    rm_scratch(&crossings->first, &crossings->first_size, candidate_count + 1,
		sizeof *crossings->first) < 0 ||
	    rm_scratch(&crossings->kept_first, &crossings->kept_first_size,
		candidate_count + 1, sizeof *crossings->kept_first) < 0)
		return -ENOMEM;
	memset(crossings->stamps, 0, observation_count * sizeof *crossings->stamps);
	crossings->share_count = 0;
	if (share_index(crossings, 1, &once) < 0)
		return -ENOMEM;
	for (size_t c = 0; c < candidate_count; c++) {
		crossings->first[c] = count;
		crossings->kept_first[c] = kept;
		if (list_candidate(crossings, observations, &candidates[c],
			(uint32_t)c + 1, &count) < 0 ||
		    list_kept(crossings, &kept) < 0)
			return -ENOMEM;
	}
	crossings->first[candidate_count] = count;
	crossings->kept_first[candidate_count] = kept;
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
	r = index_observations(&crossings->observations, elements, observations, count);
	if (r < 0)
		return r;
	r = list_all(crossings, observations, count, candidates, candidate_count);
	return r < 0 ? r : index_candidates(crossings, count, candidate_count);
}
