/*
 * flock_set - many cases of the Flock experiment: all drop rates, and faulty devices.
 */
#ifndef TESTS_SIM_FLOCK_SET_H
#define TESTS_SIM_FLOCK_SET_H

#include "tests/sim/flock_setup.h"
#include "tests/sim/tune.h"

#define FLOCK_TEST_SEEDS 32 /* of each rate */
#define FLOCK_DEVELOPMENT_SEEDS 8
#define FLOCK_FAULTS 2 /* of each seed */

struct flock_set;

/* packets: of each flow. test: uses even seeds; otherwise odd ones. -ENOMEM. */
int flock_set_new(
    enum flock_probes probes, uint32_t packets, bool test, struct flock_set **ret);
void flock_set_free(struct flock_set *set);
double flock_set_packets(
    const struct flock_set *set); /* Returns the average number of packets of a link. */

struct flock_result {
	struct score_row links[FLOCK_RATES], directed[FLOCK_RATES], devices;
	/* for links: the means over the drop rates, and the F1 of these means */
	double precision, recall, f1;
};

int flock_set_judge(const struct flock_set *set, const struct scheme_type *type,
    const double *values, struct flock_result *ret);
/* This is a tune_try_fn; arg: struct flock_sets, all of the same weight. */
#define FLOCK_MAX_SETS 2
struct flock_sets {
	struct flock_set *sets[FLOCK_MAX_SETS];
	size_t count;
};
int flock_sets_try(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark);

#endif
