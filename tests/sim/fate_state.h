/*
 * fate_state - shared by fate.c and fate_places.c; private to them.
 */
#ifndef TESTS_SIM_FATE_STATE_H
#define TESTS_SIM_FATE_STATE_H

#include "tests/sim/fate.h"

#define FATE_MAX_MOVES 4096

struct fate_move { /* a cable that routing avoids for a while */
	uint32_t link;
	int64_t from_ns, to_ns;
};

struct fate {
	struct clos *clos;
	const struct fault *faults;
	struct dice dice, dice_apart;
	/* for each part: index in `at` at which its faults begin; there is one more
	 * entry than parts */
	uint32_t *first;
	uint32_t *at;
	struct fate_move moves[FATE_MAX_MOVES];
	size_t move_count;
	int64_t advanced_ns;
	uint32_t epoch;
	uint64_t salt;
	double loss, tail, tail_ns, spray;
	double rtt_ns;
};

/* Fills the lists of faults by part. -ENOMEM. */
int fate_index(struct fate *fate, size_t count);
/* Computes when routing avoids which cables: after faults, and at random. */
void fate_plan_moves(
    struct fate *fate, size_t faults, const struct scenario_draw *draw);

#endif
