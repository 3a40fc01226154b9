/*
 * rack_quiet - since when each aggregator of a rack reports no open incident. Pure.
 * Summaries and incidents come on two lanes, and one may overtake the other: a rack is
 * quiet only after it has reported that for a while.
 */
#ifndef ANALYZER_RACKS_RACK_QUIET_H
#define ANALYZER_RACKS_RACK_QUIET_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define RACK_QUIET_NS (10 * RM_NS_PER_S)
#define RACK_QUIET_AGGREGATORS 2

struct rack_quiet { /* zeroed: no report yet */
	struct rack_quiet_source {
		char aggregator[RM_NAME_BYTES];
		rm_wall_t since, until; /* since.ns 0: something is open */
	} sources[RACK_QUIET_AGGREGATORS];
};

/* The name is valid. */
void rack_quiet_take(struct rack_quiet *quiet, const char *aggregator, rm_wall_t end,
    uint64_t incidents_open);
/* Since when it is quiet, after changed; .ns 0: it is not, or that is not known. */
rm_wall_t rack_quiet_since(
    const struct rack_quiet *quiet, const char *aggregator, rm_wall_t changed);

#endif
