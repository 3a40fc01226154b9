/*
 * verbs_ah - a cache of the address handles of one RDMA port, made in threads.
 *
 * To make one, the kernel resolves the neighbour, which takes a second when it does not
 * answer. So handles are made in the threads of a priority pool. For a target that has
 * not answered there is one attempt at a time, at growing intervals; requests in
 * between fail at once. A handle holds the neighbour's MAC of the time when it was
 * made: a used one is renewed now and then, and the old one serves until the new one is
 * there. Call all functions from the loop.
 */
#ifndef HOST_AGENT_VERBS_VERBS_AH_H
#define HOST_AGENT_VERBS_VERBS_AH_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct ibv_ah;
struct priority_pool;
struct verbs_ah;
struct verbs_ah_cache;

struct verbs_ah_key {
	uint8_t gid[16]; /* of the target; zero: addressed by LID alone */
	uint32_t flow_label;
	uint16_t lid;
	uint8_t gid_index; /* ours */
	uint8_t traffic_class;
	uint8_t sl;
	uint8_t port;
};

struct verbs_ah_calls { /* both are called in a thread; 0 or -errno */
	int (*create)(const struct verbs_ah_key *key, struct ibv_ah **ret, void *arg);
	int (*destroy)(struct ibv_ah *ah, void *arg);
	void *arg;
};

struct verbs_ah_options {
	size_t max_handles; /* 0: 4096 */
	int64_t refresh_ns; /* age at which a used handle is renewed; 0: 60 s */
	struct verbs_ah_calls calls;
	/*
	 * Called once per key for which verbs_ah_get returned -EINPROGRESS. r: 0, and
	 * verbs_ah_get will return it; else the reason why there is no handle
	 * (-ECANCELED: the pool was stopped).
	 */
	void (*on_ready)(const struct verbs_ah_key *key, int r, void *arg);
	void *arg;
	rm_mono_t (*now)(void); /* NULL: rm_mono_now */
};

#define VERBS_AH_ERRORS 8

struct verbs_ah_counts {
	uint64_t hits, created, destroyed, evicted, refreshed;
	uint64_t refresh_failed; /* the old handle stays in use */
	uint64_t destroy_failed; /* and the handle is leaked */
	uint64_t refused_full;   /* every handle is in use */
	uint64_t refused_bad;    /* the target did not resolve a moment ago */
	struct {
		int error; /* positive errno; 0: all others */
		uint64_t count;
	} failed[VERBS_AH_ERRORS]; /* in the order of their first occurrence; the last
				      entry: all other errors */
	uint64_t failures;         /* all of them */
	uint64_t waiting, handles; /* now */
};

/* pool: must outlive the cache. */
int verbs_ah_cache_new(struct priority_pool *pool,
    const struct verbs_ah_options *options, struct verbs_ah_cache **ret);
/*
 * Makes no more handles and calls no more on_ready; all handles are destroyed as soon
 * as they are put. 0: none is left. -EINPROGRESS: on_stopped follows, when calls.arg
 * and the protection domain behind it are no longer used.
 */
int verbs_ah_cache_stop(
    struct verbs_ah_cache *cache, void (*on_stopped)(void *arg), void *arg);
/*
 * Destroys all remaining handles, also those not put: no send may be using them. Call
 * it when stopped, or after priority_pool_stop, which waits: otherwise a running call
 * will still use calls.arg. NULL is allowed.
 */
void verbs_ah_cache_free(struct verbs_ah_cache *cache);

/*
 * 0: the caller may use *ret until verbs_ah_put, to be called once per get, when the
 * send has completed. -EINPROGRESS: on_ready follows. -ENOBUFS: every handle is in use
 * or being made. -ESHUTDOWN: stopped. -ENOMEM. Else the reason why the target did not
 * resolve.
 */
int verbs_ah_get(struct verbs_ah_cache *cache, const struct verbs_ah_key *key,
    rm_mono_t now, struct verbs_ah **ret);
struct ibv_ah *verbs_ah_handle(const struct verbs_ah *ah);
void verbs_ah_put(struct verbs_ah *ah);

/* The path to a target may have changed: its handles are not handed out again, and a
 * target that did not resolve may be tried again at once. NULL: all targets. */
void verbs_ah_forget(struct verbs_ah_cache *cache, const uint8_t gid[16]);

const struct verbs_ah_counts *verbs_ah_counts(const struct verbs_ah_cache *cache);

#endif
