/*
 * sender_clock - computes the age of another daemon's messages, from its monotonic
 * clock and ours. Pure.
 *
 * Wall clocks are not used. The lag of a message is our time of arrival minus the
 * sender's time. The least lag of the last one to two minutes is assumed to be that of
 * a message which did not wait. The age of a message is the amount by which its lag
 * exceeds the least lag. A lag that grows for good, because the sender's machine was
 * paused or a clock is slewed, becomes the new least lag within two minutes; until
 * then, messages count as old. While a backlog is sent, the lag falls again and again:
 * ages are valid only while it is steady, i.e. has not fallen for
 * SENDER_CLOCK_STEADY_NS of our time. A time before the newest one means that the
 * sender's machine was restarted: the clock begins anew. A struct of zeros has had no
 * message yet.
 */
#ifndef ANALYZER_INCIDENTS_SENDER_CLOCK_H
#define ANALYZER_INCIDENTS_SENDER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define SENDER_CLOCK_STEADY_NS (1 * RM_NS_PER_S)
/* the largest time that a sender may report */
#define SENDER_CLOCK_MAX_NS (INT64_MAX / 4)

struct sender_clock {
	bool known;
	uint64_t newest_ns; /* the newest time of the sender */
	int64_t least_ns;   /* the smaller of the next two lags */
	int64_t former_ns;  /* the least lag of the block (a minute) before this one */
	int64_t block_ns;   /* the least lag of this block, which began at `block` */
	rm_mono_t block;
	int64_t fell_to_ns; /* the least lag when it fell last */
	rm_mono_t fell;
};

/* Handles a message that has arrived now and that the sender finished at end_ns of its
 * clock. The messages of one clock arrive in the order in which they were made. False:
 * the sender's clock began anew, so times that came before cannot be compared with
 * later ones. */
bool sender_clock_note(struct sender_clock *clock, uint64_t end_ns, rm_mono_t now);
bool sender_clock_is_steady(const struct sender_clock *clock, rm_mono_t now);
/* Returns how long before now the sender's clock showed end_ns; at least 0. Valid only
 * after sender_clock_note. */
int64_t sender_clock_age(
    const struct sender_clock *clock, uint64_t end_ns, rm_mono_t now);

#endif
