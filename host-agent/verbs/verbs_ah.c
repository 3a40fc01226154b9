#include "host-agent/verbs/verbs_ah.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/verbs/verbs_ah_state.h"

#define DEFAULT_HANDLES 4096
#define MAX_HANDLES 65536
#define DEFAULT_REFRESH_NS (60 * RM_NS_PER_S)

int
verbs_ah_cache_new(struct lanes *lanes, const struct verbs_ah_options *options,
    struct verbs_ah_cache **ret)
{
	struct verbs_ah_cache *cache;

	if (options->max_handles > MAX_HANDLES)
		return -EINVAL;
	cache = calloc(1, sizeof(*cache));
	if (cache == NULL)
		return -ENOMEM;
	cache->lanes = lanes;
	cache->options = *options;
	if (options->max_handles == 0)
		cache->options.max_handles = DEFAULT_HANDLES;
	if (options->refresh_ns <= 0)
		cache->options.refresh_ns = DEFAULT_REFRESH_NS;
	if (options->now == NULL)
		cache->options.now = rm_mono_now;
	if (ah_table_init(cache) < 0) {
		verbs_ah_cache_free(cache);
		return -ENOMEM;
	}
	*ret = cache;
	return 0;
}

int
verbs_ah_cache_stop(
    struct verbs_ah_cache *cache, void (*on_stopped)(void *arg), void *arg)
{
	struct verbs_ah *ah, *next;

	cache->stopped = true;
	cache->on_stopped = NULL;
	for (ah = LIST_FIRST(&cache->all); ah != NULL; ah = next) {
		next = LIST_NEXT(ah, in_all);
		if (ah->state == AH_WAITING)
			ah_stop_waiting(ah);
		else if (ah->state == AH_READY && ah->in_table)
			ah_retire(ah);
	}
	if (cache->count == 0)
		return 0;
	cache->on_stopped = on_stopped;
	cache->stopped_arg = arg;
	return -EINPROGRESS;
}

void
verbs_ah_cache_free(struct verbs_ah_cache *cache)
{
	struct verbs_ah *ah, *next;

	if (cache == NULL)
		return;
	cache->stopped = true;
	cache->on_stopped = NULL;
	for (ah = LIST_FIRST(&cache->all); ah != NULL; ah = next) {
		next = LIST_NEXT(ah, in_all);
		if (ah->state == AH_WAITING) {
			ah_stop_waiting(ah);
		} else if (ah->state == AH_READY) {
			(void)cache->options.calls.destroy(
			    ah->handle, cache->options.calls.arg);
			ah_table_delete(ah);
		}
	}
	cache->freed = true;
	ah_check_end(cache); /* or after the last call that is running */
}

/* For one more in the table. What is on its way out counts as much again. */
static int
cache_make_room(struct verbs_ah_cache *cache)
{
	struct verbs_ah *oldest = TAILQ_FIRST(&cache->idle);
	size_t max = cache->options.max_handles;

	if (cache->count >= 2 * max || (cache->in_table >= max && oldest == NULL)) {
		cache->counts.refused_full++;
		return -ENOBUFS;
	}
	if (cache->in_table >= max) {
		cache->counts.evicted++;
		ah_retire(oldest);
	}
	return 0;
}

/* Of a target that may not resolve only one is made; the others wait for it. */
static int
ah_start(struct verbs_ah *ah, rm_mono_t now)
{
	struct ah_target *target = ah->target;
	int r;

	if (rm_mono_since(target->good_until, now) > 0)
		return ah_make(ah, LANE_SURE);
	if (target->trying) {
		ah->state = AH_WAITING;
		TAILQ_INSERT_TAIL(&target->waiting, ah, in_line);
		return 0;
	}
	ah->tries = true;
	r = ah_make(ah, target->failures > 0 ? LANE_RETRY : LANE_NEW);
	target->trying = r == 0;
	return r;
}

