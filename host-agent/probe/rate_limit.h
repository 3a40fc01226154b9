/*
 * rate_limit - the limit on sent packets and bytes per window.
 *
 * In any second at most the rate is sent, and in any 10 ms (the window) at most a
 * fiftieth of the rate; capacity that is not used is kept for one window. The rates per
 * host, per RNIC and per target are compiled in: no message and no option sets them.
 * Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_RATE_LIMIT_H
#define HOST_AGENT_PROBE_RATE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* These rates of one RNIC are above PROBER_MAX_RATE_PER_S, so that a prober can send
 * the late packets after a short stall. */
#define RATE_LIMIT_RNIC_PACKETS_PER_S 25000
#define RATE_LIMIT_RNIC_BYTES_PER_S 12500000 /* 100 Mb/s, with IP and UDP headers */
#define RATE_LIMIT_HOST_PACKETS_PER_S 60000
#define RATE_LIMIT_HOST_BYTES_PER_S 50000000
/* The limits for all probes to one address; the intervals of the pinglist are stretched
 * to keep them. */
#define RATE_LIMIT_TARGET_PACKETS_PER_S 10000
#define RATE_LIMIT_TARGET_BYTES_PER_S 6250000

#define RATE_LIMIT_WINDOW_NS (10 * RM_NS_PER_MS)
#define RATE_LIMIT_WINDOWS_PER_RATE 50 /* one window has at most rate / this */

/* Bytes of a packet besides its payload: the IPv6, UDP and RoCE headers. */
#define RATE_LIMIT_HEADER_BYTES 72
#define RATE_LIMIT_LARGEST_BYTES 9000 /* largest payload */

struct rate_limit_meter {
	/* the time at which all packets so far would have been sent, if they were sent
	 * at exactly the rate */
	rm_mono_t due;
	/* the part of `due` that comes from packets that were taken but not sent yet */
	int64_t taken_ns;
};

struct rate_limit { /* set up by rate_limit_init */
	uint64_t packets_per_s, bytes_per_s;
	struct rate_limit_meter packets, bytes;
};

void rate_limit_init(
    struct rate_limit *rate_limit, uint64_t packets_per_s, uint64_t bytes_per_s);

/* Returns the ns until one more packet of any size may be sent; 0: it may be sent
 * now. */
int64_t rate_limit_wait(const struct rate_limit *rate_limit, rm_mono_t now);

/* Counts a packet with a payload of bytes, which the caller will send now. */
void rate_limit_take(struct rate_limit *rate_limit, size_t bytes);

/* Reports that all taken packets have been sent, at the latest now: the call may have
 * taken long. */
void rate_limit_left(struct rate_limit *rate_limit, rm_mono_t now);

#endif
