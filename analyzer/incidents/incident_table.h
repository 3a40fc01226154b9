/*
 * incident_table - all known incidents: those that aggregators report, and the
 * analyzer's own. Pure.
 *
 * One entry per (region, incident id). A message that is sent again after a restart of
 * either side changes nothing. An open incident of a silent aggregator stays open. If
 * two aggregators report one fault (equal labels), that is one entry with two sources.
 */
#ifndef ANALYZER_INCIDENTS_INCIDENT_TABLE_H
#define ANALYZER_INCIDENTS_INCIDENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/identity/sight_counts.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/judge/severity.h"
#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

#define INCIDENT_TABLE_MAX_OPEN 16384
/* maximum number of closed incidents; the oldest are deleted first */
#define INCIDENT_TABLE_MAX_CLOSED 4096
#define INCIDENT_TABLE_SOURCES 4

struct incident_table;
struct rm_incident;
struct rm_sight;

struct incident_table_entry {
	uint64_t id;
	/* number of the table's last change to this entry, for --follow */
	uint64_t changes;
	/* number of changes of the table until then, for each region */
	uint64_t by_region[RM_SIGHT_REGIONS];
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char sources[INCIDENT_TABLE_SOURCES]
		    [RM_NAME_BYTES]; /* aggregators that report the incident, or the
					analyzer */
	size_t source_count;
	/* the part of "A or B" that is at fault; "": not known, or the incident is on a
	 * single part */
	char narrowed[RM_PART_NAME_BYTES];
	char part_type[24], part[RM_PART_NAME_BYTES], place[RM_NAME_BYTES], kind[32];
	/* severity at the opening; RM_SEVERITY_UNSET: not reported */
	enum rm_severity severity;
	enum rm_impact impact;
	double confidence;
	bool is_open;
	rm_wall_t began, opened, changed, resolved;
	/* Of an open incident on a flapping part: since when the part is good, between
	 * two of its falls. ns 0: it is bad now. */
	rm_wall_t good_since;
	char *sentence;
	char *evidence_json;
};

struct incident_table_counts {
	uint64_t opened, updated, resolved, repeated, refused;
};

int incident_table_new(struct incident_table **ret);
void incident_table_free(struct incident_table *table);

/* True: the message reports a new fault, or that of a flapping part has returned. */
bool incident_table_is_fall(const struct wire_incident *incident);
/* Handles an incident that a rack's aggregator reports. Returns 1: it changed the
 * table; 0: it was known; -EINVAL: a field is out of range; -ENOBUFS, -ENOMEM. */
int incident_table_edge(
    struct incident_table *table, const struct wire_incident *incident);
/* Handles an incident of this analyzer. Returns the same values as incident_table_edge.
 */
int incident_table_own(struct incident_table *table, const char *region,
    const char *analyzer, enum wire_incident_state state,
    const struct rm_incident *incident);

/* Ends entries that are no longer open at their racks and whose end will not be
 * reported, because the aggregator was killed before it could save them. quiet()
 * returns since when, after `changed`, the aggregator has reported no open incident of
 * the rack; .ns 0: it reports open incidents, or nothing is known. Returns how many
 * entries ended; on_ended is called for each. */
size_t incident_table_end_quiet(struct incident_table *table,
    rm_wall_t (*quiet)(const char *region, const char *source, const char *tor,
	rm_wall_t changed, void *arg),
    void (*on_ended)(const struct incident_table_entry *entry, void *arg), void *arg);

/* Returns the open incidents first, the newest first; then the closed ones. NULL: there
 * are no more. */
const struct incident_table_entry *incident_table_get(
    const struct incident_table *table, size_t i);
const struct incident_table_entry *incident_table_find(
    const struct incident_table *table, uint64_t id);
size_t incident_table_open(const struct incident_table *table);
uint64_t incident_table_changes(const struct incident_table *table);
/* The number of changes, and the number of an entry's last change, counted only over
 * the regions that the client may see, whichever of them it asks for. */
uint64_t incident_table_changes_in(
    const struct incident_table *table, const struct rm_sight *sight);
uint64_t incident_table_number_in(const struct incident_table *table,
    const struct incident_table_entry *entry, const struct rm_sight *sight);
const struct incident_table_counts *incident_table_counts(
    const struct incident_table *table);

json_t *incident_table_json(
    const struct incident_table_entry *entry); /* new reference */
/* The evidence of the last report; null if it is not readable. New reference. */
json_t *incident_table_evidence(const struct incident_table_entry *entry);

#endif
