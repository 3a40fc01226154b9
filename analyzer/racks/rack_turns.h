/*
 * rack_turns - whose figures of a rack count, where two aggregators may tell of it.
 * Pure.
 *
 * One of the two tells, but when they take turns the windows of the one may overlap
 * those of the other, and a probe would count twice. A window of another aggregator
 * than the last that begins before that one's last has ended is not counted, while that
 * one was heard of lately.
 */
#ifndef ANALYZER_RACKS_RACK_TURNS_H
#define ANALYZER_RACKS_RACK_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RACK_TURNS_MAX 16384                   /* racks; others always count */
#define RACK_TURNS_FRESH_NS (60 * RM_NS_PER_S) /* clocks that differ cost no more */

struct rack_turns;

int rack_turns_new(struct rack_turns **ret);
void rack_turns_free(struct rack_turns *turns);

/* Does this window of the rack count? */
bool rack_turns_take(struct rack_turns *turns, const char *region, const char *tor,
    const char *aggregator, uint64_t start_wall_ns, uint64_t end_wall_ns,
    rm_mono_t now);

#endif
