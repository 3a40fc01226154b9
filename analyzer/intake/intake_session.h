/*
 * intake_session - the session with one aggregator: its hello, messages and
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

struct intake_peer { /* an aggregator, connected or not */
	char key[INTAKE_KEY_BYTES];
	struct intake_session *session; /* NULL: not connected */
	uint64_t life;                  /* the incarnation of its process */
	struct intake_lane lanes[LANES][INTAKE_INCARNATIONS];
	struct intake_racks *racks; /* NULL before its hello */
	struct intake_peer *next_due;
	bool is_due; /* in intake.due */
	UT_hash_handle hh;
};

struct intake_message { /* of a lane, opened; it borrows from its bytes */
	int lane;
	union {
		struct wire_summary_view summary;
		struct wire_incident incident;
	};
};

struct intake_session {
	struct intake_info info; /* first */
	struct intake *owner;
	struct intake_peer *peer; /* NULL before its hello */
	struct rm_conn conn;      /* pending until it is welcome */
	rm_mono_t pinged;
	bool has_pinged;                    /* the other side */
	uint8_t *held;                      /* a message that could not be taken yet */
	struct intake_message held_message; /* on held */
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
	uint64_t last_id, last_used;
	uint64_t durable[LANES]; /* tickets */
	struct intake_counts counts;
};

/* The next one behind rm_server_first; NULL: no more. */
static inline struct intake_session *
intake_session_next(const struct intake_session *session)
{
	return rm_server_next(&session->owner->server, &session->conn);
}

/* For rm_link's on_frame; arg is the session. */
int intake_session_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
/* Tries the held message again. */
void intake_session_retry(struct intake_session *session);
/* -ENOBUFS: the link's queue is full, or another reason to close it. */
int intake_session_ping(struct intake_session *session, rm_mono_t now);

/* The aggregator's entry, made if there is none. NULL: the table is full. */
struct intake_peer *intake_peer_get(
    struct intake *intake, const char *region, const char *name);
void intake_peer_due(struct intake *intake, struct intake_peer *peer);
/* Acknowledges what has become durable. */
void intake_settle(struct intake *intake, int lane);
/* Acknowledges what is due. */
void intake_flush(struct intake *intake);

#endif
