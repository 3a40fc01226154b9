/*
 * clock_map - maps an agent's monotonic clock to this aggregator's. Pure.
 *
 * A message is never received before it was sent, so (ours - theirs) is the offset of
 * the clocks plus a delay that is never negative: the minimum over many messages is the
 * best estimate. Only the last one to two minutes count, because two clocks drift apart
 * by up to 100 us a second. When all messages of a short period seem much too late, the
 * agent's clock stood still, because its host was suspended, and the map is corrected.
 * A new session starts anew: its host may have been rebooted.
 */
#ifndef TOR_AGGREGATOR_AGENTS_CLOCK_MAP_H
#define TOR_AGGREGATOR_AGENTS_CLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define CLOCK_MAP_PERIOD_NS (60 * RM_NS_PER_S)

struct clock_map { /* all zero initially */
	bool known;
	rm_mono_t since;                 /* start of the current period */
	int64_t current_ns, previous_ns; /* smallest offset of each period */
	rm_mono_t while_since; /* the same for a shorter period, to notice a jump */
	int64_t while_ns;
	unsigned while_samples;
};

void clock_map_reset(struct clock_map *map);

/* theirs: beyond INT64_MAX the sample is refused, -ERANGE. */
int clock_map_sample(struct clock_map *map, uint64_t theirs, rm_mono_t ours);

/* False until there was a sample. Clocks are mapped only far from where differences
 * would wrap. */
bool clock_map_ours(const struct clock_map *map, uint64_t theirs, rm_mono_t *ret);

#endif
