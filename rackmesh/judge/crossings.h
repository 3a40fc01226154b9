/*
 * crossings - which observations crossed which elements; the judge's index. Pure.
 */
#ifndef RACKMESH_JUDGE_CROSSINGS_H
#define RACKMESH_JUDGE_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge_input.h"

/* What names element e: list[first[e] .. first[e + 1]). */
struct rm_element_index {
	size_t *first;
	size_t first_size;
	uint32_t *list;
	size_t list_size;
};

struct rm_crossings { /* zero it before the first use; memory is kept and grown */
	struct rm_element_index observations, candidates;
	uint32_t *stamps; /* by observation: last walk that met it */
	size_t stamps_size;
	uint32_t stamp;
};

/* -EINVAL: an observation that lost more than was sent, or anything of an element that
 * there is not; -ENOMEM. */
int rm_crossings_build(struct rm_crossings *crossings, size_t elements,
    const struct rm_observation *observations, size_t count,
    const struct rm_candidate *candidates, size_t candidate_count);
void rm_crossings_release(struct rm_crossings *crossings);

/* A walk over all that a candidate's elements were crossed by meets each of them once.
 * One walk at a time. */
struct rm_walk {
	const struct rm_candidate *candidate;
	uint32_t element;
	size_t at;
};

struct rm_walk rm_crossings_walk(
    struct rm_crossings *crossings, const struct rm_candidate *candidate);
bool rm_crossings_next(
    struct rm_crossings *crossings, struct rm_walk *walk, size_t *observation);

/* How much of what an observation on its walk counts crossed the candidate: 1 all,
 * more: all and so many times; 1.5 all, and half of it once more. */
double rm_crossings_share(
    const struct rm_observation *o, const struct rm_candidate *candidate);

/* The candidate is a narrow part of the wide part with this element. */
bool rm_candidate_within(const struct rm_candidate *candidate, uint32_t element);

/* Makes room for `count` items of `size` bytes at *(void **)array. An array that grows
 * loses its content, and is all zeros. -ENOMEM. */
int rm_scratch(void *array, size_t *have, size_t count, size_t size);

#endif
