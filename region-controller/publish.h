/*
 * publish - which plan of each ToR is the current one, and by what number. Pure.
 *
 * A plan gets a new version only when its digest (of the message with version and
 * digest 0) changes, so equal plans are never sent twice. Versions only grow, also
 * across restarts: above the clock in ms and above whatever an aggregator says it
 * holds. An aggregator that already holds what would be published keeps it, and its
 * version is taken over.
 */
#ifndef REGION_CONTROLLER_PUBLISH_H
#define REGION_CONTROLLER_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

#include "rackmesh/base/clock.h"
#include "rackmesh/fabric/part.h"

struct plan_set;
struct publish;

struct publish_tor {
	UT_hash_handle hh;
	char tor[RM_NAME_BYTES];
	uint8_t *bytes; /* the message; NULL: nothing published yet */
	size_t len;
	uint64_t version, digest;
	rm_wall_t published;
	/* The newest plan that anybody holds. */
	uint64_t newest_version, newest_digest;
	bool disputed; /* that version is held with different digests */
	bool outrun;   /* somebody holds a newer version than ours */
	bool named;    /* by the newest set of plans */
};

struct publish_counts {
	uint64_t updates;   /* sets of plans looked at */
	uint64_t published; /* new plans, of one ToR each */
	uint64_t adopted;   /* those of them that an aggregator had already */
	uint64_t unchanged;
	uint64_t failed; /* too large for a message, or out of memory */
};

int publish_new(struct publish **ret);
void publish_free(struct publish *publish);

/* An aggregator holds this for that ToR (version 0: nothing). True: its version is
 * ahead of ours, so an update is due. */
bool publish_held(
    struct publish *publish, const char *tor, uint64_t version, uint64_t digest);

/* Takes over what has changed; ToRs that are in the set no more are dropped. A rack
 * without members is not published before it has had some: somebody may hold a plan
 * for it. Returns how many ToRs have a new plan, or the first failure (the others
 * are done all the same). */
int publish_update(struct publish *publish, const struct plan_set *set, rm_wall_t now);

/* NULL: nothing is published for it. */
const struct publish_tor *publish_find(const struct publish *publish, const char *tor);
const struct publish_counts *publish_counts(const struct publish *publish);

#endif
