/*
 * blind_state - the structs of blind. Private to blind.c and blind_judge.c.
 */
#ifndef ANALYZER_BLIND_BLIND_STATE_H
#define ANALYZER_BLIND_BLIND_STATE_H

#include <uthash.h>

#include "analyzer/blind/blind.h"

#define BLIND_KEY_BYTES (2 * RM_NAME_BYTES)
#define BLIND_SOURCES 4 /* aggregators of one rack */

struct blind_aggregator {
	char key[BLIND_KEY_BYTES]; /* region, a blank, name */
	char region[RM_NAME_BYTES], name[RM_NAME_BYTES];
	bool connected;
	int64_t row_interval_ns;
	/* time of the last message, or of the start of the entry */
	rm_mono_t last_seen;
	rm_mono_t since; /* start of its present or last connection */
	/* last time at which it was connected and its messages were not read */
	rm_mono_t unread;
	int64_t ends_s; /* when its certificate expires; 0: not soon */
	char controller[RM_NAME_BYTES];
	/* when its controller's certificate expires; 0: not soon */
	int64_t controller_ends_s;
	UT_hash_handle hh;
};

struct blind_source { /* the report of one aggregator on a rack */
	struct blind_aggregator *aggregator;
	struct wire_rack_state state;
	bool has_state; /* the aggregator has reported the rack since it connected */
	/* since empty_since the aggregator has reported that it has no agent of the
	 * rack */
	bool is_empty;
	rm_mono_t empty_since;
	int64_t lag_ns;    /* lag of the last summary */
	unsigned odd_lags; /* consecutive large lags, each equal to the one before */
	rm_mono_t reported_at; /* when the aggregator reported the state */
};

struct blind_rack {
	char key[BLIND_KEY_BYTES];
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	struct blind_source sources[BLIND_SOURCES];
	size_t source_count;
	UT_hash_handle hh;
};

struct blind {
	struct blind_options options;
	rm_mono_t started, stalled;
	struct blind_aggregator *aggregators;
	struct blind_rack *racks;
	char analyzer[RM_NAME_BYTES];
	int64_t own_ends_s;
	struct rm_verdict *verdicts;
	size_t verdict_count, verdict_size;
};

bool blind_is_silent(
    const struct blind *blind, const struct blind_aggregator *a, rm_mono_t now);
/* True: the aggregator has reported the rack recently, which a standby does not do. */
bool blind_is_current(
    const struct blind *blind, const struct blind_source *source, rm_mono_t now);
/* The first connected aggregator which reports that this controller's certificate
 * expires soon, or NULL. */
const struct blind_aggregator *blind_reports_ending(
    const struct blind *blind, const char *controller, rm_mono_t now);
void blind_forget(struct blind *blind, struct blind_aggregator *aggregator);

struct blind_rack *blind_find_rack(
    const struct blind *blind, const char *region, const char *tor);

#endif
