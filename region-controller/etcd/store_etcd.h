/*
 * store_etcd - the store of several controllers: an etcd cluster; one controller leads.
 *
 * Leader and followers have all keys in memory. If etcd is unreachable, all keep their
 * data, the leader stops leading when its lease has expired, and all try again without
 * end. Invalid values in etcd are counted, logged and left out; with a bad topology the
 * old one stays in use. store_etcd_keys.h lists the keys.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_ETCD_H
#define REGION_CONTROLLER_ETCD_STORE_ETCD_H

#include "region-controller/store/store.h"

struct rm_http_origin;
struct rm_loop;

struct store_etcd_options { /* copied */
	const char *name, *region;
	const char *const *endpoints;
	size_t endpoint_count;
	const char *user, *password; /* "": without authentication */
	/* fingerprint of the probe keys, equal for all controllers with the same
	 * secret; "": no probe keys */
	const char *keys;
	/* certificates for https; NULL: the system's authorities */
	const struct rm_http_origin *origin;
	int64_t timeout_ns, relist_ns;
	int64_t lease_ttl_s;
	int64_t compact_after_ns; /* ns; 0: etcd's history is never compacted */
	uint64_t random_seed;
};

int store_etcd_new(
    struct rm_loop *loop, const struct store_etcd_options *options, struct store **ret);

#endif
