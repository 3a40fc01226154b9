/*
 * etcd_leader - one leader among several processes: a key with a lease.
 *
 * Whoever creates the key leads while its lease lives. By its own monotonic clock a
 * leader steps down when it could not refresh the lease for the TTL since it *asked*
 * for the last good refresh: before etcd can give the key to somebody else, however
 * long the process stood still. What is written must be fenced all the same: put the
 * compares into every txn.
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
	const char *value; /* who we are */
	int64_t ttl_s;     /* 0: 2 s, the least that etcd grants; at most an hour */
};

struct rm_etcd_leader_callbacks {
	/* Also again after on_follow, with the fence as it was, when the lease turns
	 * out to have lived on. */
	void (*on_lead)(void *arg);
	void (*on_follow)(void *arg); /* after on_lead only; either may be NULL */
	void *arg;
};

struct rm_etcd_leader_counts {
	uint64_t campaigns, won, lost; /* lost: stepped down */
};

int rm_etcd_leader_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_leader_options *options,
    const struct rm_etcd_leader_callbacks *callbacks, struct rm_etcd_leader **ret);
/* Revokes its lease, so that another can follow at once: best effort, waits at most
 * 300 ms. */
void rm_etcd_leader_free(struct rm_etcd_leader *leader);

/* The key is gone or there, as somebody who watches it has seen: campaigns at once when
 * it is gone, instead of within ttl / 2. */
void rm_etcd_leader_seen(struct rm_etcd_leader *leader, bool there);

/* Looks at the clock: call it before anything that only a leader may do. */
bool rm_etcd_leader_leads(struct rm_etcd_leader *leader, rm_mono_t now);
/* For the txns of a leader: holds only while it is this leadership; when it does not
 * lead, never. By revision and lease: another cluster may count alike, but does not
 * give the same lease. Both are of the leader's key. */
void rm_etcd_leader_fence(
    const struct rm_etcd_leader *leader, struct rm_etcd_compare ret[RM_ETCD_FENCE]);
/* The revision that this leadership began with. */
int64_t rm_etcd_leader_created(const struct rm_etcd_leader *leader);
const struct rm_etcd_leader_counts *rm_etcd_leader_counts(
    const struct rm_etcd_leader *leader);

#endif
