/*
 * store_inbox - what a mirror of etcd tells, handed on in its order but in shares: to
 * read thousands of registrations and plans takes longer than a lease lasts.
 *
 * What comes while there is time is handed on at once; what is too much for one turn of
 * the loop is copied and waits. Beyond its bound it does not wait: then the loop does.
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

struct store_inbox_callbacks { /* as of the mirror, whose restarts go with each */
	void (*on_put)(const struct rm_etcd_value *value, uint64_t restarts, void *arg);
	void (*on_delete)(const char *key, uint64_t restarts, void *arg);
	void (*on_synced)(int64_t revision, uint64_t restarts, void *arg);
	void *arg;
};

struct store_inbox_counts {
	uint64_t deferred;   /* things that had to wait */
	uint64_t undeferred; /* that could not, for want of room */
	uint64_t waiting, waiting_bytes;
};

int store_inbox_new(struct rm_loop *loop, const struct store_inbox_callbacks *callbacks,
    struct store_inbox **ret);
void store_inbox_free(struct store_inbox *inbox);

void store_inbox_put(
    struct store_inbox *inbox, const struct rm_etcd_value *value, uint64_t restarts);
void store_inbox_delete(struct store_inbox *inbox, const char *key, uint64_t restarts);
/* Ends what came together. */
void store_inbox_synced(struct store_inbox *inbox, int64_t revision, uint64_t restarts);

/* All that came was handed on. */
bool store_inbox_is_empty(const struct store_inbox *inbox);
const struct store_inbox_counts *store_inbox_counts(const struct store_inbox *inbox);

#endif
