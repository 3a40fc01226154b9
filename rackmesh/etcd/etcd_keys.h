/*
 * etcd_keys - the keys that a mirror knows, each with its revision. Pure; private to
 * etcd_mirror.
 */
#ifndef RACKMESH_ETCD_ETCD_KEYS_H
#define RACKMESH_ETCD_ETCD_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_etcd_key {
	struct rm_etcd_key *next; /* private */
	int64_t mod_revision;
	bool seen;    /* in the list that is being taken */
	bool deleted; /* by an event, while a list was under way */
	char name[];
};

struct rm_etcd_keys;

struct rm_etcd_keys *rm_etcd_keys_new(void); /* NULL when out of memory */
void rm_etcd_keys_free(struct rm_etcd_keys *keys);
size_t rm_etcd_keys_count(const struct rm_etcd_keys *keys);

struct rm_etcd_key *rm_etcd_keys_find(struct rm_etcd_keys *keys, const char *name);
/* NULL when out of memory; name is not there yet. */
struct rm_etcd_key *rm_etcd_keys_add(struct rm_etcd_keys *keys, const char *name);
void rm_etcd_keys_remove(struct rm_etcd_keys *keys, struct rm_etcd_key *key);
/* Visits all; those for which visit says false are removed. */
void rm_etcd_keys_keep(struct rm_etcd_keys *keys,
    bool (*visit)(struct rm_etcd_key *key, void *arg), void *arg);

#endif
