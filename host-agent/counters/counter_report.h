/*
 * counter_report - the report of an RNIC's counters to an aggregator. Pure.
 *
 * It has, for each counter that aggregators know, the increase between the last two
 * readings, computed with the counter's width in bits, so that a wrap does not look
 * like a burst. A counter that has restarted, is new, has returned or is missing is
 * left out of the report, since a missing value is not zero.
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

/* lowers: the states of the network devices of a bond; NULL: they were not all read.
 * lower_count: their number; 0: the RNIC is no bond. If the bond itself does not have a
 * counter, the value is the sum of the counters of its network devices, or the largest
 * one if the counter counts time. This also holds for the counters of its cables
 * (changes of the link, symbol errors), which the bond itself does not show. The values
 * of the PCIe link are those of one port, the one whose link has the smallest share of
 * what its ends can use. The optics are those of one module, the one with the darkest
 * lane; if the modules have different lanes, no optics are reported. The power is the
 * larger one of the last two readings of a module. Returns the number of values, at
 * most COUNTER_REPORT_VALUES. */
size_t counter_report_fill(const struct counter_state *states,
    const struct counter_state *const *lowers, size_t lower_count,
    struct wire_counter_value ret[COUNTER_REPORT_VALUES]);

/* Fills ret and values from the last reading of the RNIC at this place; ret borrows
 * values, and the caller fills ret->id. Returns the RNIC; NULL: it has not been read
 * twice without an error. */
const struct counters_port *counter_report_of(const struct counters *counters,
    const struct counter_port_place *place,
    struct wire_counter_value values[COUNTER_REPORT_VALUES],
    struct wire_rnic_counters *ret);

#endif
