/*
 * rack_steady - decides whether an RNIC loses packets all the time, or by chance. Pure.
 *
 * It counts the seconds in which the RNIC lost packets, so that a burst of losses
 * counts as one second, however many packets are lost. Without a fault a second with N
 * round trips has losses with a probability of at most
 *
 * q = 1 - (1 - RACK_STEADY_BASE)^N + RACK_STEADY_BURSTS
 *
 * (RACK_STEADY_BASE: 1e-4 in each direction, and a margin of one half;
 * RACK_STEADY_BURSTS: 18 bursts an hour at each RNIC). The probability that k or more
 * of n seconds have losses is at most e^-w, where
 *
 * w = n (k/n ln(k/nq) + (1 - k/n) ln((1 - k/n) / (1 - q))),
 *
 * and q is the mean over the n seconds (Chernoff: "A Measure of Asymptotic Efficiency
 * for Tests of a Hypothesis Based on the Sum of Observations", 1952; for probabilities
 * that differ Hoeffding: "Probability Inequalities for Sums of Bounded Random
 * Variables", 1963, theorem 1). A rack of M RNICs is tested in six windows a second: in
 * D rack-days at most 86400 * 6 * M * D * e^-w RNICs are expected to be named wrongly.
 * For w = RACK_STEADY_SURE and D = 300,000 that is 5.8e-4 with M = 16, and 9.2e-3 with
 * M = 256. The true number is lower, because the joint explanation of the window must
 * also name the RNIC.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_STEADY_H
#define TOR_AGGREGATOR_LASTING_RACK_STEADY_H

#include <stdint.h>

#define RACK_STEADY_BASE 3e-4   /* share of round trips lost without a fault */
#define RACK_STEADY_BURSTS 5e-3 /* share of seconds with a burst */
#define RACK_STEADY_SURE 36.0
/* Values of rack_steady_over from which on a loss counts as over: RACK_STEADY_OVER for
 * a loss that took long to find, RACK_STEADY_OVER_SOON for a loss that would be found
 * again soon. */
#define RACK_STEADY_OVER 8.0
#define RACK_STEADY_OVER_SOON 5.5

/* Returns the probability q for one second, by its number of round trips. */
double rack_steady_expected(uint32_t round_trips);

/* Returns the weight w, if `lossy` (k) of `seconds` (n) had losses. expected: the sum
 * of q over all seconds. 0: there are no more losses than expected. */
double rack_steady_weight(unsigned seconds, unsigned lossy, double expected);

/* Returns the ln of the likelihood ratio of "the loss is over" to "the loss continues",
 * never below 0 (Page: "Continuous Inspection Schemes", 1954). before: the value after
 * the previous second; share: share of round trips that the loss takes; sent, lost: the
 * round trips of the new second. */
double rack_steady_over(double before, double share, uint32_t sent, uint32_t lost);

#endif
