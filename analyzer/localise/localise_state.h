/*
 * localise_state - what localise is made of. Private to localise*.c.
 */
#ifndef ANALYZER_LOCALISE_LOCALISE_STATE_H
#define ANALYZER_LOCALISE_LOCALISE_STATE_H

#include "analyzer/finding/localise_case.h"
#include "analyzer/localise/localise.h"
#include "analyzer/paths/localise_map.h"
#include "analyzer/suspicion/localise_standing.h"

struct localise {
	char region[RM_NAME_BYTES];
	struct localise_map map;
	struct localise_case recent, slow;
	struct localise_standings standings;
	struct rm_verdict *verdicts; /* LOCALISE_MAX_VERDICTS */
	rm_mono_t now, recent_judged, slow_judged;
	uint64_t slow_unexplained; /* lost, by the last slow judgement */
	bool reverse_due;    /* what became of replies has not been looked at lately */
	rm_mono_t first_row; /* ns 0: none yet */
	bool knows_wall;
	int64_t wall_ahead_ns; /* wall time - monotonic time, when last judged */
	struct localise_counts counts;
};

#endif
