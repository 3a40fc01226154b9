#include "analyzer/explained.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/board.h"
#include "rackmesh/fabric/verdict.h"

#define MOST 0.75 /* of the samples */

/* rnic: "host/device". Is the entry about it, or about its host? */
static bool
is_about(const struct board_entry *entry, const char *rnic)
{
	struct rm_part part = { 0 };
	char host[2 * RM_NAME_BYTES];

	snprintf(part.name, sizeof(part.name), "%s", entry->part);
	if (strcmp(entry->kind, rm_kind_word(RM_KIND_CERTIFICATE_ENDING)) == 0)
		return false; /* its probes are as good as ever */
	if (strcmp(entry->part_type, rm_part_type_word(RM_PART_RNIC)) == 0)
		return rm_part_names(&part, rnic);
	if (strcmp(entry->part_type, rm_part_type_word(RM_PART_HOST)) != 0 &&
	    strcmp(entry->part_type, rm_part_type_word(RM_PART_AGENT)) != 0)
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)strcspn(rnic, "/"), rnic);
	return rm_part_names(&part, host);
}

static bool
is_told(const struct board *board, const char *region,
    const struct rm_evidence_sample *sample)
{
	for (size_t i = 0; i < board_open(board); i++) {
		const struct board_entry *entry = board_get(board, i);

		if (strcmp(entry->region, region) == 0 &&
		    (is_about(entry, sample->from) || is_about(entry, sample->to)))
			return true;
	}
	return false;
}

bool
explained_by_racks(
    const struct board *board, const char *region, const struct rm_verdict *verdict)
{
	const struct rm_evidence *evidence = &verdict->evidence;
	size_t told = 0;

	for (size_t i = 0; i < evidence->sample_count; i++)
		told += is_told(board, region, &evidence->samples[i]);
	return told > 0 && (double)told >= MOST * (double)evidence->sample_count;
}
