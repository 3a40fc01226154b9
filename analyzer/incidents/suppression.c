#include "analyzer/incidents/suppression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/incidents/incident_table.h"
#include "rackmesh/judge/verdict.h"

#define MOST 0.75 /* of the samples */
#define LATELY_NS (4 * RM_NS_PER_S)
/* maximum number of ended incidents that are examined; the newest are */
#define MAX_ENDED 64

/* rnic: "host/device". True: the entry is about the RNIC or its host. */
static bool
is_about(const struct incident_table_entry *entry, const char *rnic)
{
	struct rm_part part = { 0 };
	char host[2 * RM_NAME_BYTES];

	snprintf(part.name, sizeof(part.name), "%s", entry->part);
	if (strcmp(entry->kind, rm_kind_str(RM_KIND_CERTIFICATE_ENDING)) == 0)
		return false; /* the fault does not prevent answers to probes */
	if (strcmp(entry->part_type, rm_part_type_str(RM_PART_RNIC)) == 0)
		return rm_part_names(&part, rnic);
	if (strcmp(entry->part_type, rm_part_type_str(RM_PART_HOST)) != 0 &&
	    strcmp(entry->part_type, rm_part_type_str(RM_PART_AGENT)) != 0)
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)strcspn(rnic, "/"), rnic);
	return rm_part_names(&part, host);
}

/* A flapping port loses packets on all its paths now and then, but never all packets of
 * one path. So it does not explain a link that is down. */
static bool
may_explain(const struct incident_table_entry *entry, const struct rm_verdict *verdict)
{
	return verdict->kind != RM_KIND_LINK_DOWN ||
	       strcmp(entry->kind, rm_kind_str(RM_KIND_RNIC_FLAPPING)) != 0;
}

static bool
is_reported(const struct incident_table *table, const char *region,
    const struct rm_verdict *verdict, const struct rm_evidence_sample *sample,
    rm_wall_t now)
{
	const size_t count = incident_table_open(table) + MAX_ENDED;
	const struct incident_table_entry *entry;

	for (size_t i = 0; i < count && (entry = incident_table_get(table, i)) != NULL;
	     i++) {
		/* A flapping part does not explain losses while it is good. */
		const rm_wall_t ended =
		    entry->is_open ? entry->good_since : entry->resolved;

		if ((!entry->is_open || ended.ns != 0) &&
		    llabs(now.ns - ended.ns) > LATELY_NS)
			continue;
		if (strcmp(entry->region, region) == 0 && may_explain(entry, verdict) &&
		    (is_about(entry, sample->from) || is_about(entry, sample->to)))
			return true;
	}
	return false;
}

bool
suppressed_by_racks(const struct incident_table *table, const char *region,
    const struct rm_verdict *verdict, rm_wall_t now)
{
	const struct rm_evidence *evidence = &verdict->evidence;
	size_t reported = 0;

	for (size_t i = 0; i < evidence->sample_count; i++)
		reported +=
		    is_reported(table, region, verdict, &evidence->samples[i], now);
	return reported > 0 &&
	       (double)reported >= MOST * (double)evidence->sample_count;
}
