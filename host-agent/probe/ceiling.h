/*
 * ceiling - the limit on sent packets and bytes per window.
 *
 * In any second at most the rate, in any 10 ms at most a fiftieth of it; unused
 * capacity is not saved for longer than that. No message or option sets the rates:
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
/* Limit on all probes to one address; intervals of the pinglist are stretched to keep
 * it. */
#define CEILING_TARGET_PACKETS_PER_S 10000
#define CEILING_TARGET_BYTES_PER_S 6250000

#define CEILING_WINDOW_NS (10 * RM_NS_PER_MS)
#define CEILING_WINDOWS_PER_RATE 50 /* rate / this: the most in one window */

/* Of a packet, besides its payload: IPv6, UDP and what RoCE adds. */
#define CEILING_HEADER_BYTES 72
#define CEILING_LARGEST_BYTES 9000 /* payload */

struct ceiling_meter {
	rm_mono_t
	    due; /* when everything sent so far would have been sent at this rate */
	int64_t taken_ns; /* the share of it for packets taken and not sent yet */
};

struct ceiling { /* by ceiling_init */
	uint64_t packets_per_s, bytes_per_s;
	struct ceiling_meter packets, bytes;
};

void ceiling_init(
    struct ceiling *ceiling, uint64_t packets_per_s, uint64_t bytes_per_s);

/* ns until one more packet of any size may be sent; 0: now. */
int64_t ceiling_wait(const struct ceiling *ceiling, rm_mono_t now);

/* A packet with this payload will be sent now. */
void ceiling_take(struct ceiling *ceiling, size_t bytes);

/* All taken packets were sent by now, possibly just now: the kernel may have delayed
 * the calls. */
void ceiling_left(struct ceiling *ceiling, rm_mono_t now);

#endif
