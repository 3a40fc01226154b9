/*
 * store_writes - a leader's queue of writes to etcd, in order, key by key.
 *
 * Changes are gathered for a moment and go in transactions of bounded size, one at a
 * time, each with the leader's fence. A write that failed, or whose result is not
 * known, is repeated with the same values and the same fence; newer changes follow
 * after it, so that there are never two writes of one key at a time. When the fence no
 * longer holds, all writes are dropped: another controller leads.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_WRITES_H
#define REGION_CONTROLLER_ETCD_STORE_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd.h"
#include "rackmesh/etcd/etcd_leader.h"
#include "region-controller/store/store.h"

#define STORE_WRITES_OPS 100          /* of one transaction */
#define STORE_WRITES_BYTES (1u << 20) /* of one, unless a single value is larger */

struct rm_loop;
struct store_writes;

struct store_writes_options {
	struct rm_etcd *etcd;
	int64_t gather_ns; /* before the first write goes */
	/* False: this controller does not lead, nothing is written now. All compares
	 * are of one key, which is copied. */
	bool (*fence)(struct rm_etcd_compare ret[RM_ETCD_FENCE], void *arg);
	/* A lower bound of the revision of the whole store. */
	int64_t (*revision)(void *arg);
	/* The value of this key is larger than etcd accepts: it is not written. */
	void (*on_too_large)(const char *key, size_t len, void *arg);
	/* The fence did not hold. */
	void (*on_fenced)(void *arg);
	/* It failed and is tried again; called once until it works again. */
	void (*on_failing)(int r, const char *error, void *arg);
	void *arg;
};

struct store_writes_counts {
	uint64_t transactions, operations, bytes;
	uint64_t failed; /* transactions, each repeated */
	uint64_t fenced; /* transactions that came too late */
	uint64_t too_large;
	uint64_t waiting; /* keys, now */
};

int store_writes_new(struct rm_loop *loop, const struct store_writes_options *options,
    struct store_writes **ret);
/* Calls the reply of waiting writes with -ECANCELED. */
void store_writes_free(struct store_writes *writes);

/* text NULL: the key is deleted; else it is taken, also on failure. reply (may be NULL)
 * is given once, unless this fails: 0, -ECANCELED when a newer value replaced it or
 * leadership is lost, -ETIMEDOUT when it is lost and the write may have been done,
 * -EMSGSIZE. -ENOMEM. */
int store_writes_put(struct store_writes *writes, const char *key, char *text,
    const struct store_reply *reply);
/* Becomes text when its turn comes. */
int store_writes_put_plan(
    struct store_writes *writes, const char *key, const struct store_draft *draft);

/* True: a write of this key waits or is under way. */
bool store_writes_waits(const struct store_writes *writes, const char *key);
/* This controller lost leadership. */
void store_writes_drop(struct store_writes *writes);
const struct store_writes_counts *store_writes_counts(
    const struct store_writes *writes);

#endif
