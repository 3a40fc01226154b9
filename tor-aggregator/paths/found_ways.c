#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/paths/found_ways.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "tor-aggregator/paths/path_table.h"

struct told {
	UT_hash_handle hh;
	struct path_way way;
	rm_mono_t when;
	bool is_there; /* in this round */
};

struct found_ways {
	struct told *told;
	uint32_t next; /* path to look at */
};

int
found_ways_new(struct found_ways **ret)
{
	struct found_ways *ways = calloc(1, sizeof(*ways));

	if (ways == NULL)
		return -ENOMEM;
	*ret = ways;
	return 0;
}

void
found_ways_again(struct found_ways *ways)
{
	struct told *told, *next;

	HASH_ITER (hh, ways->told, told, next) {
		HASH_DEL(ways->told, told);
		free(told);
	}
	ways->next = PATH_FIRST;
}

void
found_ways_free(struct found_ways *ways)
{
	if (ways == NULL)
		return;
	found_ways_again(ways);
	free(ways);
}

static void
remember(struct found_ways *ways, const struct path_way *way, rm_mono_t now)
{
	struct told *told = calloc(1, sizeof(*told));

	if (told == NULL)
		return;
	told->way = *way;
	told->when = now;
	told->is_there = true;
	HASH_ADD(hh, ways->told, way, sizeof(told->way), told);
	if (told->hh.tbl == NULL)
		free(told);
}

/* True: to be told now, and it counts as told. */
static bool
is_due(struct found_ways *ways, const struct path_way *way, rm_mono_t now)
{
	struct told *told = NULL;

	HASH_FIND(hh, ways->told, way, sizeof(*way), told);
	if (told == NULL) {
		remember(ways, way, now);
		return true;
	}
	told->is_there = true;
	if (rm_mono_since(now, told->when) < FOUND_WAYS_AGAIN_NS)
		return false;
	told->when = now;
	return true;
}

/* A round has seen all paths: what no flow takes any more is new when it comes back. */
static void
end_round(struct found_ways *ways)
{
	struct told *told, *next;

	HASH_ITER (hh, ways->told, told, next) {
		if (!told->is_there) {
			HASH_DEL(ways->told, told);
			free(told);
			continue;
		}
		told->is_there = false;
	}
	ways->next = PATH_FIRST;
}

size_t
found_ways_next(struct found_ways *ways, const struct path_table *table, rm_mono_t now,
    struct wire_path *out, size_t max)
{
	const uint32_t end = path_table_end(table);
	struct path_way way;
	size_t count = 0;

	if (ways->next < PATH_FIRST)
		ways->next = PATH_FIRST;
	while (count < max && ways->next < end) {
		if (!path_table_way(table, ways->next++, &way) ||
		    !is_due(ways, &way, now))
			continue;
		out[count] = (struct wire_path){ .family = way.family,
			.hop_count = way.hop_count,
			.flags = WIRE_PATH_COMPLETE };
		memcpy(out[count].hops, way.hops, sizeof(way.hops));
		count++;
	}
	if (ways->next >= end)
		end_round(ways);
	return count;
}
