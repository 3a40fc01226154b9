/*
 * pause_findings - which findings of the pause graph stand, and since when. Pure.
 *
 * Switches are read at different times, some seconds apart, so a finding stands only
 * once it was found at each judgement for as long as hold_ns, until it was not found
 * for PAUSE_QUIET_NS. For a standing finding the last judgement in which it was found
 * is kept.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PAUSE_FINDINGS_H
#define TOR_AGGREGATOR_DIAGNOSIS_PAUSE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/diagnosis/pause_graph.h"

/* And the longest interval of the readings. */
#define PAUSE_HOLD_NS (10 * RM_NS_PER_S)
#define PAUSE_QUIET_NS (30 * RM_NS_PER_S)
#define PAUSE_MAX_KEPT (2 * PAUSE_MAX_FINDINGS)

struct pause_standing {
	struct pause_finding finding;
	bool stands;
	rm_mono_t first, last; /* times when it was found */
	rm_wall_t since;       /* of first */
};

struct pause_findings {
	struct pause_standing kept[PAUSE_MAX_KEPT];
	size_t count;
	uint64_t left_out; /* because there was no room, so far */
};

/* Takes the results of a judgement. */
void pause_findings_take(struct pause_findings *findings,
    const struct pause_finding *found, size_t count, int64_t hold_ns, rm_mono_t now,
    rm_wall_t wall);

#endif
