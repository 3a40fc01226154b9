#define HASH_NONFATAL_OOM 1
#include "analyzer/intake/intake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/intake/intake_session.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/link.h"

/* ---- acknowledgements: which messages an aggregator may delete ---- */

void
intake_peer_due(struct intake *intake, struct intake_peer *peer)
{
	if (peer->is_due)
		return;
	peer->is_due = true;
	peer->next_due = intake->due;
	intake->due = peer;
}

static int
acknowledge(struct intake *intake, struct intake_session *session, int name,
    const struct intake_lane *lane)
{
	const struct wire_ack ack = {
		.lane = name == LANE_INCIDENT ? WIRE_LANE_INCIDENT : WIRE_LANE_SUMMARY,
		.incarnation = lane->incarnation,
		.seq = lane->durable,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_ack(intake->writer, &ack, &bytes);
	if (r == 0)
		r = rm_link_send(session->link, bytes.data, bytes.len);
	intake->counts.acks += r == 0;
	return r;
}

static void
peer_flush(struct intake *intake, struct intake_peer *peer)
{
	struct intake_session *session = peer->session;
	uint64_t unacked = 0;

	for (int l = 0; l < LANES; l++)
		for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
			struct intake_lane *lane = &peer->lanes[l][i];
			int r = 0;

			if (session != NULL && lane->ack_due)
				r = acknowledge(intake, session, l, lane);
			/* If that fails the link is closed: the aggregator sends again
			 * what is not acknowledged. */
			if (r < 0)
				rm_link_close(session->link, r);
			lane->ack_due = false;
			unacked += lane->pending;
		}
	if (session != NULL)
		session->info.unacked = unacked;
}

void
intake_flush(struct intake *intake)
{
	while (intake->due != NULL) {
		struct intake_peer *peer = intake->due;

		intake->due = peer->next_due;
		peer->is_due = false;
		peer_flush(intake, peer);
	}
}

void
intake_settle(struct intake *intake, int lane)
{
	struct intake_peer *peer;

	while ((peer = intake_pending_pop(
		    intake->pending[lane], intake->durable[lane])) != NULL)
		intake_peer_due(intake, peer);
}

void
intake_durable(struct intake *intake, enum wire_lane lane, uint64_t ticket)
{
	int name = lane == WIRE_LANE_INCIDENT ? LANE_INCIDENT : LANE_SUMMARY;

	if (ticket > intake->durable[name])
		intake->durable[name] = ticket;
	intake_settle(intake, name);
	intake_flush(intake);
}

/* sends pings, acknowledgements and drill-down queries */
#define MAX_OUTPUT_BYTES (1u << 20)
#define TICK_NS (100 * RM_NS_PER_MS)
#define PING_NS (500 * RM_NS_PER_MS)

/* ---- aggregators, connected or not ----------------------------------------------- */

static bool
peer_is_idle(const struct intake_peer *peer)
{
	bool idle = peer->session == NULL && !peer->is_due;

	for (size_t l = 0; l < LANES; l++)
		for (size_t i = 0; i < INTAKE_INCARNATIONS; i++)
			idle = idle && peer->lanes[l][i].pending == 0;
	return idle;
}

static void
peer_free(struct intake *intake, struct intake_peer *peer)
{
	HASH_DEL(intake->peers, peer);
	intake->counts.peers--;
	intake_racks_free(peer->racks);
	free(peer);
}

static void
make_room(struct intake *intake)
{
	struct intake_peer *peer, *next;

	HASH_ITER (hh, intake->peers, peer, next) {
		if (peer_is_idle(peer)) {
			peer_free(intake, peer);
			return;
		}
	}
}

static struct intake_peer *
peer_find(const struct intake *intake, const char *region, const char *name)
{
	char key[INTAKE_KEY_BYTES];
	struct intake_peer *peer = NULL;

	snprintf(key, sizeof(key), "%s|%s", region, name);
	HASH_FIND_STR(intake->peers, key, peer);
	return peer;
}

