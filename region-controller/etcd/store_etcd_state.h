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
#include "rackmesh/etcd/etcd_presence.h"
#include "region-controller/etcd/store_compact.h"
#include "region-controller/etcd/store_inbox.h"
#include "region-controller/etcd/store_writes.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_topology.h"

#define STORE_MAX_CONTROLLERS 16 /* further controllers are left out, and counted */

struct store_known { /* a registration that etcd has */
	UT_hash_handle hh;
	struct {
		uint64_t guid, port;
	} id;
	uint64_t hash; /* hash of the members whose change is written */
};

struct store_etcd_counts {
	uint64_t bad_values;     /* invalid values, counted at each reading */
	uint64_t bad_topologies; /* topologies among these */
	/* registrations that were not written, since etcd has them already */
	uint64_t unchanged;
	uint64_t controllers_left_out; /* keys of controllers beyond the limit */
};

struct store_etcd {
	struct store store; /* must be the first member */
	struct rm_loop *loop;
	char name[RM_NAME_BYTES], region[RM_NAME_BYTES];
	struct rm_http_client *http;
	struct rm_etcd *etcd;
	struct rm_etcd_mirror *mirror;
	struct store_inbox *inbox; /* passes on the mirror's changes */
	struct rm_etcd_leader *leader;
	struct rm_etcd_presence *presence;
	struct store_compact *compact;
	int64_t relist_ns, lease_ttl_s, compact_after_ns;
	struct store_callbacks callbacks;
	struct wire_writer *writer;

	/* writes: queue for registrations and plans; asked: queue for requests of
	 * operators, which do not wait for the writes of the other queue. */
	struct store_writes *writes, *asked;
	struct store_known *known;

	struct store_topology topology;
	bool has_topology; /* etcd has a topology, valid or not */
	struct rm_error bad_topology;
	/* version 0: no brake was ever set; brake.by points to brake_by */
	struct store_brake brake;
	char brake_by[RM_NAME_BYTES];
	bool has_brake; /* etcd has a brake */
	/* Somebody else has written or deleted the brake, so its number may be lower
	 * than that of the brake in use. */
	bool brake_by_hand;

	char leader_name[RM_NAME_BYTES];
	/* Fingerprints of the probe keys of this controller and of the leader;
	 * keys_differ: they are different. */
	char keys[32], leader_keys[32];
	bool keys_differ;
	/* Fires if the leader's key has no lease for so long that an operator must have
	 * written it: it would never expire. */
	struct rm_timer *unleased;
	bool is_unleased; /* the timer has fired */
	struct store_controller controllers[STORE_MAX_CONTROLLERS];
	size_t controller_count;
	rm_wall_t since;
	bool is_loaded; /* all keys were reported at least once */
	bool announced; /* on_lead was called in this leadership */
	/* The cluster is another one, or was restored from a backup. So a key that is
	 * missing in it was not necessarily deleted. */
	bool is_restart;
	uint64_t restarts;

	char trouble[sizeof(struct rm_error) + 128];
	struct store_etcd_counts counts;
};

/* The arg of all of these is the store. */
extern const struct rm_etcd_mirror_callbacks store_etcd_mirror_callbacks;
extern const struct store_inbox_callbacks store_etcd_inbox_callbacks;
extern const struct rm_etcd_leader_callbacks store_etcd_leader_callbacks;
extern const struct store_writes_options store_etcd_writes_options;
extern const struct store_compact_options store_etcd_compact_options;
bool store_etcd_leads(struct store *store, rm_mono_t now);
/* Sets the fingerprint of this controller's probe keys. */
int store_etcd_set_keys(struct store *store, const char *print);
/* Callback of the timer `unleased`; arg: the store. */
void store_etcd_report_unleased(void *arg);

int store_etcd_write_topology(struct store_etcd *etcd, const char *text, size_t len,
    const struct store_reply *reply);
int store_etcd_write_brake(struct store_etcd *etcd, const struct store_brake *brake,
    const struct store_reply *reply);

void store_etcd_know(struct store_etcd *etcd, struct rm_rnic_id id, uint64_t hash);
void store_etcd_forget(struct store_etcd *etcd, struct rm_rnic_id id);

/* A key below STORE_KEY_TRACED was put or deleted; name is the rest of the key. */
void store_etcd_traced(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value);
void store_etcd_traced_gone(struct store_etcd *etcd, const char *name);
/* A key below STORE_KEY_CONTROLLER was put or deleted; name is the rest of the key. */
void store_etcd_controller(
    struct store_etcd *etcd, const char *name, const struct rm_etcd_value *value);
void store_etcd_controller_gone(struct store_etcd *etcd, const char *name);
/* Logs and counts a value that is ignored. */
void store_etcd_refuse(
    struct store_etcd *etcd, const char *key, const struct rm_error *error);

#endif
