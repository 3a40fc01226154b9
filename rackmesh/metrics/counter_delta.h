/*
 * counter_delta - the increase of a counter between two readings. Pure.
 *
 * A counter that is missing in a reading keeps its last value, and continues from it
 * when it is back: missing does not mean 0. The first reading of a counter gives no
 * delta.
 */
#ifndef RACKMESH_METRICS_COUNTER_DELTA_H
#define RACKMESH_METRICS_COUNTER_DELTA_H

#include <stdbool.h>
#include <stdint.h>

struct counter_sample {
	bool there;
	/* number of the source that was read; values of different sources are not
	 * compared */
	uint16_t source;
	uint64_t value;
};

enum counter_change {
	COUNTER_MISSING,
	COUNTER_VANISHED, /* it was in the last reading, and is missing in this one */
	COUNTER_NEW,      /* its first value, or the first one from this source */
	COUNTER_COUNTED,
	COUNTER_WRAPPED,
	COUNTER_RESET, /* it has started again at 0 */
};

struct counter_state {
	bool seen;  /* it was in some reading */
	bool there; /* it is in the last reading */
	/* it is in this reading and was missing in the one before: its delta covers
	 * several intervals */
	bool back;
	uint16_t source;
	uint8_t change; /* enum counter_change of the last reading */
	uint64_t value; /* as last read */
	/* the first value plus all deltas since; for a gauge, its value */
	uint64_t total;
	/* delta of the last reading; for a gauge, its value in the reading before */
	uint64_t delta;
	uint32_t wraps, resets;
};

/* width: bits of the counter; 0: a gauge. same_device: device and driver are those of
 * the last reading, so a smaller value may come from a wrap. */
enum counter_change counter_take(struct counter_state *state,
    const struct counter_sample *sample, unsigned width, bool same_device);

#endif
