/*
 * latency - made-up latencies of a healthy fabric, the same in each run.
 *
 * The body is nearly log-normal around the given median; one in a hundred is far out in
 * the tail, like the wake-ups of a busy host.
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdint.h>

struct latency {
	uint64_t state; /* any seed but 0 */
};

uint64_t latency_random(struct latency *latency); /* 64 uniform bits */
uint32_t latency_next(struct latency *latency, uint32_t median_ns);

#endif
