/*
 * suppression - finds losses between racks that a rack's own incident explains. Pure. A
 * host with a frozen agent, or a dead RNIC, answers no probe, and other racks lose
 * their flows to it: that is no evidence against the switches on the path.
 */
#ifndef ANALYZER_INCIDENTS_SUPPRESSION_H
#define ANALYZER_INCIDENTS_SUPPRESSION_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct incident_table;
struct rm_verdict;

/* True: most of the verdict's sample probes begin or end at an RNIC or a host with an
 * open incident of its rack, or one that ended recently, as rows arrive later. A
 * flapping port does not explain why a link carries nothing at all.
 */
bool suppressed_by_racks(const struct incident_table *table, const char *region,
    const struct rm_verdict *verdict, rm_wall_t now);

#endif
