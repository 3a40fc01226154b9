/*
 * latency - made-up latencies of a healthy fabric, the same ones at every run.
 *
 * A body like a log-normal's around the given median, and one in a hundred far out in
 * the tail, as a busy host's wake-ups are.
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdint.h>

struct latency {
	uint64_t state; /* any seed but 0 */
};

uint64_t latency_random(struct latency *latency); /* 64 even bits */
uint32_t latency_next(struct latency *latency, uint32_t median_ns);

#endif
