#include "analyzer/paths/localise_listed.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/paths/localise_bins.h"

/* A path is in the first part of the list for this time after a loss. */
#define LATELY_NS (15 * RM_NS_PER_S)

static void
put(struct localise_map *map, size_t at, struct localise_path *path)
{
	map->lossy[at] = path;
	path->listed_at = (uint32_t)at;
}

static void
swap(struct localise_map *map, size_t a, size_t b)
{
	struct localise_path *path = map->lossy[a];

	put(map, a, map->lossy[b]);
	put(map, b, path);
}

int
localise_list(struct localise_map *map, struct localise_path *path)
{
	if (!path->is_listed && map->listed_count == map->lossy_size) {
		const size_t size = map->lossy_size != 0 ? 2 * map->lossy_size : 64;
		struct localise_path **lossy =
		    realloc(map->lossy, size * sizeof(struct localise_path *));

		if (lossy == NULL)
			return -ENOMEM;
		map->lossy = lossy;
		map->lossy_size = size;
	}
	if (!path->is_listed)
		put(map, map->listed_count++, path);
	path->is_listed = true;
	if (path->listed_at >= map->lossy_count)
		swap(map, path->listed_at, map->lossy_count++);
	return 0;
}

/* Moves the path at this place from the first part of the list to the second. */
static void
demote(struct localise_map *map, size_t at)
{
	swap(map, at, --map->lossy_count);
}

void
localise_unlist(struct localise_map *map, struct localise_path *path)
{
	if (!path->is_listed)
		return;
	if (path->listed_at < map->lossy_count)
		demote(map, path->listed_at);
	swap(map, path->listed_at, --map->listed_count);
	path->is_listed = false;
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
	return seen == localise_path_slow ? map->listed_count : map->lossy_count;
}
