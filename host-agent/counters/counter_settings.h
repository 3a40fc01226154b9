/*
 * counter_settings - the settings of an RNIC that aggregators compare with the expected
 * ones, from the last readings.
 *
 * A bond has no PFC, no priorities and no FEC of its own: it has those of its ports. If
 * its ports differ in a setting, it is WIRE_PORTS_DIFFER, which differs from each
 * expected value.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_SETTINGS_H
#define HOST_AGENT_COUNTERS_COUNTER_SETTINGS_H

#include <stddef.h>

#include "schemas/wire.h"

struct counter_port_place;
struct counters;
struct counters_port;

/* Adds the settings of an RNIC to *ret, which borrows port's firmware. lowers: the
 * network devices of a bond; NULL for one that was not read. */
void counter_settings_fill(const struct counters_port *port,
    const struct counters_port *const *lowers, size_t lower_count,
    struct wire_settings *ret);

/* The same for the RNIC at this place. Adds nothing if it was not read. */
void counter_settings_of(const struct counters *counters,
    const struct counter_port_place *place, struct wire_settings *ret);

#endif
