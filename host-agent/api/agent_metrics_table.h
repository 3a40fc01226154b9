/*
 * agent_metrics_table - counters of one struct as a table: for agent_metrics*.c only.
 */
#ifndef HOST_AGENT_API_AGENT_METRICS_TABLE_H
#define HOST_AGENT_API_AGENT_METRICS_TABLE_H

#include <stddef.h>

struct rm_metrics;

/* A uint64_t at an offset of some struct of counters. A name of NULL ends the table. */
struct agent_counter {
	const char *name;
	const char *label; /* "" or e.g. "reason=\"full\"" */
	size_t offset;
	const char *help;
};

/* base: the struct that the table's offsets are of. label: of the whole group. */
int agent_metrics_table(struct rm_metrics *metrics, const void *owner,
    const char *label, const struct agent_counter *table, const void *base);

#endif
