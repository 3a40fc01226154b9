/*
 * rx_count_report - rows of the receive counts that changed since the last report.
 *
 * A reflector returns each change once. So the rows are gathered once, and then each
 * aggregator gets those of the RNICs that it serves.
 */
#ifndef HOST_AGENT_REFLECTOR_RX_COUNT_REPORT_H
#define HOST_AGENT_REFLECTOR_RX_COUNT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "schemas/wire.h"

struct rx_count_report;
struct reflector;

int rx_count_report_new(struct rx_count_report **ret);
void rx_count_report_free(struct rx_count_report *rows);

void rx_count_report_start(struct rx_count_report *rows);
/* Adds the changed rows of one RNIC. -ENOMEM; -ENOBUFS: WIRE_MAX_COUNTS rows are held.
 * The reflector keeps the rows that were not added for the next call. */
int rx_count_report_gather(
    struct rx_count_report *rows, size_t rnic, struct reflector *reflector);

/* Returns the rows of those RNICs for which serves returns true, borrowed until the
 * next call. */
const struct wire_count *rx_count_report_pick(struct rx_count_report *rows,
    bool (*serves)(size_t rnic, const void *arg), const void *arg, size_t *count);

#endif
