/*
 * service_rows - results of probes along services' flows, by service and class. Pure.
 *
 * Which flow is whose, agents tell (service_table). Each row covers the time since it
 * last went, so that rows add up.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_ROWS_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_ROWS_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct service_rows;
struct service_table;

/* The table is borrowed for the rows' life; NULL: no service reports. */
int service_rows_new(
    const struct service_table *table, rm_wall_t wall, struct service_rows **ret);
void service_rows_free(struct service_rows *rows);

/* Hot path, of results of members. Only those of probes that follow a service count. */
void service_rows_add(struct service_rows *rows, const struct wire_result *result);

/* All that was counted is in services of *summary, valid until the next call of any
 * function here, and starts afresh. For the summary that tells all rows: then both
 * cover the same time, and come before its minute is closed. */
void service_rows_take(
    struct service_rows *rows, rm_wall_t wall, struct wire_summary *summary);

/* Results beyond WIRE_MAX_SERVICE_ROWS services and classes, so far. */
const uint64_t *service_rows_refused(const struct service_rows *rows);

#endif
