/*
 * dice - the random numbers of the simulator: computed from a seed, and equal on every
 * machine.
 *
 * splitmix64. A module whose sequence must not depend on how many numbers other modules
 * draw has its own dice, made by dice_of from the seed and a number.
 */
#ifndef TESTS_SIM_DICE_H
#define TESTS_SIM_DICE_H

#include <math.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

static inline uint64_t
dice_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline struct dice
dice_of(uint64_t seed, uint64_t number)
{
	return (struct dice){ dice_mix(
	    seed + dice_mix(number + UINT64_C(0x9e3779b97f4a7c15))) };
}

static inline uint64_t
dice_next(struct dice *dice)
{
	return dice_mix(dice->state += UINT64_C(0x9e3779b97f4a7c15));
}

static inline double /* in [0, 1) */
dice_share(struct dice *dice)
{
	return (double)(dice_next(dice) >> 11) * 0x1p-53;
}

static inline uint64_t
dice_below(struct dice *dice, uint64_t limit)
{
	return dice_next(dice) % limit;
}

/* Returns an exponentially distributed number with this mean. */
static inline double
dice_exponential(struct dice *dice, double mean)
{
	return -log(1 - dice_share(dice)) * mean;
}

#endif
