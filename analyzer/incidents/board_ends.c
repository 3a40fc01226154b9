#include "analyzer/incidents/board_ends.h"

#include <string.h>

#include "analyzer/incidents/board.h"
#include "analyzer/localise/localise.h"

static bool
is_end(const struct board_entry *entry)
{
	return strcmp(entry->part_type, rm_part_type_str(RM_PART_RNIC)) == 0 ||
	       strcmp(entry->part_type, rm_part_type_str(RM_PART_HOST)) == 0;
}

void
board_ends_tell(
    const struct board *board, const char *region, struct localise *localise)
{
	const struct board_entry *entry;

	localise_ends_none(localise);
	for (size_t i = 0; i < board_open(board); i++) {
		entry = board_get(board, i);
		if (is_end(entry) && strcmp(entry->region, region) == 0)
			localise_rack_end(localise, entry->tor, entry->kind,
			    entry->narrowed[0] != '\0' ? entry->narrowed : entry->part);
	}
}
