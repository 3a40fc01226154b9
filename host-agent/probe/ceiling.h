/*
 * ceiling - how much may leave at most, in packets and in bytes, in every window.
 *
 * In any second no more than the rate, in any 10 ms no more than a fiftieth of it: what
 * was not used is not saved up for longer than that. Nothing from outside sets a rate:
 * those of a host and of an RNIC are compiled in. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_CEILING_H
#define HOST_AGENT_PROBE_CEILING_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* Above PROBER_MAX_RATE_PER_S, which is a pace: a short stall is made up. */
#define CEILING_RNIC_PACKETS_PER_S 25000
#define CEILING_RNIC_BYTES_PER_S 12500000 /* with IP and UDP headers: 100 Mb/s */
#define CEILING_HOST_PACKETS_PER_S 60000
#define CEILING_HOST_BYTES_PER_S 50000000
/* Of all that goes to one address; what the pinglist asks for is stretched to it. */
#define CEILING_TARGET_PACKETS_PER_S 10000
#define CEILING_TARGET_BYTES_PER_S 6250000

#define CEILING_WINDOW_NS (10 * RM_NS_PER_MS)
#define CEILING_WINDOWS_PER_RATE 50 /* rate / this: the most in one window */

/* Of a packet, besides its payload: IPv6, UDP and what RoCE adds. */
#define CEILING_HEADER_BYTES 72
#define CEILING_LARGEST_BYTES 9000 /* payload */

struct ceiling_meter {
	rm_mono_t due;    /* by when what has left would have, at the rate */
	int64_t taken_ns; /* what was taken and has not left yet costs so much of it */
};

struct ceiling { /* by ceiling_init */
	uint64_t packets_per_s, bytes_per_s;
	struct ceiling_meter packets, bytes;
};

void ceiling_init(
    struct ceiling *ceiling, uint64_t packets_per_s, uint64_t bytes_per_s);

/* ns until one more packet, of whatever size, may leave; 0: now. */
int64_t ceiling_wait(const struct ceiling *ceiling, rm_mono_t now);

/* One with so much payload is about to leave. */
void ceiling_take(struct ceiling *ceiling, size_t bytes);

/* All that was taken has left by now, and maybe only now: the kernel may have held us
 * up in between. */
void ceiling_left(struct ceiling *ceiling, rm_mono_t now);

#endif
