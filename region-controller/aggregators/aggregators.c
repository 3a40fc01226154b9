#include "region-controller/aggregators/aggregators.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/net/link.h"
#include "rackmesh/tls/tls.h"
#include "region-controller/aggregators/aggregator_session.h"
#include "region-controller/registry/qp_joins.h"

#define MAX_FRAME_BYTES (9u << 20) /* an answer to a drill-down may be this large */
/* the plans of all ToRs of one aggregator may be this large */
#define MAX_OUTPUT_BYTES (64u << 20)
/* The connection to a peer that acknowledges nothing for this time is closed. */
#define VANISHED_MS 15000
#define SWEEP_NS RM_NS_PER_S
#define PING_NS (500 * RM_NS_PER_MS)

/* ---- begin and end of sessions ---- */

static void
on_accept(void *arg, const struct rm_address *peer, void *owner)
{
	struct aggregators *aggregators = owner;
	struct session *session = arg;

	session->owner = aggregators;
	session->info.id = ++aggregators->last_id;
	session->info.peer = *peer;
	session->info.since = rm_wall_now();
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	const struct session *session = arg;

	/* The end of an agent's connection is logged by the agent. */
	if (!session->is_agent)
		rm_server_log_end(link, &session->info.peer, reason,
		    session->info.is_welcome ? session->info.name : NULL);
}

static void
on_free(void *arg)
{
	struct session *session = arg;

	session->owner->counts.refused_messages +=
	    rm_link_counts(session->conn.link)->refused_frames;
	free(session->info.tors);
	free(session->info.versions_bytes);
}

int
aggregators_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct aggregators *aggregators = arg;

	return rm_server_accept(fd, peer, &aggregators->server);
}

/* Closes connections without a hello. */
static void
sweep(void *arg)
{
	struct aggregators *aggregators = arg;

	rm_server_sweep(&aggregators->server, rm_mono_now());
	rm_timer_after(aggregators->sweep, SWEEP_NS);
}

static void
ping_all(struct aggregators *aggregators)
{
	const struct wire_ping ping = { .now_ns = (uint64_t)rm_mono_now().ns,
		.ending = "",
		.ends_s = (uint64_t)rm_tls_ending_wall_s(
		    aggregators->options.tls, rm_wall_now().ns / RM_NS_PER_S) };
	struct wire_bytes bytes;

	if (aggregators->options.standby(aggregators->options.arg) != NULL ||
	    wire_write_ping_ending(aggregators->writer, &ping, &bytes) < 0)
		return;
	for (struct session *session = rm_server_first(&aggregators->server);
	     session != NULL; session = session_next(session)) {
		/* If the queue is full, sending the next plan will fail, and will close
		 * the connection. */
		if (session->info.is_welcome)
			(void)rm_link_send(session->conn.link, bytes.data, bytes.len);
	}
}

/* Sends a ping to all aggregators if this controller leads. It feeds the service
 * manager's watchdog in any case. */
static void
on_ping(void *arg)
{
	struct aggregators *aggregators = arg;

	rm_timer_after(aggregators->ping, PING_NS);
	ping_all(aggregators);
	if (aggregators_epoch_over(aggregators))
		aggregators_deliver(aggregators);
	rm_notify_worked(rm_loop_notify(aggregators->loop), NULL, rm_mono_now());
}

void
aggregators_close(struct aggregators *aggregators)
{
	for (struct session *session = rm_server_first(&aggregators->server);
	     session != NULL; session = session_next(session))
		rm_link_close(session->conn.link, -ESHUTDOWN);
}

void
aggregators_deliver(struct aggregators *aggregators)
{
	struct session *session = rm_server_first(&aggregators->server);

	for (; session != NULL; session = session_next(session)) {
		int r = session->info.is_welcome ? session_deliver(session) : 0;

		/* When the aggregator connects again, its hello shows which plans it
		 * has. */
		if (r < 0)
			rm_link_close(session->conn.link, r);
	}
}

static void
deliver_now(void *arg)
{
	aggregators_deliver(arg);
}

void
aggregators_deliver_soon(struct aggregators *aggregators)
{
	rm_timer_after(aggregators->deliver, 0);
}

/* ---- creation and end ---- */

int
aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret)
{
	struct aggregators *aggregators = calloc(1, sizeof(*aggregators));
	struct rm_server_options server = {
		.loop = loop,
		.limits = { .max_frame_bytes = MAX_FRAME_BYTES,
		    .max_output_bytes = MAX_OUTPUT_BYTES,
		    .tls = options->tls },
		.max_conns = options->max_sessions,
		.session_bytes = sizeof(struct session),
		.conn_offset = offsetof(struct session, conn),
		.user_timeout_ms = VANISHED_MS,
		.on_accept = on_accept,
		.on_frame = session_on_frame,
		.on_close = on_close,
		.on_free = on_free,
	};
	int r = -ENOMEM;

	if (aggregators == NULL)
		return -ENOMEM;
	aggregators->loop = loop;
	aggregators->options = *options;
	server.arg = aggregators;
	rm_server_init(&aggregators->server, &server);
	aggregators->writer = wire_writer_new();
	if (aggregators->writer != NULL)
		r = qp_joins_new(QP_JOINS_MAX, &aggregators->joins);
	if (r == 0)
		r = rm_timer_new(loop, sweep, aggregators, &aggregators->sweep);
	if (r == 0)
		r = rm_timer_new(loop, on_ping, aggregators, &aggregators->ping);
	if (r == 0)
		r = rm_timer_new(loop, deliver_now, aggregators, &aggregators->deliver);
	if (r < 0) {
		aggregators_free(aggregators);
		return r;
	}
	rm_timer_after(aggregators->sweep, SWEEP_NS);
	rm_timer_after(aggregators->ping, PING_NS);
	*ret = aggregators;
	return 0;
}

void
aggregators_free(struct aggregators *aggregators)
{
	if (aggregators == NULL)
		return;
	rm_server_clear(&aggregators->server);
	rm_timer_free(aggregators->sweep);
	rm_timer_free(aggregators->ping);
	rm_timer_free(aggregators->deliver);
	wire_writer_free(aggregators->writer);
	qp_joins_free(aggregators->joins);
	free(aggregators);
}

bool
aggregators_is_alive(uint64_t id, void *arg)
{
	const struct aggregators *aggregators = arg;
	const struct session *session = rm_server_first(&aggregators->server);

	while (session != NULL && session->info.id != id)
		session = session_next(session);
	return session != NULL;
}

size_t
aggregators_serving(const struct aggregators *aggregators, const char *tor)
{
	size_t count = 0;

	for (const struct session *session = rm_server_first(&aggregators->server);
	     session != NULL; session = session_next(session))
		count += session->info.is_welcome && session_serves(session, tor);
	return count;
}

const struct aggregators_session *
aggregators_get(const struct aggregators *aggregators, size_t i)
{
	const struct session *session = rm_server_first(&aggregators->server);

	while (session != NULL && i-- > 0)
		session = session_next(session);
	return session != NULL ? &session->info : NULL;
}

const struct rm_server *
aggregators_server(const struct aggregators *aggregators)
{
	return &aggregators->server;
}

const struct aggregators_counts *
aggregators_counts(const struct aggregators *aggregators)
{
	return &aggregators->counts;
}

const struct qp_joins_counts *
aggregators_joins(const struct aggregators *aggregators)
{
	return qp_joins_counts(aggregators->joins);
}

size_t
aggregators_joins_waiting(const struct aggregators *aggregators)
{
	return qp_joins_count(aggregators->joins);
}
