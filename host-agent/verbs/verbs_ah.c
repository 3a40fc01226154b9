#include "host-agent/verbs/verbs_ah.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/verbs/verbs_ah_state.h"

/* For this long after a target has resolved, further handles for it are made without
 * waiting, as the kernel still knows the neighbour. */
#define GOOD_NS (10 * RM_NS_PER_S)

static int ah_make(struct verbs_ah *ah, enum lane_class class);

static void
count_failure(struct verbs_ah_counts *counts, int r)
{
	size_t i = 0;

	while (i < VERBS_AH_ERRORS - 1 && counts->failed[i].count > 0 &&
	       counts->failed[i].error != -r)
		i++;
	if (i < VERBS_AH_ERRORS - 1)
		counts->failed[i].error = -r;
	counts->failed[i].count++;
	counts->failures++;
}

static void
report(struct verbs_ah_cache *cache, const struct verbs_ah_key *key, int r)
{
	if (!cache->stopped && cache->options.on_ready != NULL)
		cache->options.on_ready(key, r, cache->options.arg);
}

/* Calls on_stopped if a stopped cache has no handles left. The cache may be freed
 * afterwards. */
static void
ah_check_end(struct verbs_ah_cache *cache)
{
	void (*on_stopped)(void *arg) = cache->on_stopped;

	if (cache->count > 0)
		return;
	if (cache->freed) {
		ah_table_clear(cache);
		free(cache);
		return;
	}
	cache->on_stopped = NULL;
	if (on_stopped != NULL)
		on_stopped(cache->stopped_arg); /* may free the cache */
}

static int
ah_run_destroy(struct lane_job *job)
{
	const struct verbs_ah *ah = (struct verbs_ah *)job;
	const struct verbs_ah_calls *calls = &ah->cache->options.calls;

	return calls->destroy(ah->handle, calls->arg);
}

static void
ah_destroyed(struct lane_job *job, int r)
{
	struct verbs_ah *ah = (struct verbs_ah *)job;
	struct verbs_ah_cache *cache = ah->cache;

	if (r == -ECANCELED)
		r = ah_run_destroy(
		    job); /* no thread has run the job, and no thread will run it */
	if (r < 0)
		cache->counts.destroy_failed++;
	else
		cache->counts.destroyed++;
	ah_table_delete(ah);
	ah_check_end(cache);
}

/* Destroys a handle that is in no list and has no references. The handle may be freed
 * on return. */
static void
ah_destroy(struct verbs_ah *ah)
{
	ah_table_leave(ah);
	ah_table_drop_target(ah);
	ah->state = AH_GOING;
	ah->job.run = ah_run_destroy;
	ah->job.done = ah_destroyed;
	if (priority_pool_submit(ah->cache->pool, &ah->job, LANE_SURE) < 0)
		ah_destroyed(&ah->job, -ECANCELED);
}

/* Removes a handle from the table: no caller gets it any more, and it is destroyed with
 * its last reference. */
static void
ah_retire(struct verbs_ah *ah)
{
	ah->cache->counts.handles--;
	ah_table_leave(ah);
	if (ah->refs > 0)
		return;
	TAILQ_REMOVE(&ah->cache->idle, ah, in_line);
	ah_destroy(ah);
}

/* Removes a waiting handle from its list, and frees it. */
static void
ah_stop_waiting(struct verbs_ah *ah)
{
	TAILQ_REMOVE(&ah->target->waiting, ah, in_line);
	ah->cache->counts.waiting--;
	ah_table_delete(ah);
}

static int
ah_run_create(struct lane_job *job)
{
	struct verbs_ah *ah = (struct verbs_ah *)job;
	const struct verbs_ah_calls *calls = &ah->cache->options.calls;

	return calls->create(&ah->key, &ah->handle, calls->arg);
}

/* Checks the list again after each callback, which may stop the cache. */
static void
refuse_waiting(struct verbs_ah_cache *cache, struct ah_target *target, int r)
{
	struct verbs_ah *ah;

	while ((ah = TAILQ_FIRST(&target->waiting)) != NULL) {
		struct verbs_ah_key key = ah->key;

		ah_stop_waiting(ah);
		report(cache, &key, r);
	}
}

static void
ah_replacement_failed(struct verbs_ah *ah, rm_mono_t now)
{
	struct ah_target *target = ah->target;

	ah->cache->counts.refresh_failed++;
	target->refreshing = false;
	target->refresh_failures++;
	target->refresh_at = rm_mono_add(now, ah_backoff_ns(target->refresh_failures));
	ah_table_delete(ah);
}

