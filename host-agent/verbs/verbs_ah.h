/*
 * verbs_ah - a cache of the address handles of one RDMA port, made in threads.
 *
 * To make a handle, the kernel resolves the neighbour, which takes a second if the
 * neighbour does not answer. So handles are made in the threads of a priority pool. For
 * a target that has not answered, one attempt runs at a time, at growing intervals;
 * requests between the attempts fail at once. A handle has the MAC that the neighbour
 * had when the handle was made. So a handle in use is replaced from time to time by a
 * new one, and used until the new one is ready. Call all functions from the loop.
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
	/* GID of the target; all zeros: the target is addressed by LID alone */
	uint8_t gid[16];
	uint32_t flow_label;
	uint16_t lid;
	uint8_t gid_index; /* index of the own GID */
	uint8_t traffic_class;
	uint8_t sl;
	uint8_t port;
};

struct verbs_ah_calls { /* The cache calls them in threads; both return 0 or -errno. */
	int (*create)(const struct verbs_ah_key *key, struct ibv_ah **ret, void *arg);
	int (*destroy)(struct ibv_ah *ah, void *arg);
	void *arg;
};

struct verbs_ah_options {
	size_t max_handles; /* 0: 4096 */
	/* age in ns at which a handle in use is replaced; 0: 60 s */
	int64_t refresh_ns;
	struct verbs_ah_calls calls;
	/*
	 * Called once for each key for which verbs_ah_get has returned -EINPROGRESS. r:
	 * 0: verbs_ah_get returns the handle now; else the reason why there is none
	 * (-ECANCELED: the pool was stopped).
	 */
	void (*on_ready)(const struct verbs_ah_key *key, int r, void *arg);
	void *arg;
	rm_mono_t (*now)(void); /* NULL: rm_mono_now */
};

#define VERBS_AH_ERRORS 8

struct verbs_ah_counts {
	uint64_t hits, created, destroyed, evicted, refreshed;
	/* replacements that could not be made; the old handle stays in use */
	uint64_t refresh_failed;
	/* handles that could not be destroyed, and are leaked */
	uint64_t destroy_failed;
	uint64_t refused_full; /* requests refused because every handle is in use */
	/* requests refused because the target did not resolve shortly before */
	uint64_t refused_bad;
	struct {
		int error; /* a positive errno; 0: all other errors */
		uint64_t count;
		/* in the order of first occurrence; the last entry is for all other
		 * errors */
	} failed[VERBS_AH_ERRORS];
	uint64_t failures;         /* number of failures, over all errors */
	uint64_t waiting, handles; /* at present */
};

/* The pool must outlive the cache. */
int verbs_ah_cache_new(struct priority_pool *pool,
    const struct verbs_ah_options *options, struct verbs_ah_cache **ret);
/*
 * Ends the cache: no handle is made, on_ready is not called, and each handle is
 * destroyed when it is put. Returns 0: no handle is left; -EINPROGRESS: on_stopped is
 * called once none is left, after which calls.arg and the protection domain are not
 * used any more.
 */
int verbs_ah_cache_stop(
    struct verbs_ah_cache *cache, void (*on_stopped)(void *arg), void *arg);
/*
 * Destroys all handles that are left, also those that were not put. Call it only when
 * no send uses a handle any more, and when the cache has stopped or priority_pool_stop
 * has returned, which waits for running calls: a running call still uses calls.arg.
 * NULL is allowed.
 */
void verbs_ah_cache_free(struct verbs_ah_cache *cache);

/*
 * Returns 0: *ret may be used until verbs_ah_put, which must be called once per
 * successful get, when the send has completed. -EINPROGRESS: on_ready will be called.
 * -ENOBUFS: every handle is in use or being made. -ESHUTDOWN: the cache was stopped.
 * -ENOMEM. Any other error is the reason why the target did not resolve.
 */
int verbs_ah_get(struct verbs_ah_cache *cache, const struct verbs_ah_key *key,
    rm_mono_t now, struct verbs_ah **ret);
struct ibv_ah *verbs_ah_handle(const struct verbs_ah *ah);
void verbs_ah_put(struct verbs_ah *ah);

/* The path to this target may have changed: no caller gets its present handles any
 * more, and if it did not resolve it may be tried again at once. gid NULL: all
 * targets. */
void verbs_ah_forget(struct verbs_ah_cache *cache, const uint8_t gid[16]);

const struct verbs_ah_counts *verbs_ah_counts(const struct verbs_ah_cache *cache);

#endif
