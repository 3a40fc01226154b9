/*
 * noise - how often the real judgement names somebody for loss that is nobody's fault.
 *
 * Of a rack, or of what is between racks, only counts are made up. Millions of days of
 * that cannot be run through; so most of what is simulated is made worse than it is
 * (importance sampling): some place in it loses more for some seconds. Each such
 * stretch counts with the likelihood ratio of what was then seen: how likely it was
 * with noise alone, over how likely it was made. README.md has the arithmetic.
 */
#ifndef TESTS_SIM_NOISE_H
#define TESTS_SIM_NOISE_H

#include <stdint.h>

#include "tests/sim/dice.h"

#define NOISE_STRETCH_S 300 /* each; the judges' memory is two minutes */
#define NOISE_COUNTED_S 180 /* of them, the last ones */

struct noise_worse {
	uint32_t place;
	uint32_t from_s, to_s;
	double loss; /* of packets that meet the place, instead of the usual; 0: none */
};

struct noise_subject { /* what the noise is in */
	uint32_t places;
	double racks; /* that it stands for */
	/* A stretch from the beginning; returns how many openings there were from
	 * counted_from_s on, or -ENOMEM. */
	int (*run)(void *arg, const struct noise_worse *worse, uint32_t counted_from_s,
	    struct dice *dice);
	/* Packets of the last stretch that met the place in [from_s, to_s), and how
	 * many were lost. */
	void (*met)(const void *arg, uint32_t place, uint32_t from_s, uint32_t to_s,
	    uint64_t *tried, uint64_t *lost);
	void *arg;
};

struct noise_options {
	double loss; /* of every packet, each way: what the subject was made with */
	uint32_t stretches;
	uint64_t seed;
	double plainly; /* share of the stretches that is not made worse */
};

struct noise_found {
	uint64_t named; /* openings in what was counted, unweighted */
	double rate;    /* openings per rack and day, noise alone */
	double error;   /* its standard error */
	double
	    largest; /* share of the rate that one stretch makes up: 1 is no sample */
	/* The mean of all weights: 1 but for chance, or the weights are wrong. */
	double mean_weight;
};

/* -ENOMEM. */
int noise_estimate(const struct noise_subject *subject,
    const struct noise_options *options, struct noise_found *ret);

#endif
