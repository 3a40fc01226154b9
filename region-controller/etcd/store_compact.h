/*
 * store_compact - compacts etcd's history, so that it does not grow for ever: at each
 * interval the leader removes history older than one interval.
 *
 * This is the history of the whole cluster, also of other programs' keys. A watch of an
 * older revision has to list again; present values stay. After a failure the next
 * interval tries again.
 */
#ifndef REGION_CONTROLLER_ETCD_STORE_COMPACT_H
#define REGION_CONTROLLER_ETCD_STORE_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

struct rm_etcd;
struct rm_loop;
struct store_compact;

struct store_compact_options {
	struct rm_etcd *etcd;
	int64_t after_ns;         /* 0: never */
	bool (*leads)(void *arg); /* only then is it done */
	int64_t (*revision)(void *arg);
	void *arg;
};

struct store_compact_counts {
	uint64_t done, failed;
};

int store_compact_new(struct rm_loop *loop, const struct store_compact_options *options,
    struct store_compact **ret);
void store_compact_free(struct store_compact *compact); /* before etcd */
const struct store_compact_counts *store_compact_counts(
    const struct store_compact *compact);

#endif
