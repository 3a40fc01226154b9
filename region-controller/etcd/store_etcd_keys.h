/*
 * store_etcd_keys - the keys in etcd and their values, except plans. Pure. The
 * values are not trusted, so the functions that read them are fuzzed.
 *
 * Below /rackmesh/<region>/:
 *   topology/region   the topology as a person imported it, docs/topology.md
 *   topology/traced/<from>/<to>   a link that traces found (store_topology.h)
 *   rnic/<id>         a registration
 *   pinglist/<tor>    a ToR's plan (store_plan.h)
 *   controller/<name> {"version": ...}, of each controller that runs, with a lease of
 * its own leader            {"name": ..., "keys": print of its probe keys}, with its
 * lease brake             {"rate_permille": N, "by": ..., "when": ..., "base": N}
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_ETCD_KEYS_H
#define REGION_CONTROLLER_ETCD_STORE_ETCD_KEYS_H

#include <jansson.h>

#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "region-controller/store/store_record.h"

struct rm_error;

#define STORE_KEY_BYTES 256
#define STORE_KEY_TOPOLOGY "topology/region"
#define STORE_KEY_RNIC "rnic/"
#define STORE_KEY_PLAN "pinglist/"
#define STORE_KEY_CONTROLLER "controller/"
#define STORE_KEY_LEADER "leader"
#define STORE_KEY_BRAKE "brake"

/* Writes a key. kind: one of the above; name: the rest of the key, or "". */
void store_key(
    char ret[STORE_KEY_BYTES], const char *region, const char *kind, const char *name);
/* Returns the key without the prefix of the region; NULL: it has another prefix. */
const char *store_key_rest(const char *region, const char *key);

/* The caller frees *text. -ENOMEM. */
int store_rnic_write(const struct store_rnic *rnic, char **text);
/* Reads a registration. *ret borrows from *object, which the caller owns. id: the id in
 * the key. -EBADMSG: error has the reason. */
int store_rnic_read(const char *text, size_t len, struct rm_rnic_id id, json_t **object,
    struct store_rnic *ret, struct rm_error *error);
/* A hash of the contents without the reporter and the times: equal for equal
 * registrations. */
int store_rnic_hash(const struct store_rnic *rnic, uint64_t *hash);

/* The version of a brake is base + revision of the key. */
int store_brake_write(const struct store_brake *brake, uint64_t base, char **text);
/* Reads a brake. by borrows from *object, as above. */
int store_brake_read(const char *text, size_t len, uint64_t revision, json_t **object,
    struct store_brake *ret, struct rm_error *error);

struct store_leader {
	char name[RM_NAME_BYTES]; /* "": there is no leader */
	/* fingerprint of its probe keys; "": it has none, or it has an older release */
	char keys[32];
};

/* keys: fingerprint of the probe keys; "": none. */
int store_leader_write(const char *name, const char *keys, char **text);
/* Reads the leader's key. Members are "" if they are missing or invalid. */
void store_leader_read(const char *text, size_t len, struct store_leader *ret);

/* The caller frees *text. -ENOMEM. */
int store_controller_write(const char *software, char **text);
/* Reads a controller's release: "" if it is missing or invalid. */
void store_controller_read(
    const char *text, size_t len, char software[RM_VERSION_BYTES]);

#endif
