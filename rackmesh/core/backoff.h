/*
 * backoff - capped exponential back-off with full jitter.
 *
 * Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015:
 * sleep = random_between(0, min(cap, base * 2^attempt)). Pure: the caller gives
 * the randomness.
 */
#ifndef RACKMESH_CORE_BACKOFF_H
#define RACKMESH_CORE_BACKOFF_H

#include <stdint.h>

struct rm_backoff {
	int64_t base_ns;
	int64_t cap_ns;
	unsigned attempt;
};

/* random: 64 uniformly distributed bits. The result is at most cap_ns. */
int64_t rm_backoff_next_ns(struct rm_backoff *backoff, uint64_t random);
void rm_backoff_reset(struct rm_backoff *backoff);

#endif
