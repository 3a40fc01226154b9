/*
 * etcd_presence - keeps a key in etcd while this process runs, by a lease.
 *
 * rm_etcd_presence_free deletes the key at once. If this process ends otherwise, is
 * stopped, or does not reach etcd, the key is deleted after the TTL; it is written
 * again as soon as this process runs and reaches etcd. Only one process may keep a
 * key.
 */
#ifndef RACKMESH_ETCD_ETCD_PRESENCE_H
#define RACKMESH_ETCD_ETCD_PRESENCE_H

#include <stdint.h>

struct rm_etcd;
struct rm_etcd_presence;
struct rm_loop;

struct rm_etcd_presence_options { /* copied */
	const char *key, *value;
	int64_t ttl_s; /* 0: 10 s */
};

int rm_etcd_presence_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_presence_options *options, struct rm_etcd_presence **ret);
/* Revokes the lease; waits at most 300 ms for that. NULL is fine. */
void rm_etcd_presence_free(struct rm_etcd_presence *presence);

/* For a caller that watches the key: call it when the key was deleted. The key is then
 * written again. */
void rm_etcd_presence_gone(struct rm_etcd_presence *presence);

#endif
