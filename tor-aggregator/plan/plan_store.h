/*
 * plan_store - the newest plan of each of this aggregator's ToRs, also across restarts.
 *
 * Plans come as wire bytes from a controller, from a file, or from the cache on disk;
 * versions only grow. The cache is written on the worker, one file per ToR in the state
 * folder: a rack uses it when there is no controller.
 */
#ifndef TOR_AGGREGATOR_PLAN_PLAN_STORE_H
#define TOR_AGGREGATOR_PLAN_PLAN_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct plan_store;
struct rm_error;
struct rm_worker;

struct plan_store_counts {
	uint64_t taken;   /* newer ones */
	uint64_t stale;   /* not newer than the one held */
	uint64_t refused; /* malformed, of another region, or of a ToR of another
			     aggregator */
	uint64_t cache_written, cache_failed;
};

/* tors: count names, copied; all indexes of ToRs here follow their order. folder: of
 * the cache, copied; NULL: none. worker: borrowed, freed before the store. */
int plan_store_new(struct rm_worker *worker, const char *region, const char *folder,
    const char *const *tors, size_t count, struct plan_store **ret);
void plan_store_free(struct plan_store *store);

/* 1: the plan is newer, *tor is its index, and the view at that index shows it now.
 * 0: not newer. -EBADMSG, -EMSGSIZE, -EINVAL (region, names), -ENOENT (a ToR of
 * another aggregator), -ENOMEM. */
int plan_store_take(
    struct plan_store *store, const uint8_t *data, size_t len, size_t *tor);

/* Blocks: call it before the loop runs. A missing cache is no error; a damaged one is
 * an error, and is ignored. */
int plan_store_load_cache(struct plan_store *store, size_t tor, struct rm_error *error);
/* As plan_store_take, with the same bytes from a file. */
int plan_store_load_file(
    struct plan_store *store, const char *path, size_t *tor, struct rm_error *error);

/* Writes plans that are not on disk yet, on the worker. */
void plan_store_save(struct plan_store *store);

const struct wire_plan_view *plan_store_view(
    const struct plan_store *store, size_t tor); /* NULL: none */
const struct plan_store_counts *plan_store_counts(const struct plan_store *store);

#endif