struct intake_peer *
intake_peer_get(struct intake *intake, const char *region, const char *name)
{
	struct intake_peer *peer = peer_find(intake, region, name);

	if (peer != NULL)
		return peer;
	if (intake->counts.peers == INTAKE_MAX_PEERS)
		make_room(intake);
	if (intake->counts.peers == INTAKE_MAX_PEERS)
		return NULL;
	peer = calloc(1, sizeof(*peer));
	if (peer != NULL) {
		snprintf(peer->key, sizeof(peer->key), "%s|%s", region, name);
		HASH_ADD_STR(intake->peers, key, peer);
	}
	if (peer == NULL || peer->hh.tbl == NULL) {
		free(peer);
		return NULL;
	}
	intake->counts.peers++;
	return peer;
}

/* ---- sessions come and go -------------------------------------------------------- */

void
intake_session_free(struct intake_session *session)
{
	struct intake *owner = session->owner;

	if (session->prev != NULL)
		session->prev->next = session->next;
	else
		owner->sessions = session->next;
	if (session->next != NULL)
		session->next->prev = session->prev;
	owner->counts.sessions--;
	rm_pending_conns_remove(&owner->pending_conns, &session->pending_conn);
	if (session->peer != NULL && session->peer->session == session)
		session->peer->session = NULL;
	owner->counts.refused_messages += rm_link_counts(session->link)->refused_frames;
	rm_link_free(session->link);
	free(session->held);
	free(session->info.tors);
	free(session);
}

static void
session_on_close(struct rm_link *link, int reason, void *arg)
{
	struct intake_session *session = arg;
	const struct intake_callbacks *callbacks = &session->owner->callbacks;
	char peer[RM_ADDRESS_TEXT];

	rm_address_format(&session->info.peer, peer);
	if (session->info.is_welcome) {
		rm_log_at(reason == 0 ? RM_LOG_INFO : RM_LOG_WARNING, __FILE__,
		    __LINE__, reason, "%s (%s): disconnected", session->info.name,
		    peer);
		callbacks->on_gone(&session->info, callbacks->arg);
	} else if (reason != -EPERM) {
		rm_log_warn(reason, "%s: disconnected before a hello%s%s", peer,
		    rm_link_error(link)[0] != '\0' ? ": " : "", rm_link_error(link));
	}
	intake_session_free(session);
}

static int
session_on_open(struct rm_link *link, void *arg)
{
	const struct intake_session *session = arg;

	rm_pending_conns_named(&session->owner->pending_conns, &session->pending_conn);
	return 0;
}

static const struct rm_link_callbacks link_callbacks = {
	.on_frame = intake_session_on_frame,
	.on_close = session_on_close,
	.on_open = session_on_open,
};

int
intake_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct intake *intake = arg;
	const struct rm_link_limits limits = {
		.max_frame_bytes = WIRE_MAX_BYTES,
		.max_output_bytes = MAX_OUTPUT_BYTES,
		.tls = intake->options.tls,
		.accepting = true,
	};
	struct intake_session *session = NULL;
	int r;

	if (intake->counts.sessions < intake->options.max_sessions)
		session = calloc(1, sizeof(*session));
	if (session == NULL) {
		intake->counts.refused_connections++;
		close(fd);
		return -ENOBUFS;
	}
	session->owner = intake;
	session->info.id = ++intake->last_id;
	session->info.peer = *peer;
	session->info.since = rm_wall_now();
	r = rm_link_new(
	    intake->loop, fd, &limits, &link_callbacks, session, &session->link);
	if (r < 0) {
		intake->counts.refused_connections++;
		free(session);
		return r;
	}
	session->next = intake->sessions;
	if (session->next != NULL)
		session->next->prev = session;
	intake->sessions = session;
	rm_pending_conns_add(&intake->pending_conns, &session->pending_conn,
	    session->link, rm_mono_now());
	intake->counts.sessions++;
	intake->counts.accepted++;
	return 0;
}

/* ---- time passes ----------------------------------------------------------------- */

/* 0, or why its link is to be closed. The caller closes it later, because closing
 * changes the list. */
