/*
 * history_schema - the table of all measurements of the history: their tags, fields,
 * types and units.
 *
 * docs/history.md is made from this table, and tests compare every point with it. Tags
 * must have few different values: names of regions, racks, hosts and RNICs, but never a
 * flow, a path, a QPN or a pair of RNICs. Rows may be added, and never changed or
 * removed, because users query points that are years old.
 */
#ifndef ANALYZER_HISTORY_HISTORY_SCHEMA_H
#define ANALYZER_HISTORY_HISTORY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rackmesh/core/error.h"
#include "rackmesh/metrics/line_reader.h"

enum history_retention {
	/* many points that are kept for a short time: rows of summaries */
	HISTORY_RAW = 1,
	HISTORY_KEPT, /* few points that are kept for a long time: incidents, SLA */
};

/* How several points are merged: points of a time range, or of several RNICs. */
enum history_merge {
	/* the column is not merged: it is a name, a sentence or a time */
	HISTORY_MERGE_NONE,
	HISTORY_MERGE_SUM,
	/* used for percentiles, because the mean of percentiles is not a percentile */
	HISTORY_MERGE_LARGEST,
	HISTORY_MERGE_SMALLEST,
};

/* one column of a list; the list ends with an entry whose name is NULL */
struct history_column {
	const char *name;
	enum rm_line_type type;
	const char *unit; /* "" for texts and flags */
	const char *help;
	enum history_merge merge; /* for integers only */
};

struct history_measurement {
	const char *name;
	enum history_retention retention;
	const char *help;
	const struct history_column *columns;
	/* Points of the same time get times 1 ns apart, so that no point overwrites
	 * another. */
	bool dense;
};

/* The table ends with an entry whose name is NULL. */
extern const struct history_measurement history_measurements[];

/* Checks whole lines. -EINVAL: a line is no point of the schema; *error names the
 * first. */
int history_schema_check(const char *text, size_t len, struct rm_error *error);

void history_schema_print(FILE *out); /* as Markdown */

#endif
