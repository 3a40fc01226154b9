/*
 * rack_quiet - stores since when each aggregator of a rack has reported no open
 * incident. Pure. Summaries and incidents arrive on two lanes, of which one may be
 * faster than the other. Therefore a rack is quiet only after it has reported no open
 * incident for some time.
 */
#ifndef ANALYZER_RACKS_RACK_QUIET_H
#define ANALYZER_RACKS_RACK_QUIET_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define RACK_QUIET_NS (10 * RM_NS_PER_S)
#define RACK_QUIET_AGGREGATORS 2

struct rack_quiet { /* initially all zero: no report yet */
	struct rack_quiet_source {
		char aggregator[RM_NAME_BYTES];
		rm_wall_t since, until; /* since.ns 0: an incident is open */
	} sources[RACK_QUIET_AGGREGATORS];
};

/* Adds a report. aggregator: must be a valid name; end: the end of the summary. */
void rack_quiet_take(struct rack_quiet *quiet, const char *aggregator, rm_wall_t end,
    uint64_t incidents_open);
/* Returns since when the rack has been quiet, but at the earliest `changed`. ns 0: the
 * rack is not quiet, or that is not known. */
rm_wall_t rack_quiet_since(
    const struct rack_quiet *quiet, const char *aggregator, rm_wall_t changed);

#endif
