/*
 * suppression - losses between racks for which a rack has told the reason. Pure.
 *
 * A host whose agent is frozen, or an RNIC that is dead, answers nobody, and other
 * racks see their flows to it vanish: about the switches on the way that says nothing.
 */
#ifndef ANALYZER_INCIDENTS_SUPPRESSION_H
#define ANALYZER_INCIDENTS_SUPPRESSION_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct incident_table;
struct rm_verdict;

/* Most of the verdict's sample probes begin or end at an RNIC or a host on which a rack
 * of the region has an open incident, or had one until lately: rows tell of it later.
 * That a port flaps does not explain why a link carries nothing at all.
 */
bool suppressed_by_racks(const struct incident_table *table, const char *region,
    const struct rm_verdict *verdict, rm_wall_t now);

#endif
