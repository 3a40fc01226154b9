/*
 * verbs_ah_state - shared by the source files of verbs_ah: handles by key, and their
 * targets.
 *
 * verbs_ah_get returns handles of the table. Handles outside the table are being made
 * or destroyed: replacements, and handles that were replaced while a caller still uses
 * them.
 */
#ifndef HOST_AGENT_VERBS_VERBS_AH_STATE_H
#define HOST_AGENT_VERBS_VERBS_AH_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "host-agent/verbs/priority_pool.h"
#include "host-agent/verbs/verbs_ah.h"

struct ah_target;

enum ah_state {
	AH_WAITING, /* the handle waits until another handle of its target is made */
	AH_MAKING,  /* a thread makes it */
	AH_READY,
	AH_GOING, /* a thread destroys it */
};

struct verbs_ah {
	struct lane_job job; /* used while MAKING or GOING */
	struct verbs_ah_cache *cache;
	struct verbs_ah_key key;
	struct ibv_ah *handle;
	struct ah_target *target; /* NULL when GOING */
	enum ah_state state;
	bool in_table;
	/* in state MAKING: other handles of the target wait for the result */
	bool tries;
	/* in state MAKING: the handle will replace the one with its key in the table */
	bool replaces;
	/* in state MAKING: the path to the target may have changed since the job began
	 */
	bool stale;
	uint32_t refs;
	rm_mono_t refresh_at;
	LIST_ENTRY(verbs_ah) in_bucket;
	LIST_ENTRY(verbs_ah) in_all;
	/* the list of the state: READY without references, the longest unused first; or
	 * WAITING */
	TAILQ_ENTRY(verbs_ah) in_line;
};

TAILQ_HEAD(ah_line, verbs_ah);
LIST_HEAD(ah_bucket, verbs_ah);

struct ah_target { /* a neighbour, with all flow labels and classes to it */
	uint8_t gid[16];
	uint16_t lid;
	uint8_t gid_index, port;
	/* a handle is being made, which shows whether the target resolves */
	bool trying;
	bool refreshing;                     /* a replacement is being made */
	unsigned failures, refresh_failures; /* in a row */
	int error;                           /* error of the last failure */
	rm_mono_t good_until, retry_at, refresh_at;
	size_t handles; /* number of handles of this target */
	struct ah_line waiting;
	LIST_ENTRY(ah_target) in_bucket;
	TAILQ_ENTRY(ah_target) in_bad; /* in the list while failures > 0 */
};

LIST_HEAD(ah_target_bucket, ah_target);
TAILQ_HEAD(ah_bad_line, ah_target);

struct verbs_ah_cache {
	struct priority_pool *pool;
	struct verbs_ah_options options;
	struct verbs_ah_counts counts;
	bool stopped, freed;
	bool cancelled; /* the pool was stopped */
	void (*on_stopped)(void *arg);
	void *stopped_arg;

	size_t mask; /* number of buckets of each table, minus 1 */
	struct ah_bucket *table;
	struct ah_target_bucket *targets;
	struct ah_line idle;  /* READY handles in the table without references */
	struct ah_bucket all; /* all handles */
	/* targets that failed, in the order of their first failure */
	struct ah_bad_line bad;
	size_t in_table, count, target_count;
};

int ah_table_init(struct verbs_ah_cache *cache);
void ah_table_clear(struct verbs_ah_cache *cache); /* the table must have no handles */

struct verbs_ah *ah_table_find(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
struct ah_target *ah_table_target(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);

/* Creates a handle with this key, which is in no table yet, and its target if there is
 * none. NULL: no memory. */
struct verbs_ah *ah_table_new(
    struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
void ah_table_enter(struct verbs_ah *ah);
/* Does nothing if the handle is not in the table. */
void ah_table_leave(struct verbs_ah *ah);
/* Takes the handle off its target. A target without handles is freed, unless it has
 * failed. */
void ah_table_drop_target(struct verbs_ah *ah);
void ah_table_delete(struct verbs_ah *ah);

/* These functions keep a target alive while its last handle may be deleted. */
void ah_target_hold(struct ah_target *target);
void ah_target_release(struct verbs_ah_cache *cache, struct ah_target *target);
/* Counts a failure of the target. The number of failed targets that are kept without
 * handles is bounded. */
void ah_target_failed(
    struct verbs_ah_cache *cache, struct ah_target *target, int r, rm_mono_t now);
void ah_target_forgive(struct verbs_ah_cache *cache, struct ah_target *target);

/* Returns the pause in ns: 250 ms, 1 s, then twice the pause before, up to 30 s. */
int64_t ah_backoff_ns(unsigned failures);

#endif
