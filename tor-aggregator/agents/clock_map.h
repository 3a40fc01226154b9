/*
 * clock_map - converts times of an agent's monotonic clock to times of this
 * aggregator's clock. Pure.
 *
 * A message is never received before it was sent, so (our time - their time) is the
 * offset between the clocks plus a delay of at least 0. Therefore the minimum over many
 * messages is the best estimate of the offset. Only the last one to two minutes count,
 * because two clocks drift apart by up to 100 us per second. If all messages of a short
 * period seem much too late, the agent's clock was stopped, because its host was
 * suspended; then the offset is corrected. Call clock_map_reset for a new session: the
 * host may have been rebooted.
 */
#ifndef TOR_AGGREGATOR_AGENTS_CLOCK_MAP_H
#define TOR_AGGREGATOR_AGENTS_CLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define CLOCK_MAP_PERIOD_NS (60 * RM_NS_PER_S)

struct clock_map { /* initially all zero */
	bool known;
	rm_mono_t since; /* start of the current period */
	/* smallest offset in the current period and in the one before */
	int64_t current_ns, previous_ns;
	/* the same for a shorter period, in which jumps of the clock are found */
	rm_mono_t while_since;
	int64_t while_ns;
	unsigned while_samples;
};

void clock_map_reset(struct clock_map *map);

/* Adds a message. theirs: when it was sent, in ns of the agent's clock; ours: when it
 * arrived. -ERANGE: theirs is above INT64_MAX, and the sample is ignored. */
int clock_map_sample(struct clock_map *map, uint64_t theirs, rm_mono_t ours);

/* Converts the agent's time theirs, in ns. *ret is limited to 73 years, so that
 * differences of such times cannot overflow. False: there was no sample yet, or theirs
 * is above INT64_MAX. */
bool clock_map_ours(const struct clock_map *map, uint64_t theirs, rm_mono_t *ret);

#endif
