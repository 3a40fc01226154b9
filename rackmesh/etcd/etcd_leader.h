/*
 * etcd_leader - elects one leader among several processes, by a key with a lease.
 *
 * The process that creates the key leads while its lease lives. A leader steps down, by
 * its own monotonic clock, when the TTL has passed since it *sent* the last successful
 * refresh: that is before etcd can give the key to another process, however long this
 * process was stopped. Writes must be fenced, too: every transaction of a leader needs
 * the compares of rm_etcd_leader_fence.
 *
 * Source: Burrows, "The Chubby lock service", 2006 (sequencers); etcd's concurrency
 * recipes.
 */
#ifndef RACKMESH_ETCD_ETCD_LEADER_H
#define RACKMESH_ETCD_ETCD_LEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd.h"

#define RM_ETCD_FENCE 2 /* compares */

struct rm_etcd_leader;

struct rm_etcd_leader_options { /* copied */
	const char *key;
	const char *value; /* name of this process */
	int64_t ttl_s;     /* 0: 2 s, the least that etcd grants; at most an hour */
};

struct rm_etcd_leader_callbacks {
	/* May be called again after on_follow, with the same fence, if the lease turns
	 * out to be alive. */
	void (*on_lead)(void *arg);
	void (*on_follow)(void *arg); /* called only after on_lead; both may be NULL */
	void *arg;
};

struct rm_etcd_leader_counts {
	/* lost: how often this process has stopped leading */
	uint64_t campaigns, won, lost;
};

int rm_etcd_leader_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_leader_options *options,
    const struct rm_etcd_leader_callbacks *callbacks, struct rm_etcd_leader **ret);
/* Revokes the lease, so that another process can lead at once. It waits at most 300 ms,
 * and may fail. */
void rm_etcd_leader_free(struct rm_etcd_leader *leader);

/* Sets the value of the key; a leader writes it with one of its next refreshes. */
int rm_etcd_leader_set_value(struct rm_etcd_leader *leader, const char *value);

/* For a caller that watches the key: reports whether it exists. If it does not, this
 * process tries to create it at once, not only within ttl / 2. */
void rm_etcd_leader_seen(struct rm_etcd_leader *leader, bool there);

/* Returns true if this process leads, by its own clock. Call it before any action that
 * only a leader may take. */
bool rm_etcd_leader_leads(struct rm_etcd_leader *leader, rm_mono_t now);
/* Compares for the txns of a leader: they hold only during this leadership, and never
 * without one. They compare revision and lease of the leader's key: another cluster may
 * reach the same revision, but does not grant the same lease. */
void rm_etcd_leader_fence(
    const struct rm_etcd_leader *leader, struct rm_etcd_compare ret[RM_ETCD_FENCE]);
/* Returns the revision at which this leadership began. */
int64_t rm_etcd_leader_created(const struct rm_etcd_leader *leader);
const struct rm_etcd_leader_counts *rm_etcd_leader_counts(
    const struct rm_etcd_leader *leader);

#endif
