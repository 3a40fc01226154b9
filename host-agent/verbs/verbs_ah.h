/*
 * verbs_ah - a cache of the address handles of one RDMA port, made in threads.
 *
 * To make one, the kernel resolves the neighbour, which takes a second when it does not
 * answer. So they are made in lanes. For a target that has not answered there is one
 * attempt at a time, at growing intervals; requests in between fail at once. A handle
 * holds the neighbour's MAC as it was: one in use is made anew now and then, and the
 * old one serves until that has worked. All from the loop.
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
	uint8_t gid[16]; /* of the target; zero: by LID alone */
	uint32_t flow_label;
	uint16_t lid;
	uint8_t gid_index; /* ours */
	uint8_t traffic_class;
	uint8_t sl;
	uint8_t port;
};

struct verbs_ah_calls { /* both in a thread; 0 or -errno */
	int (*create)(const struct verbs_ah_key *key, struct ibv_ah **ret, void *arg);
	int (*destroy)(struct ibv_ah *ah, void *arg);
	void *arg;
};

struct verbs_ah_options {
	size_t max_handles; /* 0: 4096 */
	int64_t refresh_ns; /* age at which one in use is made anew; 0: 60 s */
	struct verbs_ah_calls calls;
	/*
	 * Once per key that verbs_ah_get called -EINPROGRESS. r: 0, and verbs_ah_get
	 * will have it; else why there is none (-ECANCELED: the lanes were stopped).
	 */
	void (*on_ready)(const struct verbs_ah_key *key, int r, void *arg);
	void *arg;
	rm_mono_t (*now)(void); /* NULL: rm_mono_now */
};

#define VERBS_AH_ERRORS 8

struct verbs_ah_counts {
	uint64_t hits, created, destroyed, evicted, refreshed;
	uint64_t refresh_failed; /* the old handle stays */
	uint64_t destroy_failed; /* and is leaked */
	uint64_t refused_full;   /* every handle is in use */
	uint64_t refused_bad;    /* of a target that did not resolve a moment ago */
	struct {
		int error; /* positive errno; 0: all others */
		uint64_t count;
	} failed[VERBS_AH_ERRORS]; /* in the order of their first; the last: all others
				    */
	uint64_t failures;         /* all of them */
	uint64_t waiting, handles; /* now */
};

/* lanes: must outlive the cache. */
int verbs_ah_cache_new(struct priority_pool *pool,
    const struct verbs_ah_options *options, struct verbs_ah_cache **ret);
/*
 * Nothing new, no on_ready any more; all handles go as soon as they are put. 0: none is
 * left. -EINPROGRESS: on_stopped follows, when calls.arg and the protection domain
 * behind it are no longer used.
 */
int verbs_ah_cache_stop(
    struct verbs_ah_cache *cache, void (*on_stopped)(void *arg), void *arg);
/*
 * Destroys what is left, also what was not put: nothing may be sending with it. Do it
 * when stopped, or after priority_pool_stop, which waits instead: else a call that is
 * running will still use calls.arg. NULL is fine.
 */
void verbs_ah_cache_free(struct verbs_ah_cache *cache);

/*
 * 0: *ret is the caller's to use until verbs_ah_put, once per get: until the send with
 * it has completed. -EINPROGRESS: on_ready follows. -ENOBUFS: every handle is in use or
 * on its way. -ESHUTDOWN: stopped. -ENOMEM. Else why the target did not resolve.
 */
int verbs_ah_get(struct verbs_ah_cache *cache, const struct verbs_ah_key *key,
    rm_mono_t now, struct verbs_ah **ret);
struct ibv_ah *verbs_ah_handle(const struct verbs_ah *ah);
void verbs_ah_put(struct verbs_ah *ah);

/* The way to a target may have changed: its handles are not handed out again, and if it
 * did not resolve it may be tried at once. NULL: all targets. */
void verbs_ah_forget(struct verbs_ah_cache *cache, const uint8_t gid[16]);

const struct verbs_ah_counts *verbs_ah_counts(const struct verbs_ah_cache *cache);

#endif
