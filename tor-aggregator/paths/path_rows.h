/*
 * path_rows - counts of sent and lost probes for each path that leaves the rack. Pure.
 *
 * Results are counted by flow and second of sending. A second that has closed is
 * folded: flows of members that are no witnesses, or towards RNICs that are dead or
 * lossy themselves, are left out, and the rest is added up by path. While anything is
 * lost, or slow, rows go every second, and once more after it ended; else every row
 * interval. No probe is in two messages.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_ROWS_H
#define TOR_AGGREGATOR_PATHS_PATH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct lossy_ends_counts;
struct path_ends_counts;
struct path_rows;
struct path_table;
struct roster;

#define PATH_ROWS_SECOND_NS RM_NS_PER_S
#define PATH_ROWS_MAX_ROWS 16384   /* in one message: of the largest some 12 MiB */
#define PATH_ROWS_MAX_FLOWS 131072 /* of one second */

struct path_rows_options {
	int64_t row_interval_ns;
	unsigned open_seconds; /* that can be open at once */
	size_t max_flows;
};

struct path_rows_counts {
	uint64_t seconds,
	    lossy;        /* folded; those in which something was lost, or slow */
	uint64_t skipped; /* seconds cut by our own start or stall */
	uint64_t messages, rows;
	uint64_t refused_flows; /* results whose flow found no room */
	uint64_t refused_rows;  /* beyond PATH_ROWS_MAX_ROWS */
	uint64_t not_a_witness; /* probes of members that bear no witness */
	uint64_t untraced;      /* probes whose path is not known */
	uint64_t forgotten; /* probes of seconds skipped, or of a former numbering */
};

int path_rows_new(
    const struct path_rows_options *options, rm_mono_t now, struct path_rows **ret);
void path_rows_free(struct path_rows *rows);

/* Hot path, for results that leave the rack and were windowed. */
void path_rows_add(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst, uint16_t dst_tor);

/* A reply to a probe that was lost, it seemed: it counts in the second that closes
 * next.
 */
void path_rows_overdue(struct path_rows *rows, const struct wire_result *result,
    uint32_t src, uint32_t dst, uint16_t dst_tor);

struct path_rows_second {      /* one that has closed */
	rm_mono_t end;         /* a multiple of PATH_ROWS_SECOND_NS */
	const bool *witnesses; /* by member */
	bool partial;          /* cut by our own start or stall: says nothing */
	const struct roster *roster;
	const struct path_table *paths;
	rm_mono_t now;
	rm_wall_t wall; /* at `now` */
	/* *summary has tor, times and path rows; valid for the call. No number of a
	 * path is remembered after it. */
	void (*emit)(struct wire_summary *summary, void *arg);
	void *arg;
};

/* Every second in turn. */
void path_rows_close(struct path_rows *rows, const struct path_rows_second *second);

/* Nothing is remembered of any path: path_table_age may be called. */
bool path_rows_empty(const struct path_rows *rows);

/* RNICs were renumbered: forgets what is open. */
void path_rows_renumber(struct path_rows *rows);

const struct path_rows_counts *path_rows_counts(const struct path_rows *rows);
const struct path_ends_counts *path_rows_ends(const struct path_rows *rows);
const struct lossy_ends_counts *path_rows_lossy_ends(const struct path_rows *rows);

#endif
