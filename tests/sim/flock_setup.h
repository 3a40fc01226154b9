/*
 * flock_setup - the experiment of the Flock paper at the level of flows, for fabrics of
 * any size.
 *
 * A k-ary fat tree, one observation of 120 s, with links or a switch at fault from its
 * beginning. Good links lose between 0 and 1e-4 of their packets, each link another
 * share. There are active probes only: every host bounces packets off every core, with
 * the same path there and back (Flock's "A1"), or the RNICs probe each other over ECMP
 * as in Rackmesh, evenly or skewed (half of all ends are in a twentieth of the racks).
 * Counts are drawn, not packets.
 *
 * The paper does not have these details, which we chose: 30 packets per bounce, which
 * gives the paper's recall; the losses of a failed switch's links, drawn from the same
 * six rates; faulty links are between switches. The paper used ns-3 with queues.
 */
#ifndef TESTS_SIM_FLOCK_SETUP_H
#define TESTS_SIM_FLOCK_SETUP_H

#include "tests/sim/score.h"

#define FLOCK_RATES 6
extern const double flock_rates[FLOCK_RATES]; /* 0.2 to 1.8 % */

enum flock_probes { FLOCK_BOUNCED, FLOCK_ALIKE, FLOCK_SKEWED };

struct flock_options {
	uint32_t k;
	enum flock_probes probes;
	/* number of flows of a host; not used with FLOCK_BOUNCED, where a host has one
	 * flow for each core switch */
	uint32_t flows;
	uint32_t packets; /* of a flow, in 120 s */
	/* number of directed links at fault; 0: one switch is at fault, with 25 to 100
	 * % of its cables */
	uint32_t faults;
	double loss; /* 0: each link gets one of the six rates */
	uint64_t seed;
};

struct flock_case;

int flock_case_new(const struct flock_options *options, struct flock_case **ret);
void flock_case_free(struct flock_case *c);
const struct clos *flock_case_clos(const struct flock_case *c);
/* Returns how many packets a directed link between switches carried, on average. */
double flock_case_packets(const struct flock_case *c);
/* Judges one case: the scheme gets the whole observation, and its result is read once.
 */
int flock_case_judge(const struct flock_case *c, const struct scheme_type *type,
    const double *values, struct score *score);

#endif
