/*
 * rack_source - chooses the aggregator whose windows of a rack count, where two may
 * report it. Pure. Only the active one reports, but at a change the windows of the two
 * may overlap, and a probe would count twice. So a window of the other aggregator is
 * not counted if it begins before the last counted window has ended, and that one's
 * aggregator has reported recently.
 */
#ifndef ANALYZER_RACKS_RACK_SOURCE_H
#define ANALYZER_RACKS_RACK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* maximum number of racks with a chosen aggregator; all windows of further racks count
 */
#define RACK_SOURCE_MAX 16384
/* limit on the effect of clocks that differ */
#define RACK_SOURCE_FRESH_NS (60 * RM_NS_PER_S)

struct rack_source;

int rack_source_new(struct rack_source **ret);
void rack_source_free(struct rack_source *source);

/* True: count this window of the rack. */
bool rack_source_take(struct rack_source *source, const char *region, const char *tor,
    const char *aggregator, uint64_t start_wall_ns, uint64_t end_wall_ns,
    rm_mono_t now);

#endif
