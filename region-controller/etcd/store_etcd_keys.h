/*
 * store_etcd_keys - the keys in etcd and their values, except plans. Pure; foreign
 * bytes are fuzzed.
 *
 * Below /rackmesh/<region>/:
 *   topology/region   the topology as a person imported it, docs/topology.md
 *   topology/traced/<from>/<to>   a link that traces found (store_topology.h)
 *   rnic/<id>         a registration
 *   pinglist/<tor>    a ToR's plan (store_plan.h)
 *   leader            {"name": ..., "keys": print of its probe keys}, with its lease
 *   brake             {"rate_permille": N, "by": ..., "when": ..., "base": N}
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_ETCD_KEYS_H
#define REGION_CONTROLLER_ETCD_STORE_ETCD_KEYS_H

#include <jansson.h>

#include "rackmesh/judge/part.h"
#include "region-controller/store/store_record.h"

struct rm_error;

#define STORE_KEY_BYTES 256
#define STORE_KEY_TOPOLOGY "topology/region"
#define STORE_KEY_RNIC "rnic/"
#define STORE_KEY_PLAN "pinglist/"
#define STORE_KEY_LEADER "leader"
#define STORE_KEY_BRAKE "brake"

/* kind: one of the above; name: the rest of the key, or "". */
void store_key(
    char ret[STORE_KEY_BYTES], const char *region, const char *kind, const char *name);
/* The key without the region's prefix, or NULL. */
const char *store_key_rest(const char *region, const char *key);

/* *text is malloc'd. -ENOMEM. */
int store_rnic_write(const struct store_rnic *rnic, char **text);
/* rnic borrows from *object, which the caller owns then. -EBADMSG: error has the
 * reason. id: of the key. */
int store_rnic_read(const char *text, size_t len, struct rm_rnic_id id, json_t **object,
    struct store_rnic *ret, struct rm_error *error);
/* Equal for registrations with equal contents, whoever reported them and when. */
int store_rnic_hash(const struct store_rnic *rnic, uint64_t *hash);

/* The version is base + revision. */
int store_brake_write(const struct store_brake *brake, uint64_t base, char **text);
/* by borrows from *object, as above. */
int store_brake_read(const char *text, size_t len, uint64_t revision, json_t **object,
    struct store_brake *ret, struct rm_error *error);

struct store_leader {
	char name[RM_NAME_BYTES]; /* "": nobody */
	char keys[32];            /* "": none, or an older release */
};

int store_leader_write(
    const char *name, const char *keys, char **text); /* keys: "": none */
/* "" if the name is missing or not valid. */
void store_leader_read(const char *text, size_t len, struct store_leader *ret);

#endif
