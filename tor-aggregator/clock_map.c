#include "tor-aggregator/clock_map.h"

#include <errno.h>

void
clock_map_reset(struct clock_map *map)
{
	*map = (struct clock_map){ 0 };
}

int
clock_map_sample(struct clock_map *map, uint64_t theirs, rm_mono_t ours)
{
	int64_t offset;

	if (theirs > INT64_MAX)
		return -ERANGE;
	offset = ours.ns - (int64_t)theirs;
	if (!map->known) {
		map->known = true;
		map->since = ours;
		map->current_ns = map->previous_ns = offset;
		return 0;
	}
	if (rm_mono_since(ours, map->since) >= CLOCK_MAP_PERIOD_NS) {
		map->since = ours;
		map->previous_ns = map->current_ns;
		map->current_ns = offset;
	}
	if (offset < map->current_ns)
		map->current_ns = offset;
	return 0;
}

bool
clock_map_ours(const struct clock_map *map, uint64_t theirs, rm_mono_t *ret)
{
	int64_t offset = map->current_ns;

	if (!map->known || theirs > INT64_MAX)
		return false;
	if (map->previous_ns < offset)
		offset = map->previous_ns;
	if (__builtin_add_overflow((int64_t)theirs, offset, &ret->ns))
		ret->ns = offset < 0 ? INT64_MIN : INT64_MAX;
	return true;
}
