#define HASH_NONFATAL_OOM 1
#include "analyzer/intake/intake.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		r = rm_link_send(session->conn.link, bytes.data, bytes.len);
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
			/* If sending fails, the link is closed, and the aggregator
			 * later sends all messages again that are not acknowledged. */
			if (r < 0)
				rm_link_close(session->conn.link, r);
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

/* enough for pings, acknowledgements and drill-down queries */
#define MAX_OUTPUT_BYTES (1u << 20)
#define TICK_NS (100 * RM_NS_PER_MS)
#define PING_NS (500 * RM_NS_PER_MS)
/* If a tick is later than this, this process has stalled, and what peers sent meanwhile
 * may not be read yet. */
#define STALL_NS (300 * RM_NS_PER_MS)

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

/* ---- begin and end of sessions ---- */

static void
on_accept(void *arg, const struct rm_address *peer, void *owner)
{
	struct intake *intake = owner;
	struct intake_session *session = arg;

	session->owner = intake;
	session->info.id = ++intake->last_id;
	session->info.peer = *peer;
	session->info.since = rm_wall_now();
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct intake_session *session = arg;
	const struct intake_callbacks *callbacks = &session->owner->callbacks;

	rm_server_log_end(link, &session->info.peer, reason,
	    session->info.is_welcome ? session->info.name : NULL);
	if (session->info.is_welcome)
		callbacks->on_gone(&session->info, callbacks->arg);
}

static void
on_free(void *arg)
{
	struct intake_session *session = arg;

	if (session->peer != NULL && session->peer->session == session)
		session->peer->session = NULL;
	session->owner->counts.refused_messages +=
	    rm_link_counts(session->conn.link)->refused_frames;
	free(session->held);
	free(session->info.tors);
}

int
intake_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct intake *intake = arg;

	return rm_server_accept(fd, peer, &intake->server);
}

/* ---- time passes ----------------------------------------------------------------- */

/* Returns 0, or the negative errno for which the link must be closed. The caller closes
 * it after the walk over the sessions, because closing changes the list. */
static int
session_tick(struct intake_session *session, rm_mono_t now)
{
	struct intake *intake = session->owner;

	if (!session->info.is_welcome)
		return 0;
	if (session->held != NULL) {
		/* The session is not silent: its messages are not being read. */
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
wait_for_tick(struct intake *intake, rm_mono_t now)
{
	intake->tick_at = rm_mono_add(now, TICK_NS);
	rm_timer_at(intake->tick, intake->tick_at);
}

static void
on_tick(void *arg)
{
	struct intake *intake = arg;
	struct intake_session *session = rm_server_first(&intake->server);
	rm_mono_t now = rm_mono_now();

	/* After a stall this may run before the owner calls intake_stalled. */
	if (rm_mono_since(now, intake->tick_at) > STALL_NS)
		intake_stalled(intake, now);
	for (; session != NULL; session = intake_session_next(session)) {
		int r = session_tick(session, now);

		if (r < 0)
			rm_link_close(session->conn.link, r);
	}
	rm_server_sweep(&intake->server, now);
	intake_flush(intake);
	wait_for_tick(intake, rm_mono_now());
}

void
intake_stalled(struct intake *intake, rm_mono_t now)
{
	for (struct intake_session *session = rm_server_first(&intake->server);
	     session != NULL; session = intake_session_next(session))
		session->info.last_seen = now;
}

/* ---- drill-down, reading --------------------------------------------------------- */

int
intake_drill(struct intake *intake, uint64_t id, const struct wire_drill *drill)
{
	struct intake_session *session = rm_server_first(&intake->server);
	struct wire_bytes bytes;
	int r;

	while (session != NULL && session->info.id != id)
		session = intake_session_next(session);
	if (session == NULL)
		return -ENOTCONN;
	r = wire_write_drill(intake->writer, drill, &bytes);
	return r < 0 ? r : rm_link_send(session->conn.link, bytes.data, bytes.len);
}

const struct intake_info *
intake_get(const struct intake *intake, size_t i)
{
	const struct intake_session *session = rm_server_first(&intake->server);

	while (session != NULL && i-- > 0)
		session = intake_session_next(session);
	return session != NULL ? &session->info : NULL;
}

const struct intake_info *
intake_find(const struct intake *intake, const char *region, const char *name)
{
	const struct intake_peer *peer = peer_find(intake, region, name);

	return peer != NULL && peer->session != NULL ? &peer->session->info : NULL;
}

const struct rm_server *
intake_server(const struct intake *intake)
{
	return &intake->server;
}

const struct intake_counts *
intake_counts(const struct intake *intake)
{
	return &intake->counts;
}

/* ---- creation and end ---- */

int
intake_new(struct rm_loop *loop, const struct intake_options *options,
    const struct intake_callbacks *callbacks, struct intake **ret)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	struct rm_server_options server = {
		.loop = loop,
		.limits = { .max_frame_bytes = WIRE_MAX_BYTES,
		    .max_output_bytes = MAX_OUTPUT_BYTES,
		    .tls = options->tls },
		.max_conns = options->max_sessions,
		.session_bytes = sizeof(struct intake_session),
		.conn_offset = offsetof(struct intake_session, conn),
		.on_accept = on_accept,
		.on_frame = intake_session_on_frame,
		.on_close = on_close,
		.on_free = on_free,
	};
	int r = -ENOMEM;

	if (intake == NULL)
		return -ENOMEM;
	intake->loop = loop;
	intake->options = *options;
	intake->callbacks = *callbacks;
	server.arg = intake;
	rm_server_init(&intake->server, &server);
	intake->writer = wire_writer_new();
	if (intake->writer != NULL)
		r = rm_timer_new(loop, on_tick, intake, &intake->tick);
	for (int i = 0; i < LANES && r == 0; i++)
		r = intake_pending_new(INTAKE_MAX_PENDING, &intake->pending[i]);
	if (r < 0) {
		intake_free(intake);
		return r;
	}
	wait_for_tick(intake, rm_mono_now());
	*ret = intake;
	return 0;
}

void
intake_free(struct intake *intake)
{
	struct intake_peer *peer, *next;

	if (intake == NULL)
		return;
	rm_server_clear(&intake->server);
	HASH_ITER (hh, intake->peers, peer, next)
		peer_free(intake, peer);
	for (int i = 0; i < LANES; i++)
		intake_pending_free(intake->pending[i]);
	rm_timer_free(intake->tick);
	wire_writer_free(intake->writer);
	free(intake);
}
