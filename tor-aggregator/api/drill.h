/*
 * drill - the raw results of one RNIC, for requests over HTTP, from the controller or
 * the analyzer.
 */
#ifndef TOR_AGGREGATOR_API_DRILL_H
#define TOR_AGGREGATOR_API_DRILL_H

#include <stdint.h>

#include <jansson.h>

#include "schemas/wire.h"

struct roster_rnic;
struct tor_aggregator;
struct tor_rack;

#define DRILL_SECONDS 10
#define DRILL_MAX_SECONDS 86400
#define DRILL_LIMIT 1000
#define DRILL_MAX_LIMIT 10000

/* Finds an RNIC by its id, or by host/device, and sets *rack. NULL: it is in no rack of
 * this aggregator. */
const struct roster_rnic *drill_find(const struct tor_aggregator *aggregator,
    const char *text, const struct tor_rack **rack);

/* The raw results of an RNIC in the last `seconds`, at most `limit`; both must be in
 * range. The caller owns the reference. *status: an HTTP status. */
json_t *drill_results(const struct tor_aggregator *aggregator, const char *rnic,
    uint64_t seconds, uint64_t limit, int *status);

/*
 * Answers a request that arrived over a link: for raw results, for the pairs of a rack,
 * or for the diagnosis of its counters. If seconds or limit is 0, the default of the
 * HTTP API is used. *out is valid until the writer's next message. -ENOMEM.
 */
int drill_write(const struct tor_aggregator *aggregator, const struct wire_drill *drill,
    struct wire_writer *writer, struct wire_bytes *out);

#endif
