/*
 * rate_limit - the limit on sent packets and bytes per window.
 *
 * In any second at most the rate, in any 10 ms at most a fiftieth of it; unused
 * capacity is kept for one window only. No message or option sets the rates: the rates
 * per host and per RNIC are compiled in. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_RATE_LIMIT_H
#define HOST_AGENT_PROBE_RATE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* More than PROBER_MAX_RATE_PER_S, so that a prober can send late packets after a
 * short stall. */
#define RATE_LIMIT_RNIC_PACKETS_PER_S 25000
#define RATE_LIMIT_RNIC_BYTES_PER_S 12500000 /* with IP and UDP headers: 100 Mb/s */
#define RATE_LIMIT_HOST_PACKETS_PER_S 60000
#define RATE_LIMIT_HOST_BYTES_PER_S 50000000
/* Limit on all probes to one address; intervals of the pinglist are stretched to keep
 * it. */
#define RATE_LIMIT_TARGET_PACKETS_PER_S 10000
#define RATE_LIMIT_TARGET_BYTES_PER_S 6250000

#define RATE_LIMIT_WINDOW_NS (10 * RM_NS_PER_MS)
#define RATE_LIMIT_WINDOWS_PER_RATE 50 /* rate / this: the most in one window */

/* Of a packet, besides its payload: IPv6, UDP and the RoCE headers. */
#define RATE_LIMIT_HEADER_BYTES 72
#define RATE_LIMIT_LARGEST_BYTES 9000 /* payload */

struct rate_limit_meter {
	rm_mono_t
	    due; /* when everything sent so far would have been sent at this rate */
	int64_t taken_ns; /* the part of due for packets taken and not sent yet */
};

struct rate_limit { /* by rate_limit_init */
	uint64_t packets_per_s, bytes_per_s;
	struct rate_limit_meter packets, bytes;
};

void rate_limit_init(
    struct rate_limit *rate_limit, uint64_t packets_per_s, uint64_t bytes_per_s);

/* ns until one more packet of any size may be sent; 0: now. */
int64_t rate_limit_wait(const struct rate_limit *rate_limit, rm_mono_t now);

/* The caller will now send a packet with this payload. */
void rate_limit_take(struct rate_limit *rate_limit, size_t bytes);

/* All taken packets were sent by now, possibly just now: the kernel may have delayed
 * the calls. */
void rate_limit_left(struct rate_limit *rate_limit, rm_mono_t now);

#endif
