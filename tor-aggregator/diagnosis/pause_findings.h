/*
 * pause_findings - keeps the findings of the pause graph that stand, with their start
 * times. Pure.
 *
 * Switches are read at different times, some seconds apart. Therefore a finding stands
 * only after each judgement has found it for hold_ns. It ends when it was not found for
 * PAUSE_QUIET_NS; until then the finding of the last judgement that found it is kept.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PAUSE_FINDINGS_H
#define TOR_AGGREGATOR_DIAGNOSIS_PAUSE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/diagnosis/pause_graph.h"

/* The caller's hold_ns is this, plus the longest interval between two readings. */
#define PAUSE_HOLD_NS (10 * RM_NS_PER_S)
#define PAUSE_QUIET_NS (30 * RM_NS_PER_S)
#define PAUSE_MAX_KEPT (2 * PAUSE_MAX_FINDINGS)

struct pause_standing {
	struct pause_finding finding;
	bool stands;
	rm_mono_t first, last; /* times when it was found */
	rm_wall_t since;       /* wall-clock time of first */
};

struct pause_findings {
	struct pause_standing kept[PAUSE_MAX_KEPT];
	size_t count;
	uint64_t left_out; /* number of findings so far for which there was no room */
};

/* Adds the findings of a judgement. */
void pause_findings_take(struct pause_findings *findings,
    const struct pause_finding *found, size_t count, int64_t hold_ns, rm_mono_t now,
    rm_wall_t wall);

#endif
