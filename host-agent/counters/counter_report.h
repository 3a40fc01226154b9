/*
 * counter_report - the report of an RNIC's counters to an aggregator. Pure.
 *
 * For counters that aggregators know: the increase between the last two readings, with
 * the true width of the counter, so that a wrap is no burst. Counters that restarted,
 * are new, returned or are missing are left out: missing is not zero.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_REPORT_H
#define HOST_AGENT_COUNTERS_COUNTER_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct counter_port_place;
struct counter_state;
struct counters;
struct counters_port;

#define COUNTER_REPORT_VALUES (WIRE_COUNTERS * WIRE_COUNTER_INDEXES)

/* lowers: the states of a bond's ports: counters that the bond does not have are
 * their sums. Optics are those of one port, the one with the darkest lane; if the
 * modules have different lanes, there are none. Of two readings of a module the
 * brighter one is used. Returns the number of values. */
size_t counter_report_fill(const struct counter_state *states,
    const struct counter_state *const *lowers, size_t lower_count,
    struct wire_counter_value ret[COUNTER_REPORT_VALUES]);

/* The RNIC at this index, with its last reading; the caller fills its id. NULL: it
 * was not read twice yet, or some of it was missing. */
const struct counters_port *counter_report_of(const struct counters *counters,
    const struct counter_port_place *place,
    struct wire_counter_value values[COUNTER_REPORT_VALUES],
    struct wire_rnic_counters *ret);

#endif
