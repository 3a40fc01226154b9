/*
 * store_writes - a leader's queue of writes to etcd, in order, key by key.
 *
 * Changes are gathered for gather_ns, then written in transactions of bounded size, one
 * at a time, each with the leader's fence. If a transaction fails, or its result is not
 * known, it is repeated with the same values and the same fence. Newer changes follow
 * after it, so there are never two writes of one key at a time. When the fence no
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

#define STORE_WRITES_OPS 100 /* maximum number of operations of one transaction */
/* maximum number of bytes of one transaction, except for a single larger value */
#define STORE_WRITES_BYTES (1u << 20)

struct rm_loop;
struct store_writes;

struct store_writes_options {
	struct rm_etcd *etcd;
	int64_t gather_ns; /* ns from the first change to its write */
	/* Fills in the compares that each transaction must contain, all of them for one
	 * key, which is copied. False: this controller does not lead, so nothing is
	 * written now. */
	bool (*fence)(struct rm_etcd_compare ret[RM_ETCD_FENCE], void *arg);
	/* Returns a revision that the store has reached. */
	int64_t (*revision)(void *arg);
	/* The value is larger than etcd accepts, and is not written. */
	void (*on_too_large)(const char *key, size_t len, void *arg);
	/* etcd has refused a transaction because of its fence. */
	void (*on_fenced)(void *arg);
	/* A transaction has failed and will be repeated. Called for the first of
	 * several failures in a row only. */
	void (*on_failing)(int r, const char *error, void *arg);
	void *arg;
};

struct store_writes_counts {
	uint64_t transactions, operations, bytes;
	uint64_t failed; /* transactions that failed; each is repeated */
	uint64_t fenced; /* transactions refused because of their fence */
	uint64_t too_large;
	uint64_t waiting; /* number of keys with a write, at present */
};

int store_writes_new(struct rm_loop *loop, const struct store_writes_options *options,
    struct store_writes **ret);
/* Calls the replies of all waiting writes with -ECANCELED. */
void store_writes_free(struct store_writes *writes);

/* Writes text, and takes ownership of it, also on failure; NULL: deletes the key.
 * Unless this fails (-ENOMEM), reply (may be NULL) is called once with: 0; -ECANCELED:
 * a newer value has replaced it, or leadership was lost before the write; -ETIMEDOUT:
 * leadership was lost, and it is not known whether etcd has the value; -EMSGSIZE: the
 * value is too large. */
int store_writes_put(struct store_writes *writes, const char *key, char *text,
    const struct store_reply *reply);
/* Writes a plan, whose text is made just before it is written. draft is copied. */
int store_writes_put_plan(
    struct store_writes *writes, const char *key, const struct store_draft *draft);

/* True: a write of this key waits or is under way. */
bool store_writes_waits(const struct store_writes *writes, const char *key);
/* Drops all writes, because this controller does not lead any more. */
void store_writes_drop(struct store_writes *writes);
const struct store_writes_counts *store_writes_counts(
    const struct store_writes *writes);

#endif
