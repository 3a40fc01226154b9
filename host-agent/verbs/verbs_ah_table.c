#include "host-agent/verbs/verbs_ah_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"

#define NO_ROUTE_NS (250 * RM_NS_PER_MS)
/* The first packet after a link-up is often lost, and so is the first ARP request. */
#define FIRST_BACKOFF_NS (250 * RM_NS_PER_MS)
#define BACKOFF_NS RM_NS_PER_S
#define BACKOFF_MAX_NS (30 * RM_NS_PER_S)

/* The hash is not keyed, because the keys come from pinglists: no attacker chooses
 * them. */
static uint64_t
target_hash(const struct verbs_ah_key *key)
{
	const uint8_t rest[] = { (uint8_t)(key->lid >> 8), (uint8_t)key->lid,
		key->gid_index, key->port };
	uint64_t hash = RM_FNV1A;

	hash = rm_fnv1a(hash, key->gid, sizeof(key->gid));
	return rm_fnv1a(hash, rest, sizeof(rest));
}

static size_t
target_slot(const struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	uint64_t hash = target_hash(key);

	return (size_t)(hash ^ hash >> 32) & cache->mask;
}

static size_t
key_slot(const struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	const uint8_t rest[] = { (uint8_t)(key->flow_label >> 16),
		(uint8_t)(key->flow_label >> 8), (uint8_t)key->flow_label,
		key->traffic_class, key->sl };
	uint64_t hash = rm_fnv1a(target_hash(key), rest, sizeof(rest));

	return (size_t)(hash ^ hash >> 32) & cache->mask;
}

static bool
key_equal(const struct verbs_ah_key *a, const struct verbs_ah_key *b)
{
	return a->flow_label == b->flow_label && a->lid == b->lid &&
	       a->gid_index == b->gid_index && a->traffic_class == b->traffic_class &&
	       a->sl == b->sl && a->port == b->port &&
	       memcmp(a->gid, b->gid, sizeof(a->gid)) == 0;
}

static bool
target_is_of(const struct ah_target *target, const struct verbs_ah_key *key)
{
	return target->lid == key->lid && target->gid_index == key->gid_index &&
	       target->port == key->port &&
	       memcmp(target->gid, key->gid, sizeof(key->gid)) == 0;
}

int
ah_table_init(struct verbs_ah_cache *cache)
{
	size_t slots = 64;

	while (slots < cache->options.max_handles)
		slots *= 2;
	cache->mask = slots - 1;
	LIST_INIT(&cache->all);
	TAILQ_INIT(&cache->idle);
	TAILQ_INIT(&cache->bad);
	cache->table = calloc(slots, sizeof(*cache->table));
	cache->targets = calloc(slots, sizeof(*cache->targets));
	return cache->table == NULL || cache->targets == NULL ? -1 : 0;
}

void
ah_table_clear(struct verbs_ah_cache *cache)
{
	struct ah_target *target;

	while ((target = TAILQ_FIRST(&cache->bad)) != NULL)
		ah_target_forgive(cache, target);
	free(cache->table);
	free(cache->targets);
}

struct verbs_ah *
ah_table_find(const struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	struct verbs_ah *ah;

	LIST_FOREACH(ah, &cache->table[key_slot(cache, key)], in_bucket)
	{
		if (key_equal(&ah->key, key))
			return ah;
	}
	return NULL;
}

struct ah_target *
ah_table_target(const struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	struct ah_target *target;

	LIST_FOREACH(target, &cache->targets[target_slot(cache, key)], in_bucket)
	{
		if (target_is_of(target, key))
			return target;
	}
	return NULL;
}

static struct ah_target *
target_new(struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	struct ah_target *target = calloc(1, sizeof(*target));

	if (target == NULL)
		return NULL;
	memcpy(target->gid, key->gid, sizeof(target->gid));
	target->lid = key->lid;
	target->gid_index = key->gid_index;
	target->port = key->port;
	TAILQ_INIT(&target->waiting);
	LIST_INSERT_HEAD(&cache->targets[target_slot(cache, key)], target, in_bucket);
	cache->target_count++;
	return target;
}

