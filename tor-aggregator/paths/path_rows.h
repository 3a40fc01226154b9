/*
 * path_rows - counts of sent and lost probes for each path that leaves the rack, and
 * inside the rack (inside_rows). Pure.
 *
 * Results are counted by flow, and by the second in which the probe was sent. When a
 * second closes, flows of members that are no witnesses, flows of RNICs that are dead,
 * lossy or stopped, and flows that have changed their path since, are left out; the
 * other flows are summed up by path. Rows are sent every row interval. While packets
 * are lost or slow, rows are sent every second, and once more after that. No probe is
 * in two messages. Slow replies of a path that were released together when an outage
 * ended do not count as slow (window_release).
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
/* maximum number of rows in one message, which then has about 12 MiB */
#define PATH_ROWS_MAX_ROWS 16384
#define PATH_ROWS_MAX_FLOWS 131072 /* in one second */

struct path_rows_options {
	int64_t row_interval_ns;
	unsigned open_seconds; /* number of seconds that are open at the same time */
	size_t max_flows;
};

struct path_rows_counts {
	/* seconds: closed seconds; lossy: those with losses or slow packets */
	uint64_t seconds, lossy;
	/* seconds that a start or a stall of this aggregator has made incomplete */
	uint64_t skipped;
	uint64_t messages, rows;
	uint64_t refused_flows;  /* results without room for their flow */
	uint64_t refused_rows;   /* rows beyond PATH_ROWS_MAX_ROWS */
	uint64_t not_a_witness;  /* probes of members that are not witnesses */
	uint64_t remote_stopped; /* probes to RNICs whose host was stopped */
	uint64_t untraced;       /* probes whose path is not known */
	/* Probes of flows whose path has changed: it is not known which one they took.
	 */
	uint64_t doubtful;
	/* Probes in skipped seconds, or in seconds that were open during a
	 * renumbering. */
	uint64_t forgotten;
};

int path_rows_new(
    const struct path_rows_options *options, rm_mono_t now, struct path_rows **ret);
void path_rows_free(struct path_rows *rows);

/* Adds a result that was windowed, of a probe that left the rack. Hot path. */
void path_rows_add(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst, uint16_t dst_tor);

/* Adds a result that was windowed, of a probe between two members. Hot path. */
void path_rows_add_inside(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);

/* Adds a reply to a probe that was reported as lost. It counts in the second that is
 * closed next. */
void path_rows_overdue(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst, uint16_t dst_tor);

struct path_rows_second {      /* a second that has closed */
	rm_mono_t end;         /* a multiple of PATH_ROWS_SECOND_NS */
	const bool *witnesses; /* by member */
	/* A start or a stall of this aggregator has made the second incomplete, so it
	 * is no evidence. */
	bool partial;
	const struct roster *roster;
	const struct path_table *paths;
	rm_mono_t now;
	rm_wall_t wall; /* wall-clock time at `now` */
	/* Gets a message: *summary has tor, times, path rows and inside rows, and is
	 * valid during the call. After the call path_rows stores no number of a path.
	 */
	void (*emit)(struct wire_summary *summary, void *arg);
	void *arg;
};

/* Call it for each second, in order. */
void path_rows_close(struct path_rows *rows, const struct path_rows_second *second);

/* True: path_rows stores no number of a path, so path_table_age may be called. */
bool path_rows_empty(const struct path_rows *rows);

/* Deletes open seconds. Call it when RNICs were renumbered. */
void path_rows_renumber(struct path_rows *rows);

const struct path_rows_counts *path_rows_counts(const struct path_rows *rows);
const struct path_ends_counts *path_rows_ends(const struct path_rows *rows);
const struct lossy_ends_counts *path_rows_lossy_ends(const struct path_rows *rows);

#endif
