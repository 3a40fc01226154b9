/*
 * noise - how often the real judges name a part because of noise alone.
 *
 * Only counts are simulated, of a rack or of the paths between racks. Even so, millions
 * of days cannot be simulated. So in most stretches one place loses more for some
 * seconds (importance sampling), and each stretch counts with the likelihood ratio of
 * its observations: their likelihood with noise alone, over that with the increased
 * losses. README.md has the formula.
 */
#ifndef TESTS_SIM_NOISE_H
#define TESTS_SIM_NOISE_H

#include <stdint.h>

#include "tests/sim/dice.h"

#define NOISE_STRETCH_S 300 /* of a stretch; judges remember two minutes */
#define NOISE_COUNTED_S 180 /* the last ones, in which openings count */

struct noise_worse {
	uint32_t place;
	uint32_t from_s, to_s;
	double loss; /* share lost at the place, not the noise's; 0: no place */
};

struct noise_subject { /* what is simulated: a rack, or the paths between racks */
	uint32_t places;
	double racks; /* number of racks that it represents */
	/* Simulates a stretch; returns the number of openings from counted_from_s on,
	 * or -ENOMEM. */
	int (*run)(void *arg, const struct noise_worse *worse, uint32_t counted_from_s,
	    struct dice *dice);
	/* *tried: number of packets in the last stretch whose path crosses the place,
	 * sent in [from_s, to_s); *lost: how many of them were lost, anywhere on the
	 * path. */
	void (*met)(const void *arg, uint32_t place, uint32_t from_s, uint32_t to_s,
	    uint64_t *tried, uint64_t *lost);
	void *arg;
};

struct noise_options {
	double loss; /* loss per packet and direction; as the subject was made with */
	uint32_t stretches;
	uint64_t seed;
	double plainly; /* share of the stretches with noise alone */
};

struct noise_found {
	uint64_t named; /* openings in what was counted, unweighted */
	double rate;    /* openings per rack and day, noise alone */
	double error;   /* its standard error */
	double largest; /* largest share of one stretch in the rate; near 1: too few
			   stretches */
	/* The mean of all weights: near 1, or the weights are wrong. */
	double mean_weight;
};

/* -ENOMEM. */
int noise_estimate(const struct noise_subject *subject,
    const struct noise_options *options, struct noise_found *ret);

#endif
