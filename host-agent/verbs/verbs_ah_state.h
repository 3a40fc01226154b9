/*
 * verbs_ah_state - shared by the source files of verbs_ah: handles by key, and their
 * targets.
 *
 * verbs_ah_get returns the handles in the table. Others are being made or destroyed: a
 * replacement, or a handle that was replaced while a caller still uses it.
 */
#ifndef HOST_AGENT_VERBS_VERBS_AH_STATE_H
#define HOST_AGENT_VERBS_VERBS_AH_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "host-agent/verbs/priority_pool.h"
#include "host-agent/verbs/verbs_ah.h"

struct ah_target;

enum ah_state {
	AH_WAITING, /* for another handle of its target */
	AH_MAKING,  /* in a lane */
	AH_READY,
	AH_GOING, /* a thread is to destroy it */
};

struct verbs_ah {
	struct lane_job job; /* while MAKING or GOING */
	struct verbs_ah_cache *cache;
	struct verbs_ah_key key;
	struct ibv_ah *handle;
	struct ah_target *target; /* NULL when GOING */
	enum ah_state state;
	bool in_table;
	bool tries;    /* MAKING, while the others of its target wait for the outcome */
	bool replaces; /* MAKING, as replacement for the one of its key in the table */
	bool stale;    /* MAKING, and the path may have changed meanwhile */
	uint32_t refs;
	rm_mono_t refresh_at;
	LIST_ENTRY(verbs_ah) in_bucket;
	LIST_ENTRY(verbs_ah) in_all;
	TAILQ_ENTRY(verbs_ah) in_line; /* READY, refs 0: least used first; or WAITING */
};

TAILQ_HEAD(ah_line, verbs_ah);
LIST_HEAD(ah_bucket, verbs_ah);

struct ah_target { /* a neighbour, for all labels and classes */
	uint8_t gid[16];
	uint16_t lid;
	uint8_t gid_index, port;
	bool trying;     /* one handle is being made, to see whether it resolves */
	bool refreshing; /* the same, for a replacement */
	unsigned failures, refresh_failures; /* in a row */
	int error;                           /* of the last failure */
	rm_mono_t good_until, retry_at, refresh_at;
	size_t handles; /* number of handles that point here */
	struct ah_line waiting;
	LIST_ENTRY(ah_target) in_bucket;
	TAILQ_ENTRY(ah_target) in_bad; /* while failures > 0 */
};

LIST_HEAD(ah_target_bucket, ah_target);
TAILQ_HEAD(ah_bad_line, ah_target);

struct verbs_ah_cache {
	struct priority_pool *pool;
	struct verbs_ah_options options;
	struct verbs_ah_counts counts;
	bool stopped, freed;
	bool cancelled; /* the pool has been stopped */
	void (*on_stopped)(void *arg);
	void *stopped_arg;

	size_t mask; /* size of both tables - 1 */
	struct ah_bucket *table;
	struct ah_target_bucket *targets;
	struct ah_line idle;    /* READY, in the table, without references */
	struct ah_bucket all;   /* all handles */
	struct ah_bad_line bad; /* targets, longest bad first */
	size_t in_table, count, target_count;
};

int ah_table_init(struct verbs_ah_cache *cache);
void ah_table_clear(struct verbs_ah_cache *cache); /* it must have no handles */

struct verbs_ah *ah_table_find(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
struct ah_target *ah_table_target(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);

/* A new handle of this key, in no table yet; its target is created if there is none.
 * NULL: no memory. */
struct verbs_ah *ah_table_new(
    struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
void ah_table_enter(struct verbs_ah *ah);
void ah_table_leave(struct verbs_ah *ah); /* the handle need not be in it */
/* The last handle of a target that is not bad frees the target. */
void ah_table_drop_target(struct verbs_ah *ah);
void ah_table_delete(struct verbs_ah *ah);

/* Called before and after something that may delete the target's last handle. */
void ah_target_hold(struct ah_target *target);
void ah_target_let_go(struct verbs_ah_cache *cache, struct ah_target *target);
/* The number of targets without handles that are remembered is bounded. */
void ah_target_failed(
    struct verbs_ah_cache *cache, struct ah_target *target, int r, rm_mono_t now);
void ah_target_forgive(struct verbs_ah_cache *cache, struct ah_target *target);

int64_t ah_backoff_ns(unsigned failures); /* 250 ms, 1 s, doubling up to 30 s */

#endif