static int
cache_add(struct verbs_ah_cache *cache, const struct verbs_ah_key *key, rm_mono_t now)
{
	struct verbs_ah *ah;
	int r;

	r = cache_make_room(cache);
	if (r < 0)
		return r;
	ah = ah_table_new(cache, key);
	if (ah == NULL)
		return -ENOMEM;
	ah_table_enter(ah);
	r = ah_start(ah, now);
	if (r < 0) {
		cache->cancelled = true;
		ah_table_delete(ah);
		return -ESHUTDOWN;
	}
	cache->counts.waiting++;
	return -EINPROGRESS;
}

/* One at a time of a target: if it is dead by now, that costs one call. */
static void
ah_refresh(struct verbs_ah *ah, rm_mono_t now)
{
	struct verbs_ah_cache *cache = ah->cache;
	struct ah_target *target = ah->target;
	struct verbs_ah *replacement;

	if (rm_mono_since(ah->refresh_at, now) > 0 ||
	    rm_mono_since(target->refresh_at, now) > 0 || target->refreshing ||
	    cache->count >= 2 * cache->options.max_handles)
		return;
	replacement = ah_table_new(cache, &ah->key);
	if (replacement == NULL)
		return;
	replacement->replaces = true;
	if (ah_make(replacement, LANE_IDLE) < 0)
		ah_table_delete(replacement);
	else
		target->refreshing = true;
}

static int
ah_take(struct verbs_ah *ah, rm_mono_t now, struct verbs_ah **ret)
{
	if (ah->state != AH_READY)
		return -EINPROGRESS;
	if (ah->refs++ == 0)
		TAILQ_REMOVE(&ah->cache->idle, ah, in_line);
	ah->cache->counts.hits++;
	ah_refresh(ah, now);
	*ret = ah;
	return 0;
}

int
verbs_ah_get(struct verbs_ah_cache *cache, const struct verbs_ah_key *key,
    rm_mono_t now, struct verbs_ah **ret)
{
	const struct ah_target *target;
	struct verbs_ah *ah;

	if (cache->stopped)
		return -ESHUTDOWN;
	ah = ah_table_find(cache, key);
	if (ah != NULL)
		return ah_take(ah, now, ret);
	if (cache->cancelled)
		return -ESHUTDOWN;
	target = ah_table_target(cache, key);
	if (target != NULL && target->failures > 0 &&
	    (target->trying || rm_mono_since(target->retry_at, now) > 0)) {
		cache->counts.refused_bad++;
		return target->error;
	}
	return cache_add(cache, key, now);
}

struct ibv_ah *
verbs_ah_handle(const struct verbs_ah *ah)
{
	return ah->handle;
}

void
verbs_ah_put(struct verbs_ah *ah)
{
	if (--ah->refs > 0)
		return;
	if (ah->in_table)
		TAILQ_INSERT_TAIL(&ah->cache->idle, ah, in_line);
	else
		ah_destroy(ah);
}

void
verbs_ah_forget(struct verbs_ah_cache *cache, const uint8_t gid[16])
{
	struct ah_target *target, *next_target;
	struct verbs_ah *ah, *next;

	if (cache->stopped)
		return;
	for (ah = LIST_FIRST(&cache->all); ah != NULL; ah = next) {
		next = LIST_NEXT(ah, in_all);
		if (ah->target == NULL ||
		    (gid != NULL && memcmp(ah->key.gid, gid, 16) != 0))
			continue;
		ah->target->good_until = (rm_mono_t){ 0 };
		if (ah->state == AH_MAKING)
			ah->stale = true;
		else if (ah->state == AH_READY && ah->in_table)
			ah_retire(ah);
	}
	for (target = TAILQ_FIRST(&cache->bad); target != NULL; target = next_target) {
		next_target = TAILQ_NEXT(target, in_bad);
		if (gid == NULL || memcmp(target->gid, gid, 16) == 0)
			ah_target_forgive(cache, target);
	}
}

const struct verbs_ah_counts *
verbs_ah_counts(const struct verbs_ah_cache *cache)
{
	return &cache->counts;
}
