/*
 * store - keeps a region's topology, registrations, plans, leader and brake.
 *
 * The interface behind which an embedded file or an etcd cluster stands. The file keeps
 * a topology; whoever opens it leads, registrations are not kept, and plans and brake
 * live in memory: aggregators bring back what a restart forgets. etcd keeps everything
 * for several controllers, one of which leads.
 *
 * Only who leads may put something, and what is put counts when the store says that it
 * has it: through the callbacks, which a follower gets, too. Callbacks may come from
 * inside store_start, store_reload and the puts. All that is handed over is borrowed
 * for the call.
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
	/* Takes the new topology into use, or returns < 0: then the old one stays. The
	 * old one lives until this has returned. */
	int (*on_topology)(const struct rm_topology *fresh, void *arg);
	void (*on_rnic)(const struct store_rnic *rnic, void *arg);
	void (*on_rnic_gone)(struct rm_rnic_id id, void *arg);
	void (*on_plan)(const struct store_plan *plan, void *arg);
	void (*on_plan_gone)(const char *tor, void *arg);
	void (*on_brake)(const struct store_brake *brake, void *arg);
	void (*on_traced)(const struct traced_link *link, void *arg);
	void (*on_traced_gone)(const char *from, const char *to, void *arg);
	/* All data of the store was passed on before on_lead. Called again during
	 * leadership when another store has replaced the old one: what is missing there
	 * has to be put again. */
	void (*on_lead)(void *arg);
	void (*on_follow)(void *arg);
	void *arg;
};

struct store_reply { /* called once with the result */
	/* r: the store's result; sentence: "" or the reason. NULL: not called. */
	void (*done)(int r, const char *sentence, uint64_t token, void *arg);
	uint64_t token; /* the caller's */
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
	int (*add_metrics)(struct store *store, struct rm_metrics *metrics);
	void (*free)(struct store *store);
};

struct store { /* the first member of every kind of store */
	const struct store_methods *methods;
};

/* Borrowed until the next change; NULL: none yet. */
static inline const struct rm_topology *
store_topology(const struct store *store)
{
	return store->methods->topology(store);
}

/* The text that a person wrote; NULL: none yet. */
static inline const char *
store_topology_text(const struct store *store, size_t *len)
{
	return store->methods->topology_text(store, len);
}

/* From now on; once, before anything is put. */
static inline int
store_start(struct store *store, const struct store_callbacks *callbacks)
{
	return store->methods->start(store, callbacks);
}

/* Reads again. On failure nothing changes, and error has the reason. */
static inline int
store_reload(struct store *store, struct rm_error *error)
{
	return store->methods->reload(store, error);
}

/* < 0: refused, error has the reason; else the reply comes once, perhaps at once. */
static inline int
store_import(struct store *store, const char *text, size_t len,
    const struct store_reply *reply, struct rm_error *error)
{
	return store->methods->import(store, text, len, reply, error);
}

/* Reads the clock: call it before anything that only a leader may do. */
static inline bool
store_leads(struct store *store, rm_mono_t now)
{
	return store->methods->leads(store, now);
}

/* The puts return < 0 only if the write will not happen. A value equal to the store's
 * is not written again. */
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

/* A link that traces found and that is not in the topology. */
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

/* As store_import; without a text, since only a follower is refused. */
static inline int
store_set_brake(struct store *store, uint32_t rate_permille, const char *by,
    const struct store_reply *reply)
{
	return store->methods->set_brake(store, rate_permille, by, reply);
}

/* The print of other probe keys, which this controller has from now on. */
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
