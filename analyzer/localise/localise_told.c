/* What is told of racks besides their rows. */
#include <string.h>

#include "analyzer/localise/localise.h"
#include "analyzer/localise/localise_state.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_map.h"

void
localise_tor_verdict(struct localise *localise, const char *tor, bool stands,
    bool mesh_fails, rm_mono_t now)
{
	struct localise_rack *rack;

	if (!rm_name_valid(tor) || localise_map_rack(&localise->map, tor, &rack) < 0)
		return;
	rack->tor_stands = stands;
	rack->mesh_fails = stands && mesh_fails;
}

/* Of a ToR it is told apart, and others lose no probe. */
static bool
loses_probes(const char *kind)
{
	static const enum rm_kind none[] = { RM_KIND_TOR_DOWN, RM_KIND_MANAGEMENT_DOWN,
		RM_KIND_CERTIFICATE_ENDING, RM_KIND_AGENT_CONTRADICTED,
		RM_KIND_PAIR_CONTRADICTED };

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (strcmp(kind, rm_kind_word(none[i])) == 0)
			return false;
	return true;
}

void
localise_rack_found(
    struct localise *localise, const char *tor, const char *kind, rm_mono_t now)
{
	struct localise_element *element;

	HASH_FIND_STR(localise->map.elements, tor, element);
	if (element == NULL || !loses_probes(kind))
		return;
	element->found = now;
	for (size_t i = 0; i < element->way_count; i++)
		if (!localise_standings_slow(&localise->standings, element->ways[i]))
			localise_bins_forget(element->ways[i]);
}

void
localise_rack_heard(struct localise *localise, const char *tor, bool heard)
{
	struct localise_rack *rack = localise_map_find_rack(&localise->map, tor);

	if (rack == NULL || rack->heard == heard)
		return;
	rack->heard = heard;
	rack->frame_came[0].ns = rack->frame_came[1].ns = INT64_MIN / 2;
}

void
localise_forget_named(struct localise *localise)
{
	struct localise_rack *rack, *next;

	localise->standings.count = 0;
	HASH_ITER (hh, localise->map.racks, rack, next)
		rack->tor_stands = rack->mesh_fails = false;
}
