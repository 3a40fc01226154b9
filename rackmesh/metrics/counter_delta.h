/*
 * counter_delta - how much a counter grew between two readings. Pure.
 *
 * Missing is not zero: a counter that is missing keeps its last value, and continues
 * from it when it is back. The first reading of a counter gives no delta.
 */
#ifndef RACKMESH_METRICS_COUNTER_DELTA_H
#define RACKMESH_METRICS_COUNTER_DELTA_H

#include <stdbool.h>
#include <stdint.h>

struct counter_sample {
	bool there;
	uint16_t source; /* which of its names it was read by; another name has another
			    count */
	uint64_t value;
};

enum counter_change {
	COUNTER_MISSING,
	COUNTER_VANISHED, /* it was there the last time */
	COUNTER_NEW,      /* for the first time, or from another source */
	COUNTER_COUNTED,
	COUNTER_WRAPPED,
	COUNTER_RESET, /* it began again at 0 */
};

struct counter_state {
	bool seen;  /* ever */
	bool there; /* in the last reading */
	bool back;  /* present, but missing in the reading before: its delta covers
		       several intervals */
	uint16_t source;
	uint8_t change; /* enum counter_change, of the last reading */
	uint64_t value; /* as last read */
	uint64_t total; /* the first value and all deltas since; of a gauge its value */
	uint64_t delta; /* of the last reading */
	uint32_t wraps, resets;
};

/* width: bits; 0: a gauge. same_device: the device and its driver are those of the last
 * reading, so that a small value may be a wrap. */
enum counter_change counter_take(struct counter_state *state,
    const struct counter_sample *sample, unsigned width, bool same_device);

#endif
