/*
 * verbs_ah_fixture - a cache of address handles over a fake provider, which blocks,
 * refuses and counts as the test requires. Include it after cmocka.h.
 */
#ifndef TESTS_UNIT_HOST_AGENT_VERBS_AH_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_VERBS_AH_FIXTURE_H

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host-agent/verbs/priority_pool.h"
#include "host-agent/verbs/verbs_ah.h"
#include "rackmesh/loop/loop.h"

#define TARGETS 64
#define DEAD_MS 1000 /* typical of real devices */

struct ibv_ah {
	struct verbs_ah_key key;
};

static int64_t passed_ns; /* added to the real clock */

/* DEAD_HELD and HELD: blocked until the gate opens. */
enum manner { ALIVE, DEAD, DEAD_HELD, HELD, ODD };

struct seen {
	struct rm_loop *loop;
	struct rm_timer *guard;
	struct priority_pool *pool;
	struct verbs_ah_cache *cache;
	bool late;
	int ready, failed, last, stopped;
	int64_t ready_ns[TARGETS]; /* time of the last success, by target */
	bool stop_on_signal;

	atomic_int manner[TARGETS]; /* values of enum manner */
	atomic_int error[TARGETS];  /* ODD targets fail at once with this error */
	atomic_int creates[TARGETS];
	atomic_int created, destroyed;

	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t wake;
	bool open;
};

static inline rm_mono_t
now(void)
{
	return rm_mono_add(rm_mono_now(), passed_ns);
}

static inline void
let_pass(double seconds)
{
	passed_ns += (int64_t)(seconds * RM_NS_PER_S);
}

static inline void
wait_at_gate(struct seen *seen)
{
	pthread_mutex_lock(&seen->lock);
	while (!seen->open)
		pthread_cond_wait(&seen->wake, &seen->lock);
	pthread_mutex_unlock(&seen->lock);
}

static inline int
fake_create(const struct verbs_ah_key *key, struct ibv_ah **ret, void *arg)
{
	const struct timespec dead = { DEAD_MS / 1000, DEAD_MS % 1000 * RM_NS_PER_MS };
	int target = key->gid[15];
	struct seen *seen = arg;

	seen->creates[target]++;
	switch ((enum manner)seen->manner[target]) {
	case DEAD:
		nanosleep(&dead, NULL);
		return -ETIMEDOUT;
	case ODD:
		return -seen->error[target];
	case DEAD_HELD:
		wait_at_gate(seen);
		return -ETIMEDOUT;
	case HELD:
		wait_at_gate(seen);
		break;
	case ALIVE:
		break;
	}
	*ret = malloc(sizeof(**ret));
	if (*ret == NULL)
		return -ENOMEM;
	(*ret)->key = *key;
	seen->created++;
	return 0;
}

static inline int
fake_destroy(struct ibv_ah *ah, void *arg)
{
	struct seen *seen = arg;

	seen->destroyed++;
	free(ah);
	return 0;
}

static inline void
on_stopped(void *arg)
{
	((struct seen *)arg)->stopped++;
}

static inline void
on_ready(const struct verbs_ah_key *key, int r, void *arg)
{
	struct seen *seen = arg;

	seen->ready_ns[key->gid[15]] = rm_mono_now().ns;
	seen->last = r;
	if (r == 0)
		seen->ready++;
	else
		seen->failed++;
	if (seen->stop_on_signal)
		(void)verbs_ah_cache_stop(seen->cache, on_stopped, seen);
}

static inline void
on_guard(void *arg)
{
	((struct seen *)arg)->late = true;
}

static inline void
open_gate(struct seen *seen)
{
	pthread_mutex_lock(&seen->lock);
	seen->open = true;
	pthread_cond_broadcast(&seen->wake);
	pthread_mutex_unlock(&seen->lock);
}

static inline void
make_cache(struct seen *seen, size_t max_handles)
{
	const struct verbs_ah_options options = {
		.max_handles = max_handles,
		.calls = { fake_create, fake_destroy, seen },
		.on_ready = on_ready,
		.arg = seen,
		.now = now,
	};

	verbs_ah_cache_free(seen->cache);
	seen->cache = NULL;
	assert_int_equal(verbs_ah_cache_new(seen->pool, &options, &seen->cache), 0);
}

static inline int
ah_setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	if (seen == NULL || rm_loop_new(&seen->loop) < 0 ||
	    rm_timer_new(seen->loop, on_guard, seen, &seen->guard) < 0 ||
	    priority_pool_new(seen->loop, 4, &seen->pool) < 0)
		return -1;
	pthread_mutex_init(&seen->lock, NULL);
	pthread_cond_init(&seen->wake, NULL);
	rm_timer_after(seen->guard, 60 * RM_NS_PER_S);
	make_cache(seen, 0);
	*state = seen;
	return 0;
}

/* Checks that the test has leaked no handle. */
static inline int
ah_teardown(void **state)
{
	struct seen *seen = *state;
	int leaked;

	open_gate(seen);
	priority_pool_stop(seen->pool);
	verbs_ah_cache_free(seen->cache);
	priority_pool_free(seen->pool);
	rm_timer_free(seen->guard);
	rm_loop_free(seen->loop);
	pthread_cond_destroy(&seen->wake);
	pthread_mutex_destroy(&seen->lock);
	leaked = seen->created - seen->destroyed;
	free(seen);
	return leaked;
}

static inline void
turn(struct seen *seen)
{
	event_base_loop(rm_loop_base(seen->loop), EVLOOP_ONCE);
	assert_false(seen->late);
}

static inline void
wait_reported(struct seen *seen, int count)
{
	while (seen->ready + seen->failed < count)
		turn(seen);
	assert_int_equal(seen->ready + seen->failed, count);
}

static inline void
wait_destroyed(struct seen *seen, int count)
{
	while (seen->destroyed < count)
		turn(seen);
	assert_int_equal(seen->destroyed, count);
}

static inline struct verbs_ah_key
key_of(int target, uint32_t label)
{
	return (struct verbs_ah_key){ .gid = { 0xfd, [15] = (uint8_t)target },
		.flow_label = label,
		.gid_index = 1,
		.traffic_class = 104,
		.port = 1 };
}

static inline int
get(struct seen *seen, int target, uint32_t label, struct verbs_ah **ret)
{
	const struct verbs_ah_key key = key_of(target, label);

	return verbs_ah_get(seen->cache, &key, now(), ret);
}

static inline int
ask(struct seen *seen, int target, uint32_t label)
{
	struct verbs_ah *ah = NULL;
	int r = get(seen, target, label, &ah);

	if (r == 0)
		verbs_ah_put(ah);
	return r;
}

static inline struct verbs_ah *
take(struct seen *seen, int target, uint32_t label)
{
	struct verbs_ah *ah = NULL;

	if (get(seen, target, label, &ah) == -EINPROGRESS) {
		wait_reported(seen, seen->ready + seen->failed + 1);
		assert_int_equal(get(seen, target, label, &ah), 0);
	}
	assert_non_null(ah);
	return ah;
}

#endif
