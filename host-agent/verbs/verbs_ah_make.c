#include "host-agent/verbs/verbs_ah_state.h"

#include <errno.h>
#include <stdlib.h>

/* So long after one was made the others of a target surely take no time: the kernel
 * still knows the neighbour. */
#define GOOD_NS (10 * RM_NS_PER_S)

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
}

static void
tell(struct verbs_ah_cache *cache, const struct verbs_ah_key *key, int r)
{
	if (!cache->stopped && cache->options.on_ready != NULL)
		cache->options.on_ready(key, r, cache->options.arg);
}

void
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
		on_stopped(cache->stopped_arg); /* may free it */
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
		r = ah_run_destroy(job); /* no lane has, and none will */
	if (r < 0)
		cache->counts.destroy_failed++;
	else
		cache->counts.destroyed++;
	ah_table_delete(ah);
	ah_check_end(cache);
}

void
ah_destroy(struct verbs_ah *ah)
{
	ah_table_leave(ah);
	ah_table_drop_target(ah);
	ah->state = AH_GOING;
	ah->job.run = ah_run_destroy;
	ah->job.done = ah_destroyed;
	if (lanes_submit(ah->cache->lanes, &ah->job, LANE_SURE) < 0)
		ah_destroyed(&ah->job, -ECANCELED);
}

void
ah_retire(struct verbs_ah *ah)
{
	ah->cache->counts.handles--;
	ah_table_leave(ah);
	if (ah->refs > 0)
		return;
	TAILQ_REMOVE(&ah->cache->idle, ah, in_line);
	ah_destroy(ah);
}

void
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

/* The first of those that wait may stop everything when it is told. */
static void
refuse_waiting(struct verbs_ah_cache *cache, struct ah_target *target, int r)
{
	struct verbs_ah *ah;

	while ((ah = TAILQ_FIRST(&target->waiting)) != NULL) {
		struct verbs_ah_key key = ah->key;

		ah_stop_waiting(ah);
		tell(cache, &key, r);
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
	tell(cache, &key, r);
	refuse_waiting(cache, target, r);
	ah_target_let_go(cache, target);
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

/* Whether there is still a place for it. */
static bool
ah_replace(struct verbs_ah *ah)
{
	struct verbs_ah_cache *cache = ah->cache;
	struct verbs_ah *old = ah_table_find(cache, &ah->key);

	ah->target->refreshing = false;
	ah->target->refresh_failures = 0;
	if (old == NULL || old->state != AH_READY)
		return false; /* it went meanwhile */
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
		tell(cache, &key, 0);
	make_waiting(cache, target);
	ah_target_let_go(cache, target);
}

static void
ah_created(struct lane_job *job, int r)
{
	struct verbs_ah *ah = (struct verbs_ah *)job;
	struct verbs_ah_cache *cache = ah->cache;
	rm_mono_t now = cache->options.now();

	cache->count++; /* it must not end before we are done with it */
	if (r < 0)
		ah_failed(ah, r, now);
	else
		ah_made(ah, now);
	cache->count--;
	ah_check_end(cache);
}

int
ah_make(struct verbs_ah *ah, enum lane_class class)
{
	ah->state = AH_MAKING;
	ah->job.run = ah_run_create;
	ah->job.done = ah_created;
	return lanes_submit(ah->cache->lanes, &ah->job, class);
}
