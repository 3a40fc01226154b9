/*
 * rack_uses - counts which services use which paths out of the rack, and how many
 * probes along their flows are lost. The analyzer needs that for the impact of faults
 * of links, switches, ToRs and paths. Pure.
 *
 * There is a row for each service, other rack and path. A report has all present rows;
 * their counts cover the time since the last report.
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

/* Adds a result of a member. Hot path. Only probes along a service's flow count. */
void rack_uses_add(struct rack_uses *uses, const struct service_table *table,
    rm_mono_t sent, const struct wire_result *result);

/* True: send a report now, because the row interval is over, or because a probe of a
 * service was lost, and the last report is at least a second old. */
bool rack_uses_due(
    const struct rack_uses *uses, int64_t row_interval_ns, rm_mono_t now);

/* Makes the next report due at once, for an analyzer that has no report of this
 * aggregator. */
void rack_uses_hurry(struct rack_uses *uses);

/* Sets the uses of *summary, valid until the next call of a function of this module,
 * and sets the counts to 0. */
void rack_uses_take(struct rack_uses *uses, const struct service_table *table,
    const struct roster *roster, const struct path_table *paths, rm_mono_t now,
    struct wire_summary *summary);

/* True: a probe along a service's flow was lost, and it was sent within the last
 * within_ns. */
bool rack_uses_lost(const struct rack_uses *uses, rm_mono_t now, int64_t within_ns);

/* Points to the number of rows left out so far: rows beyond WIRE_MAX_USE_ROWS, and rows
 * for which there was no memory. */
const uint64_t *rack_uses_refused(const struct rack_uses *uses);

#endif
