/*
 * publish - the current plan of each ToR, and its version. Pure.
 *
 * A plan is published when the store reports that it has it. A plan is written to the
 * store if its digest (of the message with version and digest 0) differs from that of
 * the plan that the store has or is about to have, so equal plans are never written or
 * sent twice. The store gives the version. Versions only grow, also across restarts,
 * failovers and a new store: a version is higher than any that an aggregator reports.
 * Messages of keys are numbered in the same way.
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
	uint8_t *bytes; /* the message; NULL: nothing published yet */
	size_t len;
	struct wire_plan_view view; /* on bytes */
	uint64_t version, digest;
	rm_wall_t published;
	uint64_t wanted; /* digest of the plan put and not confirmed yet; 0: none */
	/* The newest plan that any aggregator holds. */
	uint64_t newest_version, newest_digest;
	bool disputed; /* that version is held with different digests */
	bool outrun;   /* an aggregator holds a newer version than this controller */
	bool named;    /* by the newest set of plans */
	/* The newest message of keys, and its epoch and plan; version 0: none yet. */
	uint64_t keys_version, keys_digest;
	uint32_t keys_epoch;
	uint64_t keys_held; /* the newest in any aggregator's hello */
};

struct publish_counts {
	uint64_t updates;   /* sets of plans processed */
	uint64_t published; /* new plans, of one ToR each */
	uint64_t adopted;   /* those of them that an aggregator had already */
	uint64_t unchanged;
	uint64_t failed; /* too large for a message, unreadable, or out of memory */
};

struct publish_sink { /* the store; both may call publish_stored, publish_gone */
	int (*put)(const struct store_draft *draft, void *arg);
	int (*drop)(const char *tor, void *arg);
	void *arg;
};

int publish_new(struct publish **ret);
void publish_free(struct publish *publish);

/* An aggregator holds this for that ToR (version 0: nothing). True: its version is
 * higher than this controller's, so an update is due. */
bool publish_held(
    struct publish *publish, const char *tor, uint64_t version, uint64_t digest);

/* An aggregator reports that it has keys of this version (0: none) for the ToR. True:
 * the keys must be sent again, with a higher version, to all aggregators of the ToR. */
bool publish_keys_held(struct publish *publish, const char *tor, uint64_t version);
/* The number of the message with the keys of this epoch and the ToR's plan, which is
 * published: one for all its aggregators. It is higher than any version that an
 * aggregator has reported, and by some thousands higher than those that another
 * controller gave, because an aggregator that has one of those may not be connected
 * now. now: for aggregators that do not tell what they hold, whose older controllers
 * number by the clock. */
uint64_t publish_keys_version(
    struct publish *publish, const char *tor, uint32_t epoch, rm_wall_t now);

struct publish_walk { /* through a set of plans; a newer one may begin any time */
	size_t at;
	int changed; /* returns how many ToRs have a new plan */
	int failure; /* the first one; the others are done all the same */
};

void publish_begin(struct publish *publish, struct publish_walk *walk);
/* Writes the changed plan of one ToR, some ms of work; after the last one it drops ToRs
 * that are no longer in the set. False: that was all. A rack without members is not
 * published before it has had some: an aggregator may have a plan for it. */
bool publish_step(struct publish *publish, const struct plan_set *set,
    const struct publish_sink *sink, struct publish_walk *walk);

/* The store has this plan. True: an update is due, because its version is not higher
 * than every version that aggregators report, or because another plan was written. The
 * plan's bytes are copied, and verified here only: bytes that are not a plan, or do not
 * fit into memory, count as failed, and are requested again. */
bool publish_stored(struct publish *publish, const struct store_plan *plan);
/* The store has none. */
void publish_gone(struct publish *publish, const char *tor);
/* This controller lost leadership: plans put and not confirmed yet never will be. */
void publish_forget_wanted(struct publish *publish);

/* NULL: nothing is published for it. */
const struct publish_tor *publish_find(const struct publish *publish, const char *tor);
const struct publish_counts *publish_counts(const struct publish *publish);

#endif
