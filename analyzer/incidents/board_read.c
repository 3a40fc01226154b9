#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/incidents/board_state.h"

const struct board_entry *
board_get(const struct board *board, size_t i)
{
	if (i < board->open_count)
		return &board->open[board->open_count - 1 - i]->entry;
	i -= board->open_count;
	if (i >= board->closed_count)
		return NULL;
	i = (board->closed_next + BOARD_MAX_CLOSED - 1 - i) % BOARD_MAX_CLOSED;
	return &board->closed[i]->entry;
}

const struct board_entry *
board_find(const struct board *board, uint64_t id)
{
	const struct telling *telling, *next;
	char text[KEY_BYTES];

	snprintf(text, sizeof(text), "|%016" PRIx64, id);
	HASH_ITER (hh, board->by_key, telling, next) {
		if (strcmp(strchr(telling->key, '|'), text) == 0)
			return &telling->node->entry;
	}
	return NULL;
}

size_t
board_open(const struct board *board)
{
	return board->open_count;
}

uint64_t
board_changes(const struct board *board)
{
	return board->changes;
}

const struct board_counts *
board_counts(const struct board *board)
{
	return &board->counts;
}
