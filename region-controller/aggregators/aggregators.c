#include "region-controller/aggregators/aggregators.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/net/link.h"
#include "rackmesh/tls/tls.h"
#include "region-controller/aggregators/aggregator_session.h"
#include "region-controller/registry/qp_joins.h"

#define MAX_FRAME_BYTES (9u << 20) /* limit of an answer to a drill-down */
/* limit of the plans of all ToRs of an aggregator */
#define MAX_OUTPUT_BYTES (64u << 20)
#define SWEEP_NS RM_NS_PER_S
#define PING_NS (500 * RM_NS_PER_MS)

/* ---- sessions come and go -------------------------------------------------------- */

void
session_free(struct session *session)
{
	struct aggregators *owner = session->owner;

	if (session->prev != NULL)
		session->prev->next = session->next;
	else
		owner->sessions = session->next;
	if (session->next != NULL)
		session->next->prev = session->prev;
	owner->counts.sessions--;
	rm_pending_conns_remove(&owner->pending_conns, &session->pending_conn);
	owner->counts.refused_messages += rm_link_counts(session->link)->refused_frames;
	rm_link_free(session->link);
	free(session->info.tors);
	free(session->info.versions_bytes);
	free(session);
}

static void
session_on_close(struct rm_link *link, int reason, void *arg)
{
	struct session *session = arg;
	char peer[RM_ADDRESS_TEXT];

	rm_address_format(&session->info.peer, peer);
	if (session->info.is_welcome)
		rm_log_at(reason == 0 ? RM_LOG_INFO : RM_LOG_WARNING, __FILE__,
		    __LINE__, reason, "%s (%s): disconnected", session->info.name,
		    peer);
	else if (session->is_agent)
		; /* an agent was answered, or was too slow: its own log says so */
	else if (reason != -EPERM)
		rm_log_warn(reason, "%s: disconnected before a hello%s%s", peer,
		    rm_link_error(link)[0] != '\0' ? ": " : "", rm_link_error(link));
	session_free(session);
}

static int
session_on_open(struct rm_link *link, void *arg)
{
	const struct session *session = arg;

	rm_pending_conns_named(&session->owner->pending_conns, &session->pending_conn);
	return 0;
}

static const struct rm_link_callbacks link_callbacks = {
	.on_frame = session_on_frame,
	.on_close = session_on_close,
	.on_open = session_on_open,
};

/* A peer that vanishes is noticed within about 15 s. */
static void
keep_alive(int fd)
{
	static const struct {
		int level, option, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 5 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 3 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 15000 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		(void)setsockopt(fd, options[i].level, options[i].option,
		    &options[i].value, sizeof(options[i].value));
}

int
aggregators_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct aggregators *aggregators = arg;
	const struct rm_link_limits limits = {
		.max_frame_bytes = MAX_FRAME_BYTES,
		.max_output_bytes = MAX_OUTPUT_BYTES,
		.tls = aggregators->options.tls,
		.accepting = true,
	};
	struct session *session = NULL;
	int r;

	if (aggregators->counts.sessions < aggregators->options.max_sessions)
		session = calloc(1, sizeof(*session));
	if (session == NULL) {
		aggregators->counts.refused_connections++;
		close(fd);
		return -ENOBUFS;
	}
	keep_alive(fd);
	session->owner = aggregators;
	session->info.id = ++aggregators->last_id;
	session->info.peer = *peer;
	session->info.since = rm_wall_now();
	r = rm_link_new(
	    aggregators->loop, fd, &limits, &link_callbacks, session, &session->link);
	if (r < 0) {
		aggregators->counts.refused_connections++;
		free(session);
		return r;
	}
	session->next = aggregators->sessions;
	if (session->next != NULL)
		session->next->prev = session;
	aggregators->sessions = session;
	rm_pending_conns_add(&aggregators->pending_conns, &session->pending_conn,
	    session->link, rm_mono_now());
	aggregators->counts.sessions++;
	aggregators->counts.accepted++;
	return 0;
}

/* A connection without a hello is closed. */
static void
sweep(void *arg)
{
	struct aggregators *aggregators = arg;

	rm_pending_conns_sweep(&aggregators->pending_conns, rm_mono_now());
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
	for (struct session *session = aggregators->sessions; session != NULL;
	     session = session->next) {
		/* If the queue is full, sending the next plan fails, and the connection
		 * is closed then. */
		if (session->info.is_welcome)
			(void)rm_link_send(session->link, bytes.data, bytes.len);
	}
}

/* Sends a ping to all aggregators while we lead; the watchdog of the service manager is
 * fed in any case. */
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
	for (struct session *session = aggregators->sessions; session != NULL;
	     session = session->next)
		rm_link_close(session->link, -ESHUTDOWN);
}

void
aggregators_deliver(struct aggregators *aggregators)
{
	struct session *session = aggregators->sessions;

	for (; session != NULL; session = session->next) {
		int r = session->info.is_welcome ? session_deliver(session) : 0;

		/* The aggregator connects again, and its hello says which plans it has.
		 */
		if (r < 0)
			rm_link_close(session->link, r);
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

/* ---- life ----------------------------------------------------------------------- */

int
aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret)
{
	struct aggregators *aggregators = calloc(1, sizeof(*aggregators));
	int r = -ENOMEM;

	if (aggregators == NULL)
		return -ENOMEM;
	aggregators->loop = loop;
	aggregators->options = *options;
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
	while (aggregators->sessions != NULL)
		session_free(aggregators->sessions);
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
	const struct session *session = aggregators->sessions;

	while (session != NULL && session->info.id != id)
		session = session->next;
	return session != NULL;
}

size_t
aggregators_serving(const struct aggregators *aggregators, const char *tor)
{
	size_t count = 0;

	for (const struct session *session = aggregators->sessions; session != NULL;
	     session = session->next)
		count += session->info.is_welcome && session_serves(session, tor);
	return count;
}

const struct aggregators_session *
aggregators_get(const struct aggregators *aggregators, size_t i)
{
	const struct session *session = aggregators->sessions;

	while (session != NULL && i-- > 0)
		session = session->next;
	return session != NULL ? &session->info : NULL;
}

const struct rm_pending_conns *
aggregators_pending_conns(const struct aggregators *aggregators)
{
	return &aggregators->pending_conns;
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
