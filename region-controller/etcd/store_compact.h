/*
 * store_compact - etcd's history is cut off, so that it does not grow for ever: every
 * so often the leader has etcd forget what is older than that.
 *
 * It is the whole cluster's history, also that of others' keys. Whoever watches from
 * further back than that lists again; what stands under a key stays. Failures are no
 * trouble: the next time comes.
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
