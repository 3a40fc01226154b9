/*
 * counter_report - what an aggregator is told of an RNIC's counters. Pure.
 *
 * Of those that it knows, what was counted between the last two readings: by the true
 * width of the counter, so that a wrap is no burst. What began again, is new, back or
 * not there is left out: missing is not zero.
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

/* lowers: the states of a bond's ports: what the bond does not count is their sum. What
 * modules say is that of one port, the one with the darkest lane; of modules with other
 * lanes than each other's nothing is told. Of two readings of a module the brighter
 * one. Returns how many values there are. */
size_t counter_report_fill(const struct counter_state *states,
    const struct counter_state *const *lowers, size_t lower_count,
    struct wire_counter_value ret[COUNTER_REPORT_VALUES]);

/* The RNIC at this place, with its last reading; its id is the caller's to fill. NULL:
 * it was not read twice yet, or not all of it was there. */
const struct counters_port *counter_report_of(const struct counters *counters,
    const struct counter_port_place *place,
    struct wire_counter_value values[COUNTER_REPORT_VALUES],
    struct wire_rnic_counters *ret);

#endif
