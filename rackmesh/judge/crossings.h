/*
 * crossings - the judge's index: for each candidate, the lossy observations that
 * crossed it and a count of the packets that arrived; and for each lossy observation,
 * the candidates. Memory and time of building are linear in the number of pairs of an
 * observation and a candidate that it crossed. Pure.
 */
#ifndef RACKMESH_JUDGE_CROSSINGS_H
#define RACKMESH_JUDGE_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge_input.h"

/* The items that belong to k are list[first[k]] to list[first[k + 1] - 1]. */
struct rm_index {
	size_t *first;
	size_t first_size;
	uint32_t *list;
	size_t list_size;
};

/* One lossy observation of a candidate. */
struct rm_crossing {
	uint32_t observation;
	/* Index in rm_crossings.shares: how often a packet of the observation crossed
	 * the candidate, on average. 0.5: half of the packets did so once; 1.5: all of
	 * them once, and half of them once more. */
	uint32_t share;
};

#define RM_CROSSED_ONCE 0 /* index of the share 1 */

/* The packets that crossed a candidate with this share and were not lost. */
struct rm_kept {
	double packets;
	uint32_t share; /* index in rm_crossings.shares */
};

/* zero this struct before the first use; its memory is kept and grows */
struct rm_crossings {
	struct rm_index observations; /* by element */
	/* The lossy observations with an element of candidate c, each of them once, are
	 * list[first[c]] to list[first[c + 1] - 1]. */
	size_t *first;
	size_t first_size;
	struct rm_crossing *list;
	size_t list_size;
	struct rm_index candidates; /* by lossy observation, each of them once */
	/* the same for the packets that were kept, each share once */
	size_t *kept_first;
	size_t kept_first_size;
	struct rm_kept *kept;
	size_t kept_size;
	/* the different shares; there are few */
	double *shares;
	size_t share_count, shares_size;
	double *kept_by_share; /* of the candidate that is listed */
	size_t kept_by_share_size;
	/* for each observation: number of the last candidate with it in its list, + 1
	 */
	uint32_t *stamps;
	size_t stamps_size;
};

/* -EINVAL: an observation lost more packets than were sent, or has too many elements or
 * a bad share; or an element's index is not below `elements`. -ENOMEM. */
int rm_crossings_build(struct rm_crossings *crossings, size_t elements,
    const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count);
void rm_crossings_release(struct rm_crossings *crossings);

/* The lossy observations with an element of the candidate, each of them once. */
static inline const struct rm_crossing *
rm_crossings_of(const struct rm_crossings *crossings, size_t candidate, size_t *count)
{
	*count = crossings->first[candidate + 1] - crossings->first[candidate];
	return crossings->list + crossings->first[candidate];
}

/* The packets that crossed the candidate and were not lost, each share once. */
static inline const struct rm_kept *
rm_crossings_kept(const struct rm_crossings *crossings, size_t candidate, size_t *count)
{
	*count =
	    crossings->kept_first[candidate + 1] - crossings->kept_first[candidate];
	return crossings->kept + crossings->kept_first[candidate];
}

/* True: the candidate is a narrow part of the wide part with this element. */
bool rm_candidate_within(const struct rm_candidate *candidate, uint32_t element);

/* Makes room for `count` items of `size` bytes at *(void **)array; *have is the number
 * of items that fit already. An array that grows loses its content, and is all zeros.
 * -ENOMEM: the array is freed, and *have is 0. */
int rm_scratch(void *array, size_t *have, size_t count, size_t size);

#endif
