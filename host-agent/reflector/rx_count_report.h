/*
 * rx_count_report - rows of the receive counts that changed since the last report.
 *
 * A reflector returns each change once, so the rows are gathered once for all
 * aggregators and then selected for each by the RNICs that it serves.
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
/* Takes the changed rows of one RNIC. -ENOMEM, -ENOBUFS (WIRE_MAX_COUNTS are held): the
 * rest is returned the next time. */
int rx_count_report_gather(
    struct rx_count_report *rows, size_t rnic, struct reflector *reflector);

/* The rows of the RNICs for which serves(rnic, arg) is true. Borrowed until the next
 * call. */
const struct wire_count *rx_count_report_pick(struct rx_count_report *rows,
    bool (*serves)(size_t rnic, const void *arg), const void *arg, size_t *count);

#endif
