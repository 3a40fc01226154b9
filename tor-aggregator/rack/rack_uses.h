/*
 * rack_uses - which services use which paths out of the rack, and whether the probes
 * that follow them are lost: for the impact of faults of links, switches, ToRs and
 * paths. Pure.
 *
 * Rows are by service, other rack and path. Each report has all there are now; the
 * counts are of the time since the last one.
 */
#ifndef TOR_AGGREGATOR_RACK_RACK_USES_H
#define TOR_AGGREGATOR_RACK_RACK_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct path_table;
struct rack_uses;
struct roster;
struct service_table;

int rack_uses_new(rm_mono_t now, struct rack_uses **ret);
void rack_uses_free(struct rack_uses *uses); /* NULL is allowed */

/* Hot path, for results of members: counts those whose probe follows a service. */
void rack_uses_add(struct rack_uses *uses, const struct service_table *table,
    rm_mono_t sent, const struct wire_result *result);

/* True: the row interval is over, or a probe of a service was lost and the last report
 * is a second old. */
bool rack_uses_due(
    const struct rack_uses *uses, int64_t row_interval_ns, rm_mono_t now);

/* The next report is due at once: who gets it has none of this aggregator yet. */
void rack_uses_hurry(struct rack_uses *uses);

/* Sets the uses of *summary, valid until the next call of any function here, and starts
 * anew. */
void rack_uses_take(struct rack_uses *uses, const struct service_table *table,
    const struct roster *roster, const struct path_table *paths, rm_mono_t now,
    struct wire_summary *summary);

/* A probe of a service of the rack that was sent within this time was lost. */
bool rack_uses_lost(const struct rack_uses *uses, rm_mono_t now, int64_t within_ns);

/* Rows left out so far, beyond WIRE_MAX_USE_ROWS, or for lack of memory. */
const uint64_t *rack_uses_refused(const struct rack_uses *uses);

#endif
