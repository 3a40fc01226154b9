#include "tests/bench/latency.h"

#include <math.h>

#define SPREAD 0.25 /* width of the logarithm */
#define TAIL_PER_MILLE 10
#define TAIL_SPREAD 1.0

/* xorshift64*, by Vigna. */
uint64_t
latency_random(struct latency *latency)
{
	latency->state ^= latency->state >> 12;
	latency->state ^= latency->state << 25;
	latency->state ^= latency->state >> 27;
	return latency->state * UINT64_C(2685821657736338717);
}

/* Nearly normal: the sum of four uniform numbers, with deviation 1. */
static double
latency_normal(struct latency *latency)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (double)(latency_random(latency) >> 11) / 9007199254740992.0;
	return (sum - 2) * sqrt(3);
}

uint32_t
latency_next(struct latency *latency, uint32_t median_ns)
{
	double value = median_ns * exp(SPREAD * latency_normal(latency));

	if (latency_random(latency) % 1000 < TAIL_PER_MILLE)
		value *= 3 * exp(TAIL_SPREAD * fabs(latency_normal(latency)));
	return (uint32_t)value;
}