static int
session_tick(struct intake_session *session, rm_mono_t now)
{
	struct intake *intake = session->owner;

	if (!session->info.is_welcome)
		return 0;
	if (session->held != NULL) {
		/* The session is not silent: this analyzer does not read it. */
		session->info.last_seen = now;
		intake->callbacks.on_seen(&session->info, intake->callbacks.arg);
		intake_session_retry(session);
	}
	if (session->has_pinged &&
	    rm_mono_since(now, session->info.last_seen) > intake->options.silence_ns) {
		intake->counts.silent++;
		session->has_pinged = false; /* logged once */
		return -ETIMEDOUT;
	}
	if (rm_mono_since(now, session->pinged) < PING_NS)
		return 0;
	return intake_session_ping(session, now);
}

static void
on_tick(void *arg)
{
	struct intake *intake = arg;
	struct intake_session *session = intake->sessions;
	rm_mono_t now = rm_mono_now();

	for (; session != NULL; session = session->next) {
		int r = session_tick(session, now);

		if (r < 0)
			rm_link_close(session->link, r);
	}
	rm_pending_conns_sweep(&intake->pending_conns, now);
	intake_flush(intake);
	rm_timer_after(intake->tick, TICK_NS);
}

void
intake_stalled(struct intake *intake, rm_mono_t now)
{
	for (struct intake_session *session = intake->sessions; session != NULL;
	     session = session->next)
		session->info.last_seen = now;
}

/* ---- drill-down, reading --------------------------------------------------------- */

int
intake_drill(struct intake *intake, uint64_t id, const struct wire_drill *drill)
{
	struct intake_session *session = intake->sessions;
	struct wire_bytes bytes;
	int r;

	while (session != NULL && session->info.id != id)
		session = session->next;
	if (session == NULL)
		return -ENOTCONN;
	r = wire_write_drill(intake->writer, drill, &bytes);
	return r < 0 ? r : rm_link_send(session->link, bytes.data, bytes.len);
}

const struct intake_info *
intake_get(const struct intake *intake, size_t i)
{
	const struct intake_session *session = intake->sessions;

	while (session != NULL && i-- > 0)
		session = session->next;
	return session != NULL ? &session->info : NULL;
}

const struct intake_info *
intake_find(const struct intake *intake, const char *region, const char *name)
{
	const struct intake_peer *peer = peer_find(intake, region, name);

	return peer != NULL && peer->session != NULL ? &peer->session->info : NULL;
}

const struct rm_pending_conns *
intake_pending_conns(const struct intake *intake)
{
	return &intake->pending_conns;
}

const struct intake_counts *
intake_counts(const struct intake *intake)
{
	return &intake->counts;
}

/* ---- life ------------------------------------------------------------------------ */

int
intake_new(struct rm_loop *loop, const struct intake_options *options,
    const struct intake_callbacks *callbacks, struct intake **ret)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	int r = -ENOMEM;

	if (intake == NULL)
		return -ENOMEM;
	intake->loop = loop;
	intake->options = *options;
	intake->callbacks = *callbacks;
	intake->writer = wire_writer_new();
	if (intake->writer != NULL)
		r = rm_timer_new(loop, on_tick, intake, &intake->tick);
	for (int i = 0; i < LANES && r == 0; i++)
		r = intake_pending_new(INTAKE_MAX_PENDING, &intake->pending[i]);
	if (r < 0) {
		intake_free(intake);
		return r;
	}
	rm_timer_after(intake->tick, TICK_NS);
	*ret = intake;
	return 0;
}

void
intake_free(struct intake *intake)
{
	struct intake_peer *peer, *next;

	if (intake == NULL)
		return;
	while (intake->sessions != NULL)
		intake_session_free(intake->sessions);
	HASH_ITER (hh, intake->peers, peer, next)
		peer_free(intake, peer);
	for (int i = 0; i < LANES; i++)
		intake_pending_free(intake->pending[i]);
	rm_timer_free(intake->tick);
	wire_writer_free(intake->writer);
	free(intake);
}
