/*
 * history_schema - every measurement of the history: its tags, fields, types, units.
 *
 * The one table: docs/history.md is printed from it, and tests check every point that
 * is written against it. Tags are of low cardinality: names of regions, racks, hosts,
 * RNICs; never a flow, a path, a QPN or a pair of RNICs. Only ever add to it: what was
 * written last year is asked tomorrow.
 */
#ifndef ANALYZER_HISTORY_HISTORY_SCHEMA_H
#define ANALYZER_HISTORY_HISTORY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rackmesh/core/error.h"
#include "rackmesh/metrics/line_reader.h"

enum history_retention {
	HISTORY_RAW = 1, /* many and soon forgotten: rows of summaries */
	HISTORY_KEPT,    /* few and kept for long: incidents, SLA */
};

/* How several points, of a time range or of several RNICs, become one. */
enum history_merge {
	HISTORY_MERGE_NONE, /* no value: a name, a sentence, a time */
	HISTORY_MERGE_SUM,
	HISTORY_MERGE_LARGEST, /* of percentiles, whose mean is not a percentile */
};

struct history_column { /* a name of NULL ends a list */
	const char *name;
	enum rm_line_type type;
	const char *unit; /* "" for words, names and flags */
	const char *help;
	enum history_merge merge; /* of integers only */
};

struct history_measurement {
	const char *name;
	enum history_retention retention;
	const char *help;
	const struct history_column *columns;
	bool dense; /* points of one moment are a nanosecond apart */
};

extern const struct history_measurement history_measurements[]; /* ended by NULL */

/* Whole lines. -EINVAL and error: the first that is no point of the schema. */
int history_schema_check(const char *text, size_t len, struct rm_error *error);

void history_schema_print(FILE *out); /* as Markdown */

#endif
