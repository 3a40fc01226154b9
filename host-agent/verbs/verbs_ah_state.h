/*
 * verbs_ah_state - what the parts of verbs_ah share: handles by key, and their targets.
 *
 * A handle in the table is the one that get hands out. Others are on their way in or
 * out: a replacement being made, or one that was replaced while somebody holds it.
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
	AH_GOING, /* in a lane, to be destroyed */
};

struct verbs_ah {
	struct lane_job job; /* while MAKING or GOING */
	struct verbs_ah_cache *cache;
	struct verbs_ah_key key;
	struct ibv_ah *handle;
	struct ah_target *target; /* NULL when GOING */
	enum ah_state state;
	bool in_table;
	bool tries;    /* MAKING, while the others of its target wait */
	bool replaces; /* MAKING, for the one of its key in the table */
	bool stale;    /* MAKING, and the way may have changed meanwhile */
	uint32_t refs;
	rm_mono_t refresh_at;
	LIST_ENTRY(verbs_ah) in_bucket;
	LIST_ENTRY(verbs_ah) in_all;
	TAILQ_ENTRY(verbs_ah) in_line; /* READY, refs 0: least used first; or WAITING */
};

TAILQ_HEAD(ah_line, verbs_ah);
LIST_HEAD(ah_bucket, verbs_ah);

struct ah_target { /* a neighbour: whatever the label and class */
	uint8_t gid[16];
	uint16_t lid;
	uint8_t gid_index, port;
	bool trying;     /* one handle is being made, to see whether it resolves */
	bool refreshing; /* likewise, of a replacement */
	unsigned failures, refresh_failures; /* in a row */
	int error;                           /* of the last failure */
	rm_mono_t good_until, retry_at, refresh_at;
	size_t handles; /* that point here */
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
	bool cancelled; /* there are no lanes any more */
	void (*on_stopped)(void *arg);
	void *stopped_arg;

	size_t mask; /* of both tables */
	struct ah_bucket *table;
	struct ah_target_bucket *targets;
	struct ah_line idle;    /* READY, in the table, held by nobody */
	struct ah_bucket all;   /* every handle there is */
	struct ah_bad_line bad; /* targets, longest bad first */
	size_t in_table, count, target_count;
};

int ah_table_init(struct verbs_ah_cache *cache);
void ah_table_clear(struct verbs_ah_cache *cache); /* of handles it must be empty */

struct verbs_ah *ah_table_find(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
struct ah_target *ah_table_target(
    const struct verbs_ah_cache *cache, const struct verbs_ah_key *key);

/* A handle of this key, in no table yet; its target is made if need be. NULL: no
 * memory.
 */
struct verbs_ah *ah_table_new(
    struct verbs_ah_cache *cache, const struct verbs_ah_key *key);
void ah_table_enter(struct verbs_ah *ah);
void ah_table_leave(struct verbs_ah *ah); /* it need not be in it */
/* The last of a target that is not bad takes it along. */
void ah_table_drop_target(struct verbs_ah *ah);
void ah_table_delete(struct verbs_ah *ah);

/* Before and after something that may delete its last handle. */
void ah_target_hold(struct ah_target *target);
void ah_target_let_go(struct verbs_ah_cache *cache, struct ah_target *target);
/* Of the targets that no handle points to only so many are remembered. */
void ah_target_failed(
    struct verbs_ah_cache *cache, struct ah_target *target, int r, rm_mono_t now);
void ah_target_forgive(struct verbs_ah_cache *cache, struct ah_target *target);

int64_t ah_backoff_ns(unsigned failures); /* 250 ms, 1 s, doubling up to 30 s */

#endif
