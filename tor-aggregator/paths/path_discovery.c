#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/paths/path_discovery.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "tor-aggregator/paths/path_table.h"

struct announced {
	UT_hash_handle hh;
	struct path_hops route;
	rm_mono_t when;
	bool is_there; /* in this round */
};

struct path_discovery {
	struct announced *announced;
	uint32_t next; /* index of the next path to check */
};

int
path_discovery_new(struct path_discovery **ret)
{
	struct path_discovery *discovery = calloc(1, sizeof(*discovery));

	if (discovery == NULL)
		return -ENOMEM;
	*ret = discovery;
	return 0;
}

void
path_discovery_again(struct path_discovery *discovery)
{
	struct announced *announced, *next;

	HASH_ITER (hh, discovery->announced, announced, next) {
		HASH_DEL(discovery->announced, announced);
		free(announced);
	}
	discovery->next = PATH_FIRST;
}

void
path_discovery_free(struct path_discovery *discovery)
{
	if (discovery == NULL)
		return;
	path_discovery_again(discovery);
	free(discovery);
}

static void
remember(struct path_discovery *discovery, const struct path_hops *route, rm_mono_t now)
{
	struct announced *announced = calloc(1, sizeof(*announced));

	if (announced == NULL)
		return;
	announced->route = *route;
	announced->when = now;
	announced->is_there = true;
	HASH_ADD(hh, discovery->announced, route, sizeof(announced->route), announced);
	if (announced->hh.tbl == NULL)
		free(announced);
}

/* True: the path must be reported now. After the call it counts as reported. */
static bool
is_due(struct path_discovery *discovery, const struct path_hops *route, rm_mono_t now)
{
	struct announced *announced = NULL;

	HASH_FIND(hh, discovery->announced, route, sizeof(*route), announced);
	if (announced == NULL) {
		remember(discovery, route, now);
		return true;
	}
	announced->is_there = true;
	if (rm_mono_since(now, announced->when) < PATH_DISCOVERY_AGAIN_NS)
		return false;
	announced->when = now;
	return true;
}

/* Ends a round in which all paths were checked. A path that no flow takes is deleted,
 * so it is new when it returns. */
static void
end_round(struct path_discovery *discovery)
{
	struct announced *announced, *next;

	HASH_ITER (hh, discovery->announced, announced, next) {
		if (!announced->is_there) {
			HASH_DEL(discovery->announced, announced);
			free(announced);
			continue;
		}
		announced->is_there = false;
	}
	discovery->next = PATH_FIRST;
}

size_t
path_discovery_next(struct path_discovery *discovery, const struct path_table *table,
    rm_mono_t now, struct wire_path *out, size_t max)
{
	const uint32_t end = path_table_end(table);
	struct path_hops route;
	size_t count = 0;

	if (discovery->next < PATH_FIRST)
		discovery->next = PATH_FIRST;
	while (count < max && discovery->next < end) {
		if (!path_table_hops(table, discovery->next++, &route) ||
		    !is_due(discovery, &route, now))
			continue;
		out[count] = (struct wire_path){ .family = route.family,
			.hop_count = route.hop_count,
			.flags = WIRE_PATH_COMPLETE };
		memcpy(out[count].hops, route.hops, sizeof(route.hops));
		count++;
	}
	if (discovery->next >= end)
		end_round(discovery);
	return count;
}
