/*
 * blind_state - what blind is made of. Private to blind.c and blind_judge.c.
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
	rm_mono_t last_seen; /* last, or when it was first named */
	rm_mono_t since;     /* it has been connected, now or last */
	rm_mono_t unread;    /* last when it was there, but not listened to */
	int64_t ends_s;      /* its certificate, soon; 0: not soon */
	char controller[RM_NAME_BYTES];
	int64_t controller_ends_s; /* that one's */
	UT_hash_handle hh;
};

struct blind_source { /* a rack as one aggregator sees it */
	struct blind_aggregator *aggregator;
	struct wire_rack_state state;
	bool has_state; /* since it has been connected */
	bool is_empty;  /* it saw nobody, all the time since then */
	rm_mono_t empty_since;
	int64_t lag_ns;        /* of the last summary */
	unsigned odd_lags;     /* in a row: large, and like the one before */
	rm_mono_t reported_at; /* that state */
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
/* It has told of the rack lately: one that stands by does not. */
bool blind_is_current(
    const struct blind *blind, const struct blind_source *source, rm_mono_t now);
/* Of aggregators that are heard: the first to say that this controller's certificate
 * ends soon, or NULL. */
const struct blind_aggregator *blind_says_ending(
    const struct blind *blind, const char *controller, rm_mono_t now);
void blind_forget(struct blind *blind, struct blind_aggregator *aggregator);

struct blind_rack *blind_find_rack(
    const struct blind *blind, const char *region, const char *tor);

#endif
