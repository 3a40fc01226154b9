/*
 * plans - the pinglists of all ToRs of this host, and their copies on disk.
 *
 * An aggregator's pinglist is used and saved; after a restart without aggregators the
 * copies are used. A pinglist that no aggregator confirms expires after days: its
 * targets are then probed at a tenth of their rates, and later not at all.
 */
#ifndef HOST_AGENT_PINGLIST_PLANS_H
#define HOST_AGENT_PINGLIST_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct pinglist;
struct pinglist_cache_counts;
struct pinglist_sum;
struct plans;
struct rm_worker;

#define PLANS_EXPIRE_DAYS "7"
#define PLANS_MAX_EXPIRE_DAYS 30 /* no config lets a pinglist live longer */

struct plans_counts {
	uint64_t taken, same, old;
	uint64_t malformed;
	uint64_t foreign; /* of a ToR that is not this host's */
	uint64_t no_memory;
	uint64_t expired, recovered;
	uint64_t ended; /* forgotten */
};

/* folder: "" for no copies. worker: free it first. */
int plans_new(const char *folder, struct rm_worker *worker, struct plans **ret);
void plans_free(struct plans *plans);

int plans_add_tor(struct plans *plans, const char *tor); /* known ones are fine */
size_t plans_tors(const struct plans *plans);
const struct pinglist *plans_at(const struct plans *plans, size_t i);

/* Takes the copies from the disk: blocks, so before the loop runs. */
void plans_load(struct plans *plans, rm_wall_t wall, rm_mono_t now);

/* Verifies a message of an aggregator (it is verified only here): *ret borrows from
 * data. -EBADMSG, -EMSGSIZE: not a pinglist; it is counted. */
int plans_open(struct plans *plans, const uint8_t *data, size_t len,
    struct wire_pinglist_view *ret);
/*
 * Takes a pinglist that plans_open has opened; its bytes are copied. True: it is new,
 * and *tor (borrowed) is its ToR. *r: the error if it was not taken, -ENOENT or
 * -ENOMEM; 0 when it is held already or is older.
 */
bool plans_take(struct plans *plans, const struct wire_pinglist_view *view,
    rm_wall_t wall, rm_mono_t now, const char **tor, int *r);

/* An aggregator that serves tor is connected and has no newer pinglist. */
void plans_renew(struct plans *plans, const char *tor, rm_mono_t now);
/* Sets the time after which an unconfirmed pinglist expires; at most
 * PLANS_MAX_EXPIRE_DAYS. Held pinglists use it from the next plans_renew on. */
void plans_set_life(struct plans *plans, int64_t life_ns);
/* Writes changed pinglists. True: one has expired, was confirmed again, or ended. Call
 * it every few seconds. */
bool plans_tick(struct plans *plans, rm_wall_t wall, rm_mono_t now);

/* pinglist_sum over these ToRs. */
int plans_sum(const struct plans *plans, const char *const *tors, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret);
/* The longest probe time-out in the pinglists; 0: none sets it. */
uint32_t plans_probe_timeout_ms(const struct plans *plans);
bool plans_any(const struct plans *plans);    /* at least one is held */
size_t plans_slow(const struct plans *plans); /* how many have expired */

const struct plans_counts *plans_counts(const struct plans *plans);
/* NULL: no copies. */
const struct pinglist_cache_counts *plans_cache_counts(const struct plans *plans);

#endif
