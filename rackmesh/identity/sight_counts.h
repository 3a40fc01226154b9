/*
 * sight_counts - counts of an event by region, so that a viewer of some regions does
 * not see the counts of others. Pure.
 */
#ifndef RACKMESH_IDENTITY_SIGHT_COUNTS_H
#define RACKMESH_IDENTITY_SIGHT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

struct rm_sight;

#define RM_SIGHT_REGIONS 64

struct rm_sight_counts { /* zeroed: nothing yet */
	size_t count;
	char regions[RM_SIGHT_REGIONS][RM_NAME_BYTES]; /* name of the region of each
							  count; it never changes */
	uint64_t counts[RM_SIGHT_REGIONS];
};

/* Regions beyond RM_SIGHT_REGIONS are not counted. */
void rm_sight_count(struct rm_sight_counts *counts, const char *region);
/* Returns the sum of those counts whose regions may be shown. counts: one count per
 * region, in the order of `of`; the counts may have been copied earlier. */
uint64_t rm_sight_sum(const struct rm_sight_counts *of,
    const uint64_t counts[RM_SIGHT_REGIONS], const struct rm_sight *sight);

#endif
