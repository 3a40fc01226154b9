/*
 * store_inbox - passes on the changes of an etcd mirror, in order, in small portions:
 * reading thousands of registrations and plans at once would take longer than a lease
 * lasts.
 *
 * Changes are passed on at once while there is time in this turn of the loop; the rest
 * is copied and waits. When the queue is full, changes are passed on at once, and the
 * loop waits.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_INBOX_H
#define REGION_CONTROLLER_ETCD_STORE_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd_mirror.h"

#define STORE_INBOX_BYTES (1u << 30)
#define STORE_INBOX_TURN_NS (20 * RM_NS_PER_MS)

struct rm_loop;
struct store_inbox;

/* Like the mirror's callbacks. restarts: the number of the mirror's restarts at that
 * change. */
struct store_inbox_callbacks {
	void (*on_put)(const struct rm_etcd_value *value, uint64_t restarts, void *arg);
	void (*on_delete)(const char *key, uint64_t restarts, void *arg);
	void (*on_synced)(int64_t revision, uint64_t restarts, void *arg);
	void *arg;
};

struct store_inbox_counts {
	uint64_t deferred; /* changes that had to wait */
	/* changes that were passed on at once because the queue was full */
	uint64_t undeferred;
	uint64_t waiting, waiting_bytes;
};

int store_inbox_new(struct rm_loop *loop, const struct store_inbox_callbacks *callbacks,
    struct store_inbox **ret);
void store_inbox_free(struct store_inbox *inbox);

void store_inbox_put(
    struct store_inbox *inbox, const struct rm_etcd_value *value, uint64_t restarts);
void store_inbox_delete(struct store_inbox *inbox, const char *key, uint64_t restarts);
/* The changes so far belong together, and etcd has delivered everything up to this
 * revision. */
void store_inbox_synced(struct store_inbox *inbox, int64_t revision, uint64_t restarts);

/* True: all changes were passed on. */
bool store_inbox_is_empty(const struct store_inbox *inbox);
const struct store_inbox_counts *store_inbox_counts(const struct store_inbox *inbox);

#endif
