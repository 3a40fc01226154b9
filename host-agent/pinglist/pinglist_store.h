/*
 * pinglist_store - the pinglists of all ToRs of this host, and their copies on disk.
 *
 * An aggregator's pinglist is used and saved; after a restart without aggregators the
 * copies are used. A pinglist that no aggregator confirms expires after days: its
 * targets are then probed at a tenth of their rates, and later not at all.
 */
#ifndef HOST_AGENT_PINGLIST_PINGLIST_STORE_H
#define HOST_AGENT_PINGLIST_PINGLIST_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct pinglist;
struct pinglist_cache_counts;
struct pinglist_sum;
struct pinglist_store;
struct rm_worker;

#define PINGLIST_STORE_EXPIRE_DAYS "7"
#define PINGLIST_STORE_MAX_EXPIRE_DAYS 30 /* the most that the config may set */

struct pinglist_store_counts {
	uint64_t taken, same, old;
	uint64_t malformed;
	uint64_t other_tor; /* pinglists of a ToR that is not one of this host's ToRs */
	uint64_t no_memory;
	uint64_t expired, recovered;
	uint64_t ended; /* pinglists that were dropped after their slow time */
};

/* folder: "": no copies are kept. worker: free it before the store, which its jobs
 * use. */
int pinglist_store_new(
    const char *folder, struct rm_worker *worker, struct pinglist_store **ret);
void pinglist_store_free(struct pinglist_store *pinglists);

int pinglist_store_add_tor(struct pinglist_store *pinglists,
    const char *tor); /* A tor that is known already is allowed. */
size_t pinglist_store_tors(const struct pinglist_store *pinglists);
const struct pinglist *pinglist_store_at(
    const struct pinglist_store *pinglists, size_t i);

/* Loads the copies from the disk: it blocks, so call it before the loop runs. */
void pinglist_store_load(
    struct pinglist_store *pinglists, rm_wall_t wall, rm_mono_t now);

/* Verifies the bytes of an aggregator's message, which nothing else verifies. *ret
 * borrows from data. -EBADMSG, -EMSGSIZE: not a pinglist; the error is counted. */
int pinglist_store_open(struct pinglist_store *pinglists, const uint8_t *data,
    size_t len, struct wire_pinglist_view *ret);
/*
 * Copies a pinglist that pinglist_store_open has opened. True: it is new; *tor,
 * borrowed, is its ToR. False, with *r: -ENOENT: the ToR is not of this host; -ENOMEM;
 * 0: the store has this version or a newer one already.
 */
bool pinglist_store_take(struct pinglist_store *pinglists,
    const struct wire_pinglist_view *view, rm_wall_t wall, rm_mono_t now,
    const char **tor, int *r);

/* Confirms the pinglist of tor: an aggregator of tor is connected and has sent no newer
 * pinglist. */
void pinglist_store_renew(
    struct pinglist_store *pinglists, const char *tor, rm_mono_t now);
/* Sets the time after which an unconfirmed pinglist expires, in ns, up to
 * PINGLIST_STORE_MAX_EXPIRE_DAYS. It applies from the next confirmation of a pinglist
 * on. */
void pinglist_store_set_life(struct pinglist_store *pinglists, int64_t life_ns);
/* Saves the pinglists that have changed. True: a pinglist has expired, was confirmed
 * again, or was dropped (enum pinglist_turn). Call it every few seconds. */
bool pinglist_store_tick(
    struct pinglist_store *pinglists, rm_wall_t wall, rm_mono_t now);

/* Like pinglist_sum, over the pinglists of these ToRs. */
int pinglist_store_sum(const struct pinglist_store *pinglists, const char *const *tors,
    size_t count, struct wire_rnic_id rnic, struct pinglist_sum *ret);
/* The longest probe time-out of all pinglists; 0: no pinglist has one. */
uint32_t pinglist_store_probe_timeout_ms(const struct pinglist_store *pinglists);
bool pinglist_store_any(const struct pinglist_store
	*pinglists); /* True: at least one pinglist is present. */
size_t pinglist_store_slow(const struct pinglist_store
	*pinglists); /* Returns the number of expired pinglists. */

const struct pinglist_store_counts *pinglist_store_counts(
    const struct pinglist_store *pinglists);
/* Returns NULL if no copies are kept. */
const struct pinglist_cache_counts *pinglist_store_cache_counts(
    const struct pinglist_store *pinglists);

#endif
