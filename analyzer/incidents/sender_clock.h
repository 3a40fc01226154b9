/*
 * sender_clock - how old the messages of another daemon are, by its monotonic clock and
 * ours. Pure.
 *
 * No wall clock is needed, of either machine: the least lag of the last one to two
 * minutes is that of a message which did not wait. A lag that grows for good, because
 * the sender's machine was paused or a clock is slewed, is therefore learnt in two
 * minutes; a backlog is taken for old for as long. A backlog makes the lag fall again
 * and again, so ages hold only while the lag is steady: it has not fallen for
 * SENDER_CLOCK_STEADY_NS of our time. One clock is for one life of the daemon; zeroed,
 * it knows nothing.
 */
#ifndef ANALYZER_INCIDENTS_SENDER_CLOCK_H
#define ANALYZER_INCIDENTS_SENDER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define SENDER_CLOCK_STEADY_NS (1 * RM_NS_PER_S)
#define SENDER_CLOCK_MAX_NS (INT64_MAX / 4) /* the largest time of a sender */

struct sender_clock {
	bool known;
	int64_t least_ns;  /* our time minus the sender's, the least of these two: */
	int64_t former_ns; /* the least of the block before this one */
	int64_t block_ns;  /* the least since `block` */
	rm_mono_t block;
	int64_t fell_to_ns; /* the least lag when it fell last */
	rm_mono_t fell;
};

/* A message arrived now that the sender finished at end_ns of its clock. */
void sender_clock_note(struct sender_clock *clock, uint64_t end_ns, rm_mono_t now);
bool sender_clock_is_steady(const struct sender_clock *clock, rm_mono_t now);
/* At least 0. Only where a message was noted. */
int64_t sender_clock_age(
    const struct sender_clock *clock, uint64_t end_ns, rm_mono_t now);

#endif
