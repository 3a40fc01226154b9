/*
 * fate_state - what fate.c and fate_places.c share; nobody else's business.
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
	struct dice dice;
	uint32_t *first; /* by part: of its faults in `at`; one more than parts */
	uint32_t *at;
	struct fate_move moves[FATE_MAX_MOVES];
	size_t move_count;
	int64_t advanced_ns;
	uint32_t epoch;
	uint64_t salt;
	double loss, tail, tail_ns, spray;
	double rtt_ns;
};

/* Which faults are where. -ENOMEM. */
int fate_index(struct fate *fate, size_t count);
/* When routing avoids which cables: because of faults, and as it likes. */
void fate_plan_moves(
    struct fate *fate, size_t faults, const struct scenario_draw *draw);

#endif
