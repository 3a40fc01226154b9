/*
 * store - where the topology comes from, and later where plans are kept for all.
 *
 * The interface behind which an embedded file or an etcd cluster stands. The file keeps
 * nothing else: the registry and the plans then live in memory, and aggregators bring
 * back what a restart forgets.
 */
#ifndef REGION_CONTROLLER_STORE_H
#define REGION_CONTROLLER_STORE_H

#include <stddef.h>

struct rm_topology;
struct rm_why;
struct store;

/* Takes the new topology into use, or returns < 0: then the old one stays. The old
 * one lives until this has returned. */
typedef int store_on_change(const struct rm_topology *fresh, void *arg);

struct store_methods {
	const struct rm_topology *(*topology)(const struct store *store);
	int (*reload)(struct store *store, struct rm_why *why);
	void (*watch)(struct store *store, store_on_change *on_change, void *arg);
	void (*free)(struct store *store);
};

struct store { /* the first member of every kind of store */
	const struct store_methods *methods;
};

/* Borrowed until the next change; never NULL. */
static inline const struct rm_topology *
store_topology(const struct store *store)
{
	return store->methods->topology(store);
}

/* Looks anew at once. On failure all stays, and why says what is wrong. */
static inline int
store_reload(struct store *store, struct rm_why *why)
{
	return store->methods->reload(store, why);
}

static inline void
store_watch(struct store *store, store_on_change *on_change, void *arg)
{
	store->methods->watch(store, on_change, arg);
}

static inline void
store_free(struct store *store) /* NULL is fine */
{
	if (store != NULL)
		store->methods->free(store);
}

#endif
