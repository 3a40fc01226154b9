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
	int64_t after_ns;         /* ns between two compactions; 0: never compact */
	bool (*leads)(void *arg); /* compacts only if this returns true */
	int64_t (*revision)(void *arg);
	void *arg;
};

struct store_compact_counts {
	uint64_t done, failed;
};

int store_compact_new(struct rm_loop *loop, const struct store_compact_options *options,
    struct store_compact **ret);
/* Call it before etcd is freed. */
void store_compact_free(struct store_compact *compact);
const struct store_compact_counts *store_compact_counts(
    const struct store_compact *compact);

#endif
