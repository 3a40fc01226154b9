#include "analyzer/incidents/incident_table_ends.h"

#include <string.h>

#include "analyzer/incidents/incident_table.h"
#include "analyzer/localise/localise.h"

static bool
is_end(const struct incident_table_entry *entry)
{
	return strcmp(entry->part_type, rm_part_type_str(RM_PART_RNIC)) == 0 ||
	       strcmp(entry->part_type, rm_part_type_str(RM_PART_HOST)) == 0;
}

void
incident_table_ends_report(
    const struct incident_table *table, const char *region, struct localise *localise)
{
	const struct incident_table_entry *entry;

	localise_ends_none(localise);
	for (size_t i = 0; i < incident_table_open(table); i++) {
		entry = incident_table_get(table, i);
		if (entry->good_since.ns == 0 && is_end(entry) &&
		    strcmp(entry->region, region) == 0)
			localise_rack_end(localise, entry->tor, entry->kind,
			    entry->narrowed[0] != '\0' ? entry->narrowed : entry->part);
	}
}
