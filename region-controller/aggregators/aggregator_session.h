/*
 * aggregator_session - the session with one aggregator: its hello, the messages from
 * it, and the messages to it. Private to aggregator_*.c and aggregators.c.
 */
#ifndef REGION_CONTROLLER_AGGREGATORS_AGGREGATOR_SESSION_H
#define REGION_CONTROLLER_AGGREGATORS_AGGREGATOR_SESSION_H

#include "rackmesh/net/refusals.h"
#include "rackmesh/net/server.h"
#include "region-controller/aggregators/aggregators_info.h"

#define AGGREGATORS_MAX_DRILLS 32

struct publish_tor;
struct registry_rnic;
struct qp_joins;
struct rm_timer;

struct session {
	struct aggregators_session info; /* must be the first member */
	struct aggregators *owner;
	/* pending until the hello is accepted; the connection of an agent stays pending
	 */
	struct rm_conn conn;
	/* the peer is an agent, which may only ask for the ToRs of its host */
	bool is_agent;
};

struct aggregators {
	struct rm_loop *loop;
	struct aggregators_options options;
	struct rm_server server;
	struct rm_refusals refusals;
	struct wire_writer *writer;
	struct rm_timer *sweep, *ping, *deliver;
	uint64_t last_id;
	struct wire_brake brake; /* version 0: no brake was ever set */
	struct drill {
		/* number of the query on the wire; 0: the slot is free */
		uint64_t number;
		uint64_t session;
		void (*done)(
		    const struct wire_drill_answer *answer, uint64_t token, void *arg);
		uint64_t token;
		void *arg;
	} drills[AGGREGATORS_MAX_DRILLS];
	uint64_t last_drill;
	struct qp_joins *joins;
	/* epoch of the keys that were sent to the aggregator; 0: none yet */
	uint32_t epoch;
	rm_mono_t epoch_since; /* when epoch began to be in use */
	struct aggregators_counts counts;
};

/* Returns the session after this one, in the order of rm_server_first; NULL: there are
 * no more. */
static inline struct session *
session_next(const struct session *session)
{
	return rm_server_next(&session->owner->server, &session->conn);
}

/* Pass it to rm_link as on_frame; arg is the session. */
int session_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg);
/* Sends each plan that the aggregator does not hold. */
int session_deliver(struct session *session);
/* In aggregator_requests.c: sends the keys of that ToR, unless the aggregator has them.
 */
int session_deliver_keys(struct session *session, struct aggregators_tor *tor,
    const struct publish_tor *plan);
/* The aggregator's hello has keys of that epoch. True: most aggregators have these
 * keys, so the epoch is in use now, and its keys are sent to all. */
bool aggregators_epoch_held(struct aggregators *aggregators, uint32_t held);
/* If a new epoch has begun, sends its keys to all aggregators. */
bool aggregators_epoch_over(struct aggregators *aggregators);
/* Sends the brake. If none was ever set, it sends nothing and returns 0. */
int session_brake(struct session *session);
int session_on_resolve(struct session *session, const uint8_t *data, size_t len);
int session_on_join(struct session *session, const uint8_t *data, size_t len);
/* In agent_place.c: handles the hello of an agent, which has another format, and its
 * request. */
int session_on_place(struct session *session, const uint8_t *data, size_t len);
int session_on_traced(struct session *session, const uint8_t *data, size_t len);
int session_on_drilled(struct session *session, const uint8_t *data, size_t len);
bool session_serves(const struct session *session, const char *tor);
/* True: the aggregator serves one of the RNIC's ToRs. rnic NULL: false. */
bool session_serves_rnic(
    const struct session *session, const struct registry_rnic *rnic);

#endif
