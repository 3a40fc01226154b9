/*
 * rack_late - RNICs whose packets arrive, but late. Pure.
 *
 * All round trips with it take longer than any fabric does, those of its peers with
 * each other do not. A rack of two tells nothing, nor one in which most are late.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LATE_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rack_legs;
struct rm_evidence;

struct rack_late {            /* of one member, in one window */
	uint64_t timed, slow; /* of the round trips with it */
	unsigned late, well;  /* pairs with others: slow, quick */
	unsigned own;         /* of them those that it timed itself */
};

/* lates: one per member. */
void rack_late_count(const struct rack_legs *legs, struct rack_late *lates);

/* Slow with all, of whom at least two are quick with others. */
bool rack_late_is(
    const struct rack_legs *legs, const struct rack_late *lates, size_t member);

/* In words; the others are those that are not late themselves. */
void rack_late_evidence(const struct rack_legs *legs, const struct rack_late *lates,
    size_t member, struct rm_evidence *evidence);

#endif
