/*
 * noise - how often the real judges name a part because of noise alone.
 *
 * Only counts are simulated: those of a rack, or of the paths between racks. Even so,
 * millions of days cannot be simulated. So in most stretches one place loses more for
 * some seconds (importance sampling), and each stretch counts with the likelihood ratio
 * of its observations: their likelihood with noise alone, over that with the increased
 * losses. README.md has the formula.
 */
#ifndef TESTS_SIM_NOISE_H
#define TESTS_SIM_NOISE_H

#include <stdint.h>

#include "tests/sim/dice.h"

/* seconds of a stretch; judges use the counts of two minutes */
#define NOISE_STRETCH_S 300
/* openings count if they are in these last seconds of a stretch */
#define NOISE_COUNTED_S 180

struct noise_worse {
	uint32_t place;
	uint32_t from_s, to_s;
	/* share that is lost at the place, in addition to noise; 0: at no place */
	double loss;
};

struct noise_subject { /* what is simulated: a rack, or the paths between racks */
	uint32_t places;
	double racks; /* number of racks for which the simulated counts stand */
	/* Simulates a stretch; returns the number of openings from counted_from_s on,
	 * or -ENOMEM. */
	int (*run)(void *arg, const struct noise_worse *worse, uint32_t counted_from_s,
	    struct dice *dice);
	/* *tried: number of packets in the last stretch that were sent in [from_s,
	 * to_s) and whose path crosses the place; *lost: how many of these were lost,
	 * anywhere on the path. */
	void (*met)(const void *arg, uint32_t place, uint32_t from_s, uint32_t to_s,
	    uint64_t *tried, uint64_t *lost);
	void *arg;
};

struct noise_options {
	/* loss per packet and direction; the same value with which the subject was made
	 */
	double loss;
	uint32_t stretches;
	uint64_t seed;
	double plainly; /* share of the stretches that have noise alone */
};

struct noise_found {
	uint64_t named; /* number of openings that count, each with weight 1 */
	double rate;    /* openings per rack and day that noise alone causes */
	double error;   /* its standard error */
	/* largest share of one stretch in the rate; if it is near 1, there are too few
	 * stretches */
	double largest;
	/* The mean of all weights. If it is not near 1, the weights are wrong. */
	double mean_weight;
};

/* -ENOMEM. */
int noise_estimate(const struct noise_subject *subject,
    const struct noise_options *options, struct noise_found *ret);

#endif
