#include "rackmesh/identity/sight_counts.h"

#include <string.h>

#include "rackmesh/identity/sight.h"

void
rm_sight_count(struct rm_sight_counts *counts, const char *region)
{
	size_t i = 0;

	while (i < counts->count && strcmp(counts->regions[i], region) != 0)
		i++;
	if (i == RM_SIGHT_REGIONS || strlen(region) >= RM_NAME_BYTES)
		return;
	if (i == counts->count)
		strcpy(counts->regions[counts->count++], region);
	counts->counts[i]++;
}

uint64_t
rm_sight_sum(const struct rm_sight_counts *of, const uint64_t counts[RM_SIGHT_REGIONS],
    const struct rm_sight *sight)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < of->count; i++)
		if (rm_sight_shows(sight, of->regions[i]))
			sum += counts[i];
	return sum;
}
