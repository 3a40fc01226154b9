/*
 * rack_turns - chooses the aggregator whose windows of a rack count, where two may
 * report it. Pure. Only the active one reports, but at a change the windows of the two
 * may overlap, and a probe would count twice. So a window of the other aggregator is
 * not counted if it begins before the last counted window has ended, and that one's
 * aggregator has reported recently.
 */
#ifndef ANALYZER_RACKS_RACK_TURNS_H
#define ANALYZER_RACKS_RACK_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RACK_TURNS_MAX 16384 /* racks; others always count */
#define RACK_TURNS_FRESH_NS \
	(60 * RM_NS_PER_S) /* limit on the effect of clocks that differ */

struct rack_turns;

int rack_turns_new(struct rack_turns **ret);
void rack_turns_free(struct rack_turns *turns);

/* True: count this window of the rack. */
bool rack_turns_take(struct rack_turns *turns, const char *region, const char *tor,
    const char *aggregator, uint64_t start_wall_ns, uint64_t end_wall_ns,
    rm_mono_t now);

#endif
