/*
 * metrics_table - structs of counters shown as metrics, by tables of their fields.
 */
#ifndef RACKMESH_METRICS_METRICS_TABLE_H
#define RACKMESH_METRICS_METRICS_TABLE_H

#include <stddef.h>

#define METRICS_LABEL_BYTES 160

struct rm_metrics;

struct metrics_counter { /* a uint64_t at an offset of some struct of counters */
	const char *name, *label; /* label: "" or 'key="value"' */
	size_t offset;
	const char *help;
};

/* table ends with a zeroed one. base: the struct of counters, borrowed; more: "" or a
 * label that all of the table carry. */
int metrics_table_add(struct rm_metrics *metrics, const struct metrics_counter *table,
    const void *base, const char *more);

#endif
