/*
 * store_etcd_state - the etcd store's struct; private to store_etcd*.c.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_ETCD_STATE_H
#define REGION_CONTROLLER_ETCD_STORE_ETCD_STATE_H

#include <uthash.h>

#include "rackmesh/core/error.h"
#include "rackmesh/etcd/etcd.h"
#include "rackmesh/etcd/etcd_leader.h"
#include "rackmesh/etcd/etcd_mirror.h"
#include "region-controller/etcd/store_compact.h"
#include "region-controller/etcd/store_inbox.h"
#include "region-controller/etcd/store_writes.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_topology.h"

struct store_known { /* a registration as it stands in etcd */
	UT_hash_handle hh;
	struct {
		uint64_t guid, port;
	} id;
	uint64_t hash; /* of the fields that are written only if they change */
};

struct store_etcd_counts {
	uint64_t bad_values;     /* invalid ones, each time they are read */
	uint64_t bad_topologies; /* those of them that are topologies */
	uint64_t unchanged;      /* registrations not written, since etcd has them */
};

struct store_etcd {
	struct store store; /* first */
	struct rm_loop *loop;
	char name[RM_NAME_BYTES], region[RM_NAME_BYTES];
	struct rm_http_client *http;
	struct rm_etcd *etcd;
	struct rm_etcd_mirror *mirror;
	struct store_inbox *inbox; /* the mirror's changes go through it */
	struct rm_etcd_leader *leader;
	struct store_compact *compact;
	int64_t relist_ns, lease_ttl_s, compact_after_ns;
	struct store_callbacks callbacks;
	struct wire_writer *writer;

	/* Registrations and plans; people's requests do not wait behind them. */
	struct store_writes *writes, *asked;
	struct store_known *known;

	struct store_topology topology;
	bool has_topology; /* in etcd, be it good or bad */
	struct rm_error bad_topology;
	struct store_brake brake; /* version 0: none was ever seen; by is brake_by */
	char brake_by[RM_NAME_BYTES];
	bool has_brake; /* in etcd */
	/* Somebody else wrote or deleted it: its number may be lower than that of the
	 * held one. */
	bool brake_by_hand;

	char leader_name[RM_NAME_BYTES];
	/* Prints of probe keys: ours, the leader's, and whether the leader has others.
	 */
	char keys[32], leader_keys[32];
	bool keys_differ;
	/* A leader's key without a lease was written by a person, and never expires. */
	struct rm_timer *unleased;
	bool is_unleased; /* for so long that it cannot be a race */
	rm_wall_t since;
	bool is_loaded; /* all keys were reported once */
	bool announced; /* on_lead was called */
	/* It is another cluster, or a restored one: keys that are missing there were
	 * not deleted. */
	bool is_restart;
	uint64_t restarts;

	char trouble[sizeof(struct rm_error) + 128];
	struct store_etcd_counts counts;
};

/* All with the store as arg. */
extern const struct rm_etcd_mirror_callbacks store_etcd_mirror_callbacks;
extern const struct store_inbox_callbacks store_etcd_inbox_callbacks;
extern const struct rm_etcd_leader_callbacks store_etcd_leader_callbacks;
extern const struct store_writes_options store_etcd_writes_options;
extern const struct store_compact_options store_etcd_compact_options;
bool store_etcd_leads(struct store *store, rm_mono_t now);
/* Ours are others now. */
int store_etcd_set_keys(struct store *store, const char *print);
/* For store_etcd's timer; arg is the store. */
void store_etcd_report_unleased(void *arg);

int store_etcd_write_topology(struct store_etcd *etcd, const char *text, size_t len,
    const struct store_reply *reply);
int store_etcd_write_brake(struct store_etcd *etcd, const struct store_brake *brake,
    const struct store_reply *reply);

void store_etcd_know(struct store_etcd *etcd, struct rm_rnic_id id, uint64_t hash);
void store_etcd_forget(struct store_etcd *etcd, struct rm_rnic_id id);

/* A key below STORE_KEY_TRACED, of which name is the rest, was put or deleted. */
void store_etcd_traced(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value);
void store_etcd_traced_gone(struct store_etcd *etcd, const char *name);
/* The value is ignored: logs and counts that. */
void store_etcd_refuse(
    struct store_etcd *etcd, const char *key, const struct rm_error *error);

#endif
