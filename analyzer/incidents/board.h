/*
 * board - all incidents that are known: those of the racks, as their aggregators tell,
 * and our own. Pure.
 *
 * One entry per (region, incident id); what edges send again after a restart of theirs
 * or ours changes nothing. An open one whose aggregator is silent stays open, marked
 * so. Two aggregators that tell of one fault (equal label sets) are one entry with two
 * sources.
 */
#ifndef ANALYZER_INCIDENTS_BOARD_H
#define ANALYZER_INCIDENTS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/identity/sight_counts.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/judge/severity.h"
#include "schemas/wire.h"

#define BOARD_MAX_OPEN 16384
#define BOARD_MAX_CLOSED 4096 /* the oldest are forgotten first */
#define BOARD_SOURCES 4

struct board;
struct rm_incident;
struct rm_sight;

struct board_entry {
	uint64_t id;
	uint64_t changes; /* the board's own number of its last change: for --follow */
	uint64_t by_region[RM_SIGHT_REGIONS]; /* of the board's changes until then */
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char sources[BOARD_SOURCES][RM_NAME_BYTES]; /* aggregators, or the analyzer */
	size_t source_count;
	char narrowed[RM_PART_NAME_BYTES]; /* of part "A or B" the one that it is; or ""
					    */
	char part_type[24], part[RM_PART_NAME_BYTES], place[RM_NAME_BYTES], kind[32];
	enum rm_severity severity; /* as it opened; RM_SEVERITY_UNSET: not told */
	double confidence;
	bool is_open;
	rm_wall_t began, opened, changed, resolved;
	char *sentence;
	char *evidence_json;
};

struct board_counts {
	uint64_t opened, updated, resolved, repeated, refused;
};

int board_new(struct board **ret);
void board_free(struct board *board);

/* 1: something is new; 0: it was known; -ENOBUFS, -ENOMEM, -EINVAL (makes no sense). */
int board_edge(struct board *board, const struct wire_incident *incident);
int board_own(struct board *board, const char *region, const char *analyzer,
    enum wire_incident_state state, const struct rm_incident *incident);

/* Ends what racks have open no more and will not say so: their aggregator was killed
 * before it could keep it. calm: since when, after changed, the rack has had nothing
 * open by that aggregator's word; .ns 0: it has, or nobody knows. Returns how many
 * entries ended, each of which on_ended is given. */
size_t board_end_quiet(struct board *board,
    rm_wall_t (*quiet)(const char *region, const char *source, const char *tor,
	rm_wall_t changed, void *arg),
    void (*on_ended)(const struct board_entry *entry, void *arg), void *arg);

/* Open ones first, newest first; then closed ones. NULL past the end. */
const struct board_entry *board_get(const struct board *board, size_t i);
const struct board_entry *board_find(const struct board *board, uint64_t id);
size_t board_open(const struct board *board);
uint64_t board_changes(const struct board *board);
/* The same two numbers among the changes that are in sight, whatever region is asked
 * for. */
uint64_t board_changes_in(const struct board *board, const struct rm_sight *sight);
uint64_t board_number_in(const struct board *board, const struct board_entry *entry,
    const struct rm_sight *sight);
const struct board_counts *board_counts(const struct board *board);

json_t *board_json(const struct board_entry *entry); /* new reference */

#endif
