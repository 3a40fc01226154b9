/*
 * service_rows - results of probes along services' flows, by service and class. Pure.
 *
 * service_table knows from agents which flow belongs to which service. Each row covers
 * the time since it was last sent, so that rows add up.
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

/* Hot path, for results of members. Only results of probes that follow a service
 * count. */
void service_rows_add(struct service_rows *rows, const struct wire_result *result);

/* Moves all counts into the services of *summary, valid until the next call of any
 * function here, and starts anew. Call it for the summary that has all rows: then
 * both cover the same time, and come before its minute is closed. */
void service_rows_take(
    struct service_rows *rows, rm_wall_t wall, struct wire_summary *summary);

/* Results refused so far, beyond WIRE_MAX_SERVICE_ROWS services and classes. */
const uint64_t *service_rows_refused(const struct service_rows *rows);

#endif
