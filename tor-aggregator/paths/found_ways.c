#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/paths/found_ways.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "tor-aggregator/paths/path_table.h"

struct announced {
	UT_hash_handle hh;
	struct path_way way;
	rm_mono_t when;
	bool is_there; /* in this round */
};

struct found_ways {
	struct announced *announced;
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
	struct announced *announced, *next;

	HASH_ITER (hh, ways->announced, announced, next) {
		HASH_DEL(ways->announced, announced);
		free(announced);
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
	struct announced *announced = calloc(1, sizeof(*announced));

	if (announced == NULL)
		return;
	announced->way = *way;
	announced->when = now;
	announced->is_there = true;
	HASH_ADD(hh, ways->announced, way, sizeof(announced->way), announced);
	if (announced->hh.tbl == NULL)
		free(announced);
}

/* True: to be told now, and it counts as told. */
static bool
is_due(struct found_ways *ways, const struct path_way *way, rm_mono_t now)
{
	struct announced *announced = NULL;

	HASH_FIND(hh, ways->announced, way, sizeof(*way), announced);
	if (announced == NULL) {
		remember(ways, way, now);
		return true;
	}
	announced->is_there = true;
	if (rm_mono_since(now, announced->when) < FOUND_WAYS_AGAIN_NS)
		return false;
	announced->when = now;
	return true;
}

/* A round has seen all paths: what no flow takes any more is new when it comes back. */
static void
end_round(struct found_ways *ways)
{
	struct announced *announced, *next;

	HASH_ITER (hh, ways->announced, announced, next) {
		if (!announced->is_there) {
			HASH_DEL(ways->announced, announced);
			free(announced);
			continue;
		}
		announced->is_there = false;
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
