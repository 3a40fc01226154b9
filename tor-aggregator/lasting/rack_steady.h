/*
 * rack_steady - decides whether an RNIC loses packets all the time, or by chance. Pure.
 *
 * It counts the seconds in which the RNIC lost packets: a burst, or the edge of a
 * stall, counts as one second, however much it loses. Without a fault a second with N
 * round trips has losses with a probability of at most
 *
 * q = 1 - (1 - RACK_STEADY_BASE)^N + RACK_STEADY_BURSTS
 *
 * (1e-4 each way, and a half more; 18 bursts an hour of each RNIC). Of n seconds k have
 * losses with a probability of at most e^-w, where
 *
 * w = n (k/n ln(k/nq) + (1 - k/n) ln((1 - k/n) / (1 - q))),
 *
 * and q is the mean of theirs (Chernoff: "A Measure of Asymptotic Efficiency for Tests
 * of a Hypothesis Based on the Sum of Observations", 1952; for probabilities that
 * differ Hoeffding: "Probability Inequalities for Sums of Bounded Random Variables",
 * 1963, theorem 1). A rack of M RNICs is tested in six windows a second: in D rack-days
 * at most 86400 * 6 * M * D * e^-w wrong names are expected. With w = RACK_STEADY_SURE,
 * M = 16 and D = 300,000 that is 5.8e-4, with M = 256 it is 9.2e-3; that the joint
 * explanation must blame it, too, makes it even rarer.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_STEADY_H
#define TOR_AGGREGATOR_LASTING_RACK_STEADY_H

#include <stdint.h>

#define RACK_STEADY_BASE 3e-4   /* share of round trips lost without a fault */
#define RACK_STEADY_BURSTS 5e-3 /* share of seconds with a burst */
#define RACK_STEADY_SURE 36.0
/* The ln of the likelihood ratio at which a loss counts as over: for a loss that
 * took long to find, and for one that would soon be found again. */
#define RACK_STEADY_OVER 8.0
#define RACK_STEADY_OVER_SOON 5.5

/* q of one second. */
double rack_steady_expected(uint32_t round_trips);

/* w. expected: the sum of q over all the seconds. 0: no more than expected. */
double rack_steady_weight(unsigned seconds, unsigned lossy, double expected);

/* The ln of the likelihood that a loss of this share is over against that it
 * continues, after one more second; never below 0 (Page: "Continuous Inspection
 * Schemes", 1954). */
double rack_steady_over(double before, double share, uint32_t sent, uint32_t lost);

#endif
