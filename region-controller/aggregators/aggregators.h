/*
 * aggregators - the sessions of this region's tor-aggregators: they dial us, say which
 * ToRs they serve and what plans they hold, tell of RNICs, ask whose an address is, and
 * take plans and the brake.
 *
 * An aggregator speaks for its own ToRs only. One that says hello again replaces its
 * older session. Who does not lead refuses every hello, and says who does. All get a
 * ping each 500 ms.
 */
#ifndef REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_H
#define REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct aggregators;
struct probe_keys;
struct publish;
struct qp_joins_counts;
struct registry;
struct registry_rnic;
struct rm_loop;
struct rm_strangers;
struct rm_tls;
struct rm_topology;
struct store_brake;

struct aggregators_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	size_t max_sessions;
	struct registry *registry;     /* told of RNICs */
	struct publish *publish;       /* told what is held; asked what to send */
	const struct probe_keys *keys; /* borrowed; NULL: nobody authenticates */
	/* NULL: we lead; else what a hello is refused with. Borrowed for a moment. */
	const char *(*standby)(void *arg);
	/* Plans may be different now. Never called from inside our functions below. */
	void (*on_change)(void *arg);
	/* An RNIC was told of, perhaps once more. */
	void (*on_rnic)(const struct registry_rnic *rnic, void *arg);
	/* Ways out of a ToR's rack, as traces have found them. */
	void (*on_traced)(const struct wire_traced *traced, void *arg);
	const struct rm_topology *(*topology)(void *arg); /* or NULL */
	void *arg;
};

struct aggregators_drill {
	const char *tor;  /* whose aggregator is asked */
	const char *rnic; /* its id */
	uint32_t seconds, limit;
	/* Once, unless the session ends before: answer is borrowed. */
	void (*done)(const struct wire_drill_answer *answer, uint64_t token, void *arg);
	uint64_t token; /* the caller's */
	void *arg;
};

struct aggregators_tor {
	char tor[RM_NAME_BYTES];
	uint64_t version, digest; /* held there, as far as we know */
	uint64_t keys_version;    /* likewise; 0: none */
	uint32_t keys_epoch;
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
	uint64_t keys_sent;       /* messages */
	uint64_t refused_standby; /* hellos, since we do not lead */
	uint64_t resolved, unresolved;
	uint64_t join_strangers; /* of RNICs that the one who asked does not serve */
	uint64_t traced;         /* ways that traces found */
	uint64_t drills, drill_answers; /* answers nobody asked for are refused */
};

int aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret);
void aggregators_free(struct aggregators *aggregators);

/* For rm_listener_new. */
int aggregators_accept(int fd, const struct rm_address *peer, void *aggregators);

/* Sends every ToR's plan to those of its aggregators that do not hold it. */
void aggregators_deliver(struct aggregators *aggregators);
/* The same, in the next turn of the loop: for many new plans one after the other. */
void aggregators_deliver_soon(struct aggregators *aggregators);

/* To all who are there, and to all who come; borrowed for the call. */
void aggregators_brake(
    struct aggregators *aggregators, const struct store_brake *brake);
/* We do not lead any more: all sessions are closed, at once. */
void aggregators_close(struct aggregators *aggregators);
/* -ENOTCONN: nobody serves that ToR. */
int aggregators_ask_drill(
    struct aggregators *aggregators, const struct aggregators_drill *drill);

/* For registry_expire. */
bool aggregators_is_alive(uint64_t session, void *aggregators);
/* How many sessions serve that ToR. */
size_t aggregators_serving(const struct aggregators *aggregators, const char *tor);

/* The i-th session, or NULL at the end; borrowed until the loop turns. */
const struct aggregators_session *aggregators_get(
    const struct aggregators *aggregators, size_t i);
const struct aggregators_counts *aggregators_counts(
    const struct aggregators *aggregators);
/* Who has not said yet who it is. */
const struct rm_strangers *aggregators_strangers(const struct aggregators *aggregators);
/* Of QPs that are older than their agents. */
const struct qp_joins_counts *aggregators_joins(const struct aggregators *aggregators);
size_t aggregators_joins_waiting(const struct aggregators *aggregators);

#endif
