/*
 * store - keeps a region's topology, registrations, plans, leader and brake.
 *
 * This is the interface of two stores. store_file has a topology file. Its controller
 * always leads; registrations are not kept, and plans and brake are in memory only, as
 * aggregators report them again after a restart. store_etcd keeps everything in an etcd
 * cluster, for several controllers, one of which leads. Only the leader may put a
 * value. A put counts when the store reports, by a callback, that it has the value;
 * followers get the same callbacks. Callbacks may be called from inside store_start,
 * store_reload and the puts. All arguments are borrowed for the call.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_H
#define REGION_CONTROLLER_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "region-controller/store/store_record.h"

struct rm_metrics;
struct rm_topology;
struct rm_error;
struct store;
struct store_status;
struct traced_link;

struct store_callbacks {
	/* A topology was read: use it, or return < 0 to keep the old one. The old
	 * topology is freed after this function has returned. */
	int (*on_topology)(const struct rm_topology *fresh, void *arg);
	void (*on_rnic)(const struct store_rnic *rnic, void *arg);
	void (*on_rnic_gone)(struct rm_rnic_id id, void *arg);
	void (*on_plan)(const struct store_plan *plan, void *arg);
	void (*on_plan_gone)(const char *tor, void *arg);
	void (*on_brake)(const struct store_brake *brake, void *arg);
	void (*on_traced)(const struct traced_link *link, void *arg);
	void (*on_traced_gone)(const char *from, const char *to, void *arg);
	/* This controller leads; before, it has got all data of the store. The function
	 * is called again during leadership if another store has replaced the old one:
	 * then put again what the new store lacks. */
	void (*on_lead)(void *arg);
	void (*on_follow)(void *arg);
	void *arg;
};

struct store_reply { /* The callback that gets the result of a request, once. */
	/* r: the result of the store; sentence: "", or the reason of a failure. done
	 * NULL: nothing is called. */
	void (*done)(int r, const char *sentence, uint64_t token, void *arg);
	uint64_t token; /* passed to done */
	void *arg;
};

struct store_methods {
	const struct rm_topology *(*topology)(const struct store *store);
	const char *(*topology_text)(const struct store *store, size_t *len);
	int (*start)(struct store *store, const struct store_callbacks *callbacks);
	int (*reload)(struct store *store, struct rm_error *error);
	int (*import)(struct store *store, const char *text, size_t len,
	    const struct store_reply *reply, struct rm_error *error);
	bool (*leads)(struct store *store, rm_mono_t now);
	int (*put_rnic)(struct store *store, const struct store_rnic *rnic);
	int (*drop_rnic)(struct store *store, struct rm_rnic_id id);
	int (*put_plan)(struct store *store, const struct store_draft *draft);
	int (*drop_plan)(struct store *store, const char *tor);
	int (*put_traced)(struct store *store, const struct traced_link *link);
	int (*drop_traced)(struct store *store, const struct traced_link *link);
	int (*set_brake)(struct store *store, uint32_t rate_permille, const char *by,
	    const struct store_reply *reply);
	/* NULL: the store is not shared */
	int (*set_keys)(struct store *store, const char *print);
	void (*status)(
	    const struct store *store, rm_mono_t now, struct store_status *ret);
	/* NULL: the store is not shared */
	size_t (*controllers)(
	    const struct store *store, const struct store_controller **ret);
	int (*add_metrics)(struct store *store, struct rm_metrics *metrics);
	void (*free)(struct store *store);
};

struct store { /* the first member of each kind of store */
	const struct store_methods *methods;
};

/* Returns the topology in use, borrowed until the next change; NULL: there is none yet.
 */
static inline const struct rm_topology *
store_topology(const struct store *store)
{
	return store->methods->topology(store);
}

/* Returns the text from which the topology was read; NULL: there is none yet. */
static inline const char *
store_topology_text(const struct store *store, size_t *len)
{
	return store->methods->topology_text(store, len);
}

/* Starts the store, which calls callbacks from now on. Call it once, before anything is
 * put. */
static inline int
store_start(struct store *store, const struct store_callbacks *callbacks)
{
	return store->methods->start(store, callbacks);
}

/* Reads the topology again. On failure nothing changes, and error has the reason. */
static inline int
store_reload(struct store *store, struct rm_error *error)
{
	return store->methods->reload(store, error);
}

/* Replaces the topology. < 0: refused, and error has the reason; else reply is called
 * once, perhaps from inside this function. */
static inline int
store_import(struct store *store, const char *text, size_t len,
    const struct store_reply *reply, struct rm_error *error)
{
	return store->methods->import(store, text, len, reply, error);
}

/* True: this controller leads, by the clock. Call it before anything that only a leader
 * may do. */
static inline bool
store_leads(struct store *store, rm_mono_t now)
{
	return store->methods->leads(store, now);
}

/* A put returns < 0 only if the value will certainly not be written. A value that the
 * store has already is not written again. */
static inline int
store_put_rnic(struct store *store, const struct store_rnic *rnic)
{
	return store->methods->put_rnic(store, rnic);
}

static inline int
store_drop_rnic(struct store *store, struct rm_rnic_id id)
{
	return store->methods->drop_rnic(store, id);
}

static inline int
store_put_plan(struct store *store, const struct store_draft *draft)
{
	return store->methods->put_plan(store, draft);
}

static inline int
store_drop_plan(struct store *store, const char *tor)
{
	return store->methods->drop_plan(store, tor);
}

/* Puts a link that traces have found and the topology does not have. */
static inline int
store_put_traced(struct store *store, const struct traced_link *link)
{
	return store->methods->put_traced(store, link);
}

static inline int
store_drop_traced(struct store *store, const struct traced_link *link)
{
	return store->methods->drop_traced(store, link);
}

/* Like store_import, but without error: only a follower is refused. */
static inline int
store_set_brake(struct store *store, uint32_t rate_permille, const char *by,
    const struct store_reply *reply)
{
	return store->methods->set_brake(store, rate_permille, by, reply);
}

/* Sets the fingerprint of new probe keys of this controller. */
static inline int
store_set_keys(struct store *store, const char *print)
{
	return store->methods->set_keys == NULL
		   ? 0
		   : store->methods->set_keys(store, print);
}

static inline void
store_status(const struct store *store, rm_mono_t now, struct store_status *ret)
{
	store->methods->status(store, now, ret);
}

/* True: several controllers may use the store. */
static inline bool
store_is_shared(const struct store *store)
{
	return store->methods->controllers != NULL;
}

/* Returns all controllers of the region that run, including this one; borrowed until
 * the next turn of the loop. 0: the store has only one controller, or it does not
 * answer. */
static inline size_t
store_controllers(const struct store *store, const struct store_controller **ret)
{
	return store->methods->controllers == NULL
		   ? 0
		   : store->methods->controllers(store, ret);
}

static inline int
store_add_metrics(struct store *store, struct rm_metrics *metrics)
{
	return store->methods->add_metrics(store, metrics);
}

static inline void
store_free(struct store *store) /* NULL is fine */
{
	if (store != NULL)
		store->methods->free(store);
}

#endif
