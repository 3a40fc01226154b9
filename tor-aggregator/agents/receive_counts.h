/*
 * receive_counts - calculates counts per interval from an agent's cumulative receive
 * counts. Pure.
 *
 * A row has the number of probes received since the agent's start, for one RNIC of the
 * agent, one prober and one class. Agents send only rows that have changed. The first
 * report of an incarnation is only the base of the next ones. Rows beyond max_rows are
 * refused and counted.
 */
#ifndef TOR_AGGREGATOR_AGENTS_RECEIVE_COUNTS_H
#define TOR_AGGREGATOR_AGENTS_RECEIVE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct receive_counts;

int receive_counts_new(size_t max_rows, struct receive_counts **ret);
void receive_counts_free(struct receive_counts *counts);

/* Call it for a new incarnation of the agent: all counts are 0 again, and the first
 * report is the base. */
void receive_counts_reset(struct receive_counts *counts);

/*
 * Starts a report made at now_ns, on the agent's clock. Several messages with the same
 * now_ns are one report. *since_ns: time of the report before. 1: the rows count; 0:
 * the rows are only the base; -EINVAL: now_ns is before the last report.
 */
int receive_counts_report(
    struct receive_counts *counts, uint64_t now_ns, uint64_t *since_ns);

/* Returns the increase of a row since the last report; 0 if the count has decreased, in
 * which case it is the new base. */
uint64_t receive_counts_delta(
    struct receive_counts *counts, const struct wire_count *row);

uint64_t receive_counts_refused(const struct receive_counts *counts);

#endif
