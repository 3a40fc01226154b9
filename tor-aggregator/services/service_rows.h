/*
 * service_rows - counts the results of probes along services' flows, by service and
 * class. Pure.
 *
 * The service of a flow is found in service_table. Each row covers the time since the
 * last row that was sent, so rows can be summed up.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_ROWS_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_ROWS_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct service_rows;
struct service_table;

/* table: borrowed for the life of *ret; NULL: there are no reports of services, and no
 * results are counted. */
int service_rows_new(
    const struct service_table *table, rm_wall_t wall, struct service_rows **ret);
void service_rows_free(struct service_rows *rows);

/* Adds a result of a member. Hot path. Only probes along a service's flow count. */
void service_rows_add(struct service_rows *rows, const struct wire_result *result);

/* Moves all counts into the services of *summary, and sets them to 0. The services are
 * valid until the next call of a function of this module. Call it for the same summary
 * as the other rows: then both cover the same time, and arrive before the analyzer
 * closes that minute. */
void service_rows_take(
    struct service_rows *rows, rm_wall_t wall, struct wire_summary *summary);

/* Returns the number of results that were refused so far because there were
 * WIRE_MAX_SERVICE_ROWS rows already. */
const uint64_t *service_rows_refused(const struct service_rows *rows);

#endif
