#include "tor-aggregator/agents/clock_map.h"

#include <errno.h>

#define FARTHEST_NS (INT64_MAX / 4) /* 73 years */
#define WHILE_NS (2 * RM_NS_PER_S)
/* A jump of the clock is detected from at least this many samples of a short period. */
#define WHILE_SAMPLES 4
#define JUMP_NS (500 * RM_NS_PER_MS)

void
clock_map_reset(struct clock_map *map)
{
	*map = (struct clock_map){ 0 };
}

static int64_t
least(const struct clock_map *map)
{
	return map->previous_ns < map->current_ns ? map->previous_ns : map->current_ns;
}

static void
notice_jump(struct clock_map *map, int64_t offset, rm_mono_t ours)
{
	if (rm_mono_since(ours, map->while_since) < WHILE_NS) {
		map->while_samples++;
		if (offset < map->while_ns)
			map->while_ns = offset;
		return;
	}
	if (map->while_samples >= WHILE_SAMPLES &&
	    map->while_ns > least(map) + JUMP_NS) {
		map->since = ours;
		map->current_ns = map->previous_ns = map->while_ns;
	}
	map->while_since = ours;
	map->while_ns = offset;
	map->while_samples = 1;
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
		map->current_ns = map->previous_ns = map->while_ns = offset;
		map->while_since = ours;
		map->while_samples = 1;
		return 0;
	}
	if (rm_mono_since(ours, map->since) >= CLOCK_MAP_PERIOD_NS) {
		map->since = ours;
		map->previous_ns = map->current_ns;
		map->current_ns = offset;
	}
	if (offset < map->current_ns)
		map->current_ns = offset;
	notice_jump(map, offset, ours);
	return 0;
}

bool
clock_map_ours(const struct clock_map *map, uint64_t theirs, rm_mono_t *ret)
{
	const int64_t offset = least(map);

	if (!map->known || theirs > INT64_MAX)
		return false;
	if (__builtin_add_overflow((int64_t)theirs, offset, &ret->ns) ||
	    ret->ns > FARTHEST_NS)
		ret->ns = FARTHEST_NS;
	if (ret->ns < -FARTHEST_NS)
		ret->ns = -FARTHEST_NS;
	return true;
}
