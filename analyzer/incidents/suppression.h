/*
 * suppression - finds verdicts between racks that an incident of a single rack
 * explains. Pure. A host with a frozen agent, or a dead RNIC, answers no probe, and
 * other racks lose their flows to it: that is no evidence against the switches on the
 * path.
 */
#ifndef ANALYZER_INCIDENTS_SUPPRESSION_H
#define ANALYZER_INCIDENTS_SUPPRESSION_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct incident_table;
struct rm_verdict;

/* True: most of the verdict's sample probes begin or end at an RNIC or a host with an
 * incident of its rack that is open or ended in the last seconds: rows of that time may
 * still arrive. A flapping port does not explain a link that passes no packet at all.
 */
bool suppressed_by_racks(const struct incident_table *table, const char *region,
    const struct rm_verdict *verdict, rm_wall_t now);

#endif