static void
ah_failed(struct verbs_ah *ah, int r, rm_mono_t now)
{
	struct verbs_ah_cache *cache = ah->cache;
	struct ah_target *target = ah->target;
	struct verbs_ah_key key = ah->key;

	if (r == -ECANCELED)
		cache->cancelled = true;
	else
		count_failure(&cache->counts, r);
	if (ah->replaces) {
		ah_replacement_failed(ah, now);
		return;
	}
	cache->counts.waiting--;
	ah_target_hold(target);
	if (ah->tries)
		target->trying = false;
	if (r != -ECANCELED)
		ah_target_failed(cache, target, r, now);
	ah_table_delete(ah);
	report(cache, &key, r);
	refuse_waiting(cache, target, r);
	ah_target_release(cache, target);
}

static void
make_waiting(struct verbs_ah_cache *cache, struct ah_target *target)
{
	struct verbs_ah *ah;

	while ((ah = TAILQ_FIRST(&target->waiting)) != NULL) {
		TAILQ_REMOVE(&target->waiting, ah, in_line);
		if (ah_make(ah, LANE_SURE) == 0)
			continue;
		TAILQ_INSERT_HEAD(&target->waiting, ah, in_line);
		cache->cancelled = true;
		refuse_waiting(cache, target, -ECANCELED);
	}
}

/* Replaces the old handle with the same key by the new one. False: there is no old
 * handle any more. */
static bool
ah_replace(struct verbs_ah *ah)
{
	struct verbs_ah_cache *cache = ah->cache;
	struct verbs_ah *old = ah_table_find(cache, &ah->key);

	ah->target->refreshing = false;
	ah->target->refresh_failures = 0;
	if (old == NULL || old->state != AH_READY)
		return false; /* the old handle was removed meanwhile */
	cache->counts.refreshed++;
	ah_retire(old);
	ah_table_enter(ah);
	return true;
}

static void
ah_made(struct verbs_ah *ah, rm_mono_t now)
{
	struct verbs_ah_cache *cache = ah->cache;
	struct ah_target *target = ah->target;
	struct verbs_ah_key key = ah->key;
	int64_t good_ns = ah->stale ? 0 : cache->options.refresh_ns;

	cache->counts.created++;
	if (!ah->replaces)
		cache->counts.waiting--;
	if (ah->tries)
		target->trying = false;
	if (cache->stopped || (ah->replaces && !ah_replace(ah))) {
		ah_destroy(ah);
		return;
	}
	target->good_until = rm_mono_add(now, GOOD_NS);
	ah_target_forgive(cache, target);
	ah->state = AH_READY;
	ah->refresh_at = rm_mono_add(now, good_ns);
	TAILQ_INSERT_TAIL(&cache->idle, ah, in_line);
	cache->counts.handles++;
	ah_target_hold(target);
	if (!ah->replaces)
		report(cache, &key, 0);
	make_waiting(cache, target);
	ah_target_release(cache, target);
}

static void
ah_created(struct lane_job *job, int r)
{
	struct verbs_ah *ah = (struct verbs_ah *)job;
	struct verbs_ah_cache *cache = ah->cache;
	rm_mono_t now = cache->options.now();

	/* counted, so that a callback cannot end the cache before this function
	 * returns */
	cache->count++;
	if (r < 0)
		ah_failed(ah, r, now);
	else
		ah_made(ah, now);
	cache->count--;
	ah_check_end(cache);
}

/* Submits the job that makes the handle. -ECANCELED: the pool was stopped; nothing has
 * changed. */
static int
ah_make(struct verbs_ah *ah, enum lane_class class)
{
	ah->state = AH_MAKING;
	ah->job.run = ah_run_create;
	ah->job.done = ah_created;
	return priority_pool_submit(ah->cache->pool, &ah->job, class);
}

#define DEFAULT_HANDLES 4096
#define MAX_HANDLES 65536
#define DEFAULT_REFRESH_NS (60 * RM_NS_PER_S)

int
verbs_ah_cache_new(struct priority_pool *pool, const struct verbs_ah_options *options,
    struct verbs_ah_cache **ret)
{
	struct verbs_ah_cache *cache;

	if (options->max_handles > MAX_HANDLES)
		return -EINVAL;
	cache = calloc(1, sizeof(*cache));
	if (cache == NULL)
		return -ENOMEM;
	cache->pool = pool;
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
	ah_check_end(cache); /* otherwise the last running call does this */
}

/* Makes room for one more handle. Handles that are being destroyed take room, too. */
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

/* Makes the handle. If it is not certain that the target can be resolved, and another
 * handle for it is being made, waits for that result first. */
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

/* One handle of a target is renewed at a time: if the target is dead by now, only one
 * call blocks. */
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
