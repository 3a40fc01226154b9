/*
 * receive_counts - turns an agent's cumulative receive counts into counts per interval.
 * Pure.
 *
 * Rows are cumulative since the agent's start, per own RNIC, prober and class; only
 * rows that changed are sent. The first report of an incarnation whose start was missed
 * only sets the base. Bounded; rows beyond the limit are refused.
 */
#ifndef TOR_AGGREGATOR_AGENTS_RECEIVE_COUNTS_H
#define TOR_AGGREGATOR_AGENTS_RECEIVE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct receive_counts;

int receive_counts_new(size_t max_rows, struct receive_counts **ret);
void receive_counts_free(struct receive_counts *counts);

/* A new incarnation of the agent: everything starts at 0, and its first report sets the
 * base. */
void receive_counts_reset(struct receive_counts *counts);

/*
 * Starts a report made at now_ns (the agent's clock; several messages may share one).
 * *since_ns: the previous report's time. 1: rows count; 0: base only; -EINVAL: its
 * time runs backwards.
 */
int receive_counts_report(
    struct receive_counts *counts, uint64_t now_ns, uint64_t *since_ns);

/* The increase since the last report. A count that fell is a new base. */
uint64_t receive_counts_delta(
    struct receive_counts *counts, const struct wire_count *row);

uint64_t receive_counts_refused(const struct receive_counts *counts);

#endif
