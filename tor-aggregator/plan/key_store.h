/*
 * key_store - stores the probe keys of this aggregator's ToRs, and selects the keys for
 * one agent.
 *
 * Keys arrive from a controller as wire messages; a message with an older version is
 * ignored. They are saved on disk beside the plans, so that a rack can authenticate
 * probes without a controller. All keys between members of a rack are derived from the
 * members' responder keys, see rackmesh/identity/probe_key.h.
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
	uint64_t left_out; /* pair keys that did not fit into an agent's message */
};

/* tors: count names, borrowed; in all functions tor is an index in it. folder: "":
 * nothing is saved. worker: borrowed; free it before the store. */
int key_store_new(struct rm_worker *worker, const char *folder, const char *const *tors,
    size_t count, struct key_store **ret);
void key_store_free(struct key_store *store); /* NULL is allowed */

/* Reads the saved keys. It blocks, so call it before the loop runs. Damaged files are
 * logged and ignored. */
void key_store_load(struct key_store *store);

/* Stores the keys of a message if they are newer. -EBADMSG, -EMSGSIZE: the message is
 * malformed. It also returns 0 if the ToR is not of this aggregator or there is no
 * memory: these messages are counted as refused, but the sender made no error. */
int key_store_take(struct key_store *store, const uint8_t *data, size_t len);

const struct wire_keys *key_store_view(
    const struct key_store *store, size_t tor); /* NULL: none */

/* Selects the keys for the agent that has the RNICs own. *ret is valid until the next
 * call. -ENOENT: there are no keys; -ENOMEM. */
int key_store_expand(struct key_store *store, size_t tor,
    const struct wire_rnic_id *own, size_t own_count, struct wire_keys *ret);

/* Returns the key for probes from prober to responder, which is a member of a rack of
 * this aggregator. False: the responder is not a member, or has no key. */
bool key_store_pair(const struct key_store *store, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct wire_pair_key *ret);

const struct key_store_counts *key_store_counts(const struct key_store *store);
const struct rm_key_file_counts *key_store_file_counts(const struct key_store *store);

#endif
