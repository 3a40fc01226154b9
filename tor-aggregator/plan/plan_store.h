/*
 * plan_store - stores the newest plan of each of this aggregator's ToRs, also across
 * restarts.
 *
 * Plans arrive as wire messages from a controller, from a file, or from the cache on
 * disk; a plan with an older version is ignored. The worker writes the cache: one file
 * per ToR in the state folder. A rack uses the cache while there is no controller.
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
	uint64_t taken; /* plans that were newer than the one stored */
	uint64_t stale; /* plans that were not newer */
	/* plans that are malformed, of another region, or of a ToR of another
	 * aggregator */
	uint64_t refused;
	uint64_t cache_written, cache_failed;
};

/* tors: `count` names, copied; in all functions `tor` is an index into this array.
 * folder: the folder of the cache, copied; NULL: there is no cache. worker: borrowed;
 * free it before the store; NULL only without a folder. */
int plan_store_new(struct rm_worker *worker, const char *region, const char *folder,
    const char *const *tors, size_t count, struct plan_store **ret);
void plan_store_free(struct plan_store *store);

/* Stores a plan if it is newer. Returns 1: the plan was stored, *tor is its index, and
 * plan_store_view returns it; 0: it is not newer. -EBADMSG or -EMSGSIZE: malformed;
 * -EINVAL: wrong region, or impossible names; -ENOENT: a ToR of another aggregator;
 * -ENOMEM. */
int plan_store_take(
    struct plan_store *store, const uint8_t *data, size_t len, size_t *tor);

/* Reads the cached plan of a ToR. It blocks, so call it before the loop runs. A missing
 * file is no error. A damaged file is ignored: < 0, and *error. */
int plan_store_load_cache(struct plan_store *store, size_t tor, struct rm_error *error);
/* Does the same as plan_store_take, with the bytes of a file. It blocks. On failure it
 * also fills *error. */
int plan_store_load_file(
    struct plan_store *store, const char *path, size_t *tor, struct rm_error *error);

/* Lets the worker write all plans that are not on disk yet. */
void plan_store_save(struct plan_store *store);

const struct wire_plan_view *plan_store_view(
    const struct plan_store *store, size_t tor); /* NULL: none */
const struct plan_store_counts *plan_store_counts(const struct plan_store *store);

#endif
