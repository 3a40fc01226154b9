#include "analyzer/paths/localise_listed.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/paths/localise_bins.h"

#define LATELY_NS (15 * RM_NS_PER_S) /* after a loss */

static void
put(struct localise_map *map, size_t at, struct localise_way *way)
{
	map->lossy[at] = way;
	way->listed_at = (uint32_t)at;
}

static void
swap(struct localise_map *map, size_t a, size_t b)
{
	struct localise_way *way = map->lossy[a];

	put(map, a, map->lossy[b]);
	put(map, b, way);
}

int
localise_list(struct localise_map *map, struct localise_way *way)
{
	if (!way->is_listed && map->listed_count == map->lossy_size) {
		const size_t size = map->lossy_size != 0 ? 2 * map->lossy_size : 64;
		struct localise_way **lossy =
		    realloc(map->lossy, size * sizeof(struct localise_way *));

		if (lossy == NULL)
			return -ENOMEM;
		map->lossy = lossy;
		map->lossy_size = size;
	}
	if (!way->is_listed)
		put(map, map->listed_count++, way);
	way->is_listed = true;
	if (way->listed_at >= map->lossy_count)
		swap(map, way->listed_at, map->lossy_count++);
	return 0;
}

/* Among those that did not lately. */
static void
demote(struct localise_map *map, size_t at)
{
	swap(map, at, --map->lossy_count);
}

void
localise_unlist(struct localise_map *map, struct localise_way *way)
{
	if (!way->is_listed)
		return;
	if (way->listed_at < map->lossy_count)
		demote(map, way->listed_at);
	swap(map, way->listed_at, --map->listed_count);
	way->is_listed = false;
}

void
localise_listed_tidy(struct localise_map *map, rm_mono_t now)
{
	for (size_t i = map->lossy_count; i-- > 0;)
		if (rm_mono_since(now, map->lossy[i]->lossy_at) >= LATELY_NS)
			demote(map, i);
	for (size_t i = map->listed_count; i-- > map->lossy_count;)
		if (rm_mono_since(now, map->lossy[i]->lossy_at) >= LOCALISE_WINDOW_NS)
			localise_unlist(map, map->lossy[i]);
}

size_t
localise_listed(const struct localise_map *map, localise_seen *seen)
{
	return seen == localise_way_slow ? map->listed_count : map->lossy_count;
}