static void
target_release(struct verbs_ah_cache *cache, struct ah_target *target)
{
	if (target->handles > 0 || target->failures > 0)
		return;
	LIST_REMOVE(target, in_bucket);
	cache->target_count--;
	free(target);
}

void
ah_target_hold(struct ah_target *target)
{
	target->handles++;
}

void
ah_target_release(struct verbs_ah_cache *cache, struct ah_target *target)
{
	target->handles--;
	target_release(cache, target);
}

struct verbs_ah *
ah_table_new(struct verbs_ah_cache *cache, const struct verbs_ah_key *key)
{
	struct verbs_ah *ah = calloc(1, sizeof(*ah));

	if (ah == NULL)
		return NULL;
	ah->target = ah_table_target(cache, key);
	if (ah->target == NULL)
		ah->target = target_new(cache, key);
	if (ah->target == NULL) {
		free(ah);
		return NULL;
	}
	ah_target_hold(ah->target);
	ah->cache = cache;
	ah->key = *key;
	LIST_INSERT_HEAD(&cache->all, ah, in_all);
	cache->count++;
	return ah;
}

void
ah_table_enter(struct verbs_ah *ah)
{
	struct verbs_ah_cache *cache = ah->cache;

	LIST_INSERT_HEAD(&cache->table[key_slot(cache, &ah->key)], ah, in_bucket);
	ah->in_table = true;
	cache->in_table++;
}

void
ah_table_leave(struct verbs_ah *ah)
{
	if (!ah->in_table)
		return;
	LIST_REMOVE(ah, in_bucket);
	ah->in_table = false;
	ah->cache->in_table--;
}

void
ah_table_drop_target(struct verbs_ah *ah)
{
	struct ah_target *target = ah->target;

	if (target == NULL)
		return;
	ah->target = NULL;
	ah_target_release(ah->cache, target);
}

void
ah_table_delete(struct verbs_ah *ah)
{
	ah_table_leave(ah);
	ah_table_drop_target(ah);
	LIST_REMOVE(ah, in_all);
	ah->cache->count--;
	free(ah);
}

int64_t
ah_backoff_ns(unsigned failures)
{
	int64_t ns = BACKOFF_NS;

	if (failures <= 1)
		return FIRST_BACKOFF_NS;
	for (unsigned i = 2; i < failures && ns < BACKOFF_MAX_NS; i++)
		ns *= 2;
	return ns < BACKOFF_MAX_NS ? ns : BACKOFF_MAX_NS;
}

void
ah_target_failed(
    struct verbs_ah_cache *cache, struct ah_target *target, int r, rm_mono_t now)
{
	struct ah_target *oldest = TAILQ_FIRST(&cache->bad);

	/* The failures of several handles that were made at the same time count as one
	 * failure. */
	if (target->failures > 0 && rm_mono_since(target->retry_at, now) > 0)
		return;
	if (target->failures++ > 0)
		TAILQ_REMOVE(&cache->bad, target, in_bad);
	TAILQ_INSERT_TAIL(&cache->bad, target, in_bad);
	target->error = r;
	/* Without a route the call fails at once, so a retry blocks no thread. */
	target->retry_at = rm_mono_add(
	    now, r == -ENETUNREACH ? NO_ROUTE_NS : ah_backoff_ns(target->failures));
	if (cache->target_count > 2 * cache->options.max_handles && oldest != NULL &&
	    oldest != target)
		ah_target_forgive(cache, oldest);
}

void
ah_target_forgive(struct verbs_ah_cache *cache, struct ah_target *target)
{
	if (target->failures == 0)
		return;
	target->failures = 0;
	TAILQ_REMOVE(&cache->bad, target, in_bad);
	target_release(cache, target);
}
