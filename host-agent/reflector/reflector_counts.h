/*
 * reflector_counts - number of received probes per prober and class, since the start.
 *
 * Changed rows are in a queue until the next report, so the cost of a report depends on
 * the number of changes, not on the size of the table. Pure.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_COUNTS_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct reflector_counts_row;
struct reflector_counts_table;

struct reflector_counts_table *reflector_counts_new(struct wire_rnic_id own);
void reflector_counts_free(struct reflector_counts_table *table); /* NULL is allowed */

/* Returns the row of a prober and class, and creates it if there is none; it lives as
 * long as the table. NULL: no memory, or WIRE_MAX_COUNTS rows exist already. */
struct reflector_counts_row *reflector_counts_row(
    struct reflector_counts_table *table, struct wire_rnic_id prober, uint8_t dscp);
void reflector_counts_add(
    struct reflector_counts_table *table, struct reflector_counts_row *row);

size_t reflector_counts_changed(
    struct reflector_counts_table *table, struct wire_count *rows, size_t max);
void reflector_counts_change_all(struct reflector_counts_table *table);

#endif
