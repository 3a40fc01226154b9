/*
 * publish - the current plan of each ToR, and its version. Pure.
 *
 * A plan is published when the store has confirmed it. It is written to the store only
 * if its digest differs from those of the plan in the store and of the plan that is
 * being written: so equal plans are never written or sent twice. The digest covers the
 * whole message, with 0 in place of its version and its digest. The store gives the
 * version. Versions only grow, also across restarts, failovers and a new store: a
 * version is higher than any that an aggregator reports. Messages of keys are numbered
 * in the same way.
 */
#ifndef REGION_CONTROLLER_PLAN_PUBLISH_H
#define REGION_CONTROLLER_PLAN_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct plan_set;
struct publish;
struct store_draft;
struct store_plan;

struct publish_tor {
	UT_hash_handle hh;
	char tor[RM_NAME_BYTES];
	uint8_t *bytes; /* the message; NULL: no plan was published yet */
	size_t len;
	struct wire_plan_view view; /* the opened message; points into bytes */
	uint64_t version, digest;
	rm_wall_t published;
	/* digest of a plan that was put and not confirmed yet; 0: none */
	uint64_t wanted;
	/* Version and digest of the newest plan that any aggregator holds, as
	 * reported. */
	uint64_t newest_version, newest_digest;
	bool disputed; /* aggregators hold that version with different digests */
	/* an aggregator holds a newer version than this controller has published */
	bool outrun;
	bool named; /* the newest set of plans includes this ToR */
	/* The version of the newest message of keys, the digest of its plan, and its
	 * epoch; version 0: there is none. */
	uint64_t keys_version, keys_digest;
	uint32_t keys_epoch;
	/* the newest version of keys that the hello of any aggregator has reported */
	uint64_t keys_held;
};

struct publish_counts {
	uint64_t updates;   /* sets of plans that were processed */
	uint64_t published; /* new plans, each of one ToR */
	uint64_t adopted;   /* number of new plans that an aggregator held already */
	uint64_t unchanged;
	/* plans that were too large for a message or unreadable, or for which there was
	 * no memory */
	uint64_t failed;
};

/* the store; both functions may call publish_stored and publish_gone */
struct publish_sink {
	int (*put)(const struct store_draft *draft, void *arg);
	int (*drop)(const char *tor, void *arg);
	void *arg;
};

int publish_new(struct publish **ret);
void publish_free(struct publish *publish);

/* An aggregator reports the plan that it holds for that ToR (version 0: none). True:
 * the plan must be stored again, with a higher version, because an aggregator holds a
 * newer version than this controller published, or another plan with its version. */
bool publish_held(
    struct publish *publish, const char *tor, uint64_t version, uint64_t digest);

/* An aggregator reports the version of the keys that it holds for that ToR (0: none).
 * True: the keys must be sent again, with a higher version, to all aggregators of the
 * ToR. */
bool publish_keys_held(struct publish *publish, const char *tor, uint64_t version);
/* Returns the version for the message with the keys of this epoch and of the ToR's
 * published plan; all aggregators of the ToR get the same. It is higher than any
 * version that an aggregator has reported. It is higher by some thousands than the
 * versions of another controller, because an aggregator that has one of those may be
 * disconnected now. now: some aggregators do not report their version. Older
 * controllers used the clock as version, so the result is also at least the clock in
 * ms. */
uint64_t publish_keys_version(
    struct publish *publish, const char *tor, uint32_t epoch, rm_wall_t now);

/* progress through a set of plans; a newer set may begin at any time */
struct publish_walk {
	size_t at;
	int changed; /* result: number of ToRs with a new plan */
	int failure; /* result: the first error; the other plans are put all the same */
};

void publish_begin(struct publish *publish, struct publish_walk *walk);
/* Puts the plan of one ToR if it has changed, which takes some ms; after the last one,
 * drops ToRs that the set does not have. False: there is no more to do. A rack that
 * never had members is not published, because an aggregator may have a plan for it. */
bool publish_step(struct publish *publish, const struct plan_set *set,
    const struct publish_sink *sink, struct publish_walk *walk);

/* The store has this plan; its bytes are copied. True: the plan must be put again,
 * because an aggregator holds the same or a higher version, or because another plan was
 * written meanwhile. The bytes are verified here only: bytes that are no plan, or for
 * which there is no memory, count as failed, and the plan is put again. */
bool publish_stored(struct publish *publish, const struct store_plan *plan);
/* The store has no plan of that ToR. */
void publish_gone(struct publish *publish, const char *tor);
/* Forgets plans that were put and not confirmed: this controller lost leadership, so
 * they will not be. */
void publish_forget_wanted(struct publish *publish);

/* Returns NULL if no plan of the ToR is published. */
const struct publish_tor *publish_find(const struct publish *publish, const char *tor);
const struct publish_counts *publish_counts(const struct publish *publish);

#endif
