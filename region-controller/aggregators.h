/*
 * aggregators - the sessions of this region's tor-aggregators: they dial us, say which
 * ToRs they serve and what plans they hold, tell of RNICs, and take plans.
 *
 * An aggregator speaks for its own ToRs only. One that says hello again replaces its
 * older session.
 */
#ifndef REGION_CONTROLLER_AGGREGATORS_H
#define REGION_CONTROLLER_AGGREGATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/base/address.h"
#include "rackmesh/base/clock.h"
#include "rackmesh/fabric/part.h"
#include "schemas/wire.h"

struct aggregators;
struct publish;
struct registry;
struct rm_loop;

struct aggregators_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	size_t max_sessions;
	struct registry *registry; /* told of RNICs */
	struct publish *publish;   /* told what is held; asked what to send */
	/* Plans may be different now. Never called from inside our functions below. */
	void (*on_change)(void *arg);
	void *arg;
};

struct aggregators_tor {
	char tor[RM_NAME_BYTES];
	uint64_t version, digest; /* held there, as far as we know */
};

struct aggregators_session {
	uint64_t id; /* never 0, never used again */
	bool is_welcome;
	char name[RM_NAME_BYTES];
	struct rm_address peer;
	rm_wall_t since;
	uint64_t registrations; /* messages */
	struct aggregators_tor *tors;
	size_t tor_count;
};

struct aggregators_counts {
	uint64_t sessions, accepted, refused_connections, refused_hellos, replaced;
	uint64_t registrations; /* messages */
	uint64_t refused_messages;
	uint64_t foreign_rnics; /* of ToRs that the one who told does not serve */
	uint64_t plans_sent, plan_bytes_sent, plans_not_sent;
};

int aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret);
void aggregators_free(struct aggregators *aggregators);

/* For rm_listener_new. */
int aggregators_accept(int fd, const struct rm_address *peer, void *aggregators);

/* Sends every ToR's plan to those of its aggregators that do not hold it. */
void aggregators_deliver(struct aggregators *aggregators);

/* For registry_expire. */
bool aggregators_is_alive(uint64_t session, void *aggregators);
/* How many sessions serve that ToR. */
size_t aggregators_serving(const struct aggregators *aggregators, const char *tor);

/* The i-th session, or NULL at the end; borrowed until the loop turns. */
const struct aggregators_session *aggregators_get(
    const struct aggregators *aggregators, size_t i);
const struct aggregators_counts *aggregators_counts(
    const struct aggregators *aggregators);

#endif
