/*
 * key_store - the probe keys of each of this aggregator's ToRs, and the selection of
 * keys for one agent.
 *
 * They come from a controller as wire bytes; versions only grow. They are saved on disk
 * beside the plans, so that a rack continues to authenticate without a controller. All
 * keys inside the rack are derived from its members' responder keys, see
 * rackmesh/identity/probe_key.h.
 */
#ifndef TOR_AGGREGATOR_PLAN_KEY_STORE_H
#define TOR_AGGREGATOR_PLAN_KEY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct key_store;
struct rm_key_file_counts;
struct rm_worker;

struct key_store_counts {
	uint64_t taken, stale, refused;
	uint64_t left_out; /* pairs left out because the message is full */
};

/* tors: count names, borrowed; all indexes of ToRs here follow their order. folder:
 * "" for none. worker: borrowed, freed before the store. */
int key_store_new(struct rm_worker *worker, const char *folder, const char *const *tors,
    size_t count, struct key_store **ret);
void key_store_free(struct key_store *store); /* NULL is allowed */

/* Blocks: call it before the loop runs. Damaged files are logged and ignored. */
void key_store_load(struct key_store *store);

/* Takes the message if it is newer. -EBADMSG, -EMSGSIZE; a message for another ToR,
 * or one for which there is no memory, is counted as refused, and is not an error of
 * its sender. */
int key_store_take(struct key_store *store, const uint8_t *data, size_t len);

const struct wire_keys *key_store_view(
    const struct key_store *store, size_t tor); /* NULL: none */

/* The keys for an agent with these RNICs: *ret lives until the next call. -ENOENT:
 * there are no keys; -ENOMEM. */
int key_store_expand(struct key_store *store, size_t tor,
    const struct wire_rnic_id *own, size_t own_count, struct wire_keys *ret);

/* The key from a prober to a member of a rack; false: not a member, or it has no
 * keys. */
bool key_store_pair(const struct key_store *store, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct wire_pair_key *ret);

const struct key_store_counts *key_store_counts(const struct key_store *store);
const struct rm_key_file_counts *key_store_file_counts(const struct key_store *store);

#endif
