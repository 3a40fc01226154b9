/*
 * crossings - the judge's index: finds, by element, the observations and the candidates
 * that contain it. Pure.
 */
#ifndef RACKMESH_JUDGE_CROSSINGS_H
#define RACKMESH_JUDGE_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge_input.h"

/* The observations, or the candidates, that contain element e are list[first[e]] to
 * list[first[e + 1] - 1]. */
struct rm_element_index {
	size_t *first;
	size_t first_size;
	uint32_t *list;
	size_t list_size;
};

/* zero this struct before the first use; its memory is kept and grows */
struct rm_crossings {
	struct rm_element_index observations, candidates;
	/* for each observation: number of the last walk that returned it */
	uint32_t *stamps;
	size_t stamps_size;
	uint32_t stamp; /* number of the newest walk */
};

/* -EINVAL: an observation lost more packets than were sent, or has too many elements or
 * a bad share; or an element's index is not below `elements`. -ENOMEM. */
int rm_crossings_build(struct rm_crossings *crossings, size_t elements,
    const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count);
void rm_crossings_release(struct rm_crossings *crossings);

/* Returns the observations with an element of the candidate, each of them once. A new
 * walk ends the one before it, because all walks mark observations in the same stamps.
 */
struct rm_walk {
	const struct rm_candidate *candidate;
	uint32_t element;
	size_t at;
};

struct rm_walk rm_crossings_walk(
    struct rm_crossings *crossings, const struct rm_candidate *candidate);
bool rm_crossings_next(
    struct rm_crossings *crossings, struct rm_walk *walk, size_t *observation);

/* How often a packet of this observation crossed the candidate, on average. 0.5: half
 * of the packets did so once; 1.5: all of them once, and half of them once more. The
 * observation has to be one that the candidate's walk returns. */
double rm_crossings_share(
    const struct rm_observation *o, const struct rm_candidate *candidate);

/* True: the candidate is a narrow part of the wide part with this element. */
bool rm_candidate_within(const struct rm_candidate *candidate, uint32_t element);

/* Makes room for `count` items of `size` bytes at *(void **)array; *have is the number
 * of items that fit already. An array that grows loses its content, and is all zeros.
 * -ENOMEM: the array is freed, and *have is 0. */
int rm_scratch(void *array, size_t *have, size_t count, size_t size);

#endif
