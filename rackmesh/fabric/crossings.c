#include "rackmesh/fabric/crossings.h"

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

void
rm_crossings_release(struct rm_crossings *crossings)
{
	free(crossings->first);
	free(crossings->list);
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

static int
check_candidates(size_t elements, const struct rm_candidate *candidates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rm_candidate *c = &candidates[i];

		if (c->element_count > RM_CANDIDATE_ELEMENTS ||
		    !are_below(c->elements, c->element_count, elements))
			return -EINVAL;
	}
	return 0;
}

/* *crossings: how many times an element was crossed, in all. */
static int
check_observations(size_t elements, const struct rm_observation *observations,
    size_t count, size_t *crossings)
{
	size_t sum = 0;

	if (count > UINT32_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		const struct rm_observation *o = &observations[i];

		if (o->lost > o->sent || o->element_count > RM_OBSERVATION_ELEMENTS ||
		    !are_below(o->elements, o->element_count, elements))
			return -EINVAL;
		sum += o->element_count;
	}
	*crossings = sum;
	return 0;
}

int
rm_crossings_build(struct rm_crossings *crossings, size_t elements,
    const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count)
{
	size_t sum, *first;
	int r;

	r = check_observations(elements, observations, count, &sum);
	if (r < 0)
		return r;
	r = check_candidates(elements, candidates, candidate_count);
	if (r < 0)
		return r;
	if (rm_scratch(&crossings->first, &crossings->first_size, elements + 2,
		sizeof *first) < 0 ||
	    rm_scratch(&crossings->list, &crossings->list_size, sum + 1,
		sizeof *crossings->list) < 0 ||
	    rm_scratch(&crossings->stamps, &crossings->stamps_size, count + 1,
		sizeof *crossings->stamps) < 0)
		return -ENOMEM;
	first = crossings->first;
	memset(first, 0, (elements + 2) * sizeof *first);
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < observations[i].element_count; k++)
			first[observations[i].elements[k] + 2]++;
	for (size_t e = 2; e < elements + 2; e++)
		first[e] += first[e - 1];
	/* first[e + 1] is where e's list is written next, and at last where it ends. */
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < observations[i].element_count; k++)
			crossings->list[first[observations[i].elements[k] + 1]++] =
			    (uint32_t)i;
	return 0;
}

struct rm_walk
rm_crossings_walk(struct rm_crossings *crossings, const struct rm_candidate *candidate)
{
	if (++crossings->stamp == 0) { /* wrapped: old stamps would look new */
		memset(crossings->stamps, 0,
		    crossings->stamps_size * sizeof *crossings->stamps);
		crossings->stamp = 1;
	}
	return (struct rm_walk){ candidate, 0,
		candidate->element_count > 0 ? crossings->first[candidate->elements[0]]
					     : 0 };
}

bool
rm_crossings_next(
    struct rm_crossings *crossings, struct rm_walk *walk, size_t *observation)
{
	const struct rm_candidate *c = walk->candidate;

	while (walk->element < c->element_count) {
		if (walk->at < crossings->first[c->elements[walk->element] + 1]) {
			const uint32_t i = crossings->list[walk->at++];

			if (crossings->stamps[i] == crossings->stamp)
				continue;
			crossings->stamps[i] = crossings->stamp;
			*observation = i;
			return true;
		}
		if (++walk->element < c->element_count)
			walk->at = crossings->first[c->elements[walk->element]];
	}
	return false;
}
