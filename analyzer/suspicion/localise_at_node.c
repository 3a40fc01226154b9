#include "analyzer/suspicion/localise_at_node.h"

#include <stdlib.h>

#include "analyzer/paths/localise_part.h"

#define FEW 8 /* with fewer standings than this, they are searched without an index */

struct adding {
	struct localise_standings *standings;
	uint32_t number;
	bool failed;
};

static void
add_node(struct localise_element *node, void *arg)
{
	struct adding *adding = arg;
	struct localise_standings *standings = adding->standings;
	struct localise_at_node *at;

	adding->failed |=
	    localise_losses_grow(&standings->at_nodes, &standings->at_size,
		standings->at_count + 1, sizeof *standings->at_nodes) < 0;
	if (adding->failed)
		return;
	at = &standings->at_nodes[standings->at_count++];
	at->standing = adding->number;
	at->next = node->index_stamp == standings->index_stamp ? node->index_first : 0;
	node->index_first = (uint32_t)standings->at_count;
	node->index_stamp = standings->index_stamp;
}

static void
add(struct localise_standings *standings, const struct localise_map *map, size_t number)
{
	struct adding adding = { standings, (uint32_t)number, false };

	localise_part_nodes(map, &standings->standings[number].part, add_node, &adding);
	if (adding.failed)
		standings->index_stamp = 0;
}

void
localise_at_node_index(struct localise_standings *standings, struct localise_map *map)
{
	standings->index_stamp = standings->count >= FEW ? ++map->stamp : 0;
	standings->at_count = 0;
	for (size_t i = 0; standings->index_stamp != 0 && i < standings->count; i++)
		add(standings, map, i);
}

void
localise_at_node_add(
    struct localise_standings *standings, const struct localise_map *map)
{
	if (standings->index_stamp != 0)
		add(standings, map, standings->count - 1);
}

void
localise_at_node_forget(struct localise_standings *standings)
{
	standings->index_stamp = 0;
}

bool
localise_at_node_any(const struct localise_standings *standings,
    const struct localise_path *path,
    bool (*on)(
	const struct localise_standing *s, const struct localise_path *path, void *arg),
    void *arg)
{
	if (standings->index_stamp == 0) {
		for (size_t i = 0; i < standings->count; i++)
			if (on(&standings->standings[i], path, arg))
				return true;
		return false;
	}
	for (uint8_t i = 0; i < path->element_count; i++) {
		const struct localise_element *node = path->elements[i];
		uint32_t at =
		    node->index_stamp == standings->index_stamp ? node->index_first : 0;

		for (; at != 0; at = standings->at_nodes[at - 1].next)
			if (on(&standings
				    ->standings[standings->at_nodes[at - 1].standing],
				path, arg))
				return true;
	}
	return false;
}

bool
localise_at_node_some(
    const struct localise_standings *standings, const struct localise_element *node)
{
	return standings->count > 0 && (standings->index_stamp == 0 ||
					   node->index_stamp == standings->index_stamp);
}
