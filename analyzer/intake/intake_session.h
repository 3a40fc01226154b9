/*
 * intake_session - the session of one aggregator: its hello, messages and
 * acknowledgements. Private to intake*.c and the fuzzer.
 */
#ifndef ANALYZER_INTAKE_INTAKE_SESSION_H
#define ANALYZER_INTAKE_INTAKE_SESSION_H

#include <uthash.h>

#include "analyzer/intake/intake_info.h"
#include "analyzer/intake/intake_lanes.h"
#include "analyzer/intake/intake_racks.h"
#include "rackmesh/net/refusals.h"
#include "rackmesh/net/server.h"

struct rm_timer;

enum { LANE_SUMMARY, LANE_INCIDENT, LANES };

#define INTAKE_KEY_BYTES (2 * RM_NAME_BYTES)

struct intake_peer { /* an aggregator, whether it is connected or not */
	char key[INTAKE_KEY_BYTES];
	struct intake_session *session; /* NULL: not connected */
	uint64_t life;                  /* incarnation of the aggregator's process */
	struct intake_lane lanes[LANES][INTAKE_INCARNATIONS];
	struct intake_racks *racks; /* NULL before the aggregator's hello */
	struct intake_peer *next_due;
	bool is_due; /* the peer is in the list intake.due */
	UT_hash_handle hh;
};

/* an opened message of a lane; it borrows from the message's bytes */
struct intake_message {
	int lane;
	union {
		struct wire_summary_view summary;
		struct wire_incident incident;
	};
};

struct intake_session {
	struct intake_info info; /* must be the first member */
	struct intake *owner;
	struct intake_peer *peer; /* NULL before the aggregator's hello */
	struct rm_conn conn;      /* pending until the welcome is sent */
	rm_mono_t pinged;
	bool has_pinged; /* the aggregator has sent a ping */
	/* bytes of a message that could not be stored yet; owned */
	uint8_t *held;
	struct intake_message held_message; /* view of held */
};

struct intake {
	struct rm_loop *loop;
	struct intake_options options;
	struct intake_callbacks callbacks;
	struct rm_server server;
	struct intake_peer *peers, *due;
	struct rm_refusals refusals;
	struct intake_pending *pending[LANES];
	struct wire_writer *writer;
	struct rm_timer *tick;
	rm_mono_t tick_at; /* when the next tick is due */
	uint64_t last_id, last_used;
	uint64_t durable[LANES]; /* tickets up to which messages are durable */
	struct intake_counts counts;
};

/* Returns the session after this one, in the order of rm_server_first; NULL: there are
 * no more. */
static inline struct intake_session *
intake_session_next(const struct intake_session *session)
{
	return rm_server_next(&session->owner->server, &session->conn);
}

/* Callback on_frame of rm_link; arg: the session. */
int intake_session_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
/* Tries to store the held message again. */
void intake_session_retry(struct intake_session *session);
/* Sends a ping. < 0: close the link; -ENOBUFS: its queue is full. */
int intake_session_ping(struct intake_session *session, rm_mono_t now);

/* Finds or adds the entry of an aggregator. NULL: the table is full. */
struct intake_peer *intake_peer_get(
    struct intake *intake, const char *region, const char *name);
void intake_peer_due(struct intake *intake, struct intake_peer *peer);
/* Marks messages that have become durable, so that they are acknowledged. */
void intake_settle(struct intake *intake, int lane);
/* Sends the acknowledgements that are due. */
void intake_flush(struct intake *intake);

#endif
