#include "host-agent/report/aggregator_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/report/batch.h"
#include "host-agent/report/counter_backlog.h"
#include "host-agent/report/heartbeat.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/dialer.h"

struct batch;
struct rm_dialer;
struct rm_timer;
struct wire_writer;

struct aggregator_link {
	struct aggregator_link_options options;
	struct aggregator_link_callbacks callbacks;
	void *arg;
	char address[RM_ENDPOINT_TEXT];
	char peer[AGGREGATOR_LINK_PEER_TEXT];
	/* the name in the peer's certificate; "": the certificate has no valid name */
	char id[RM_NAME_BYTES];

	struct rm_dialer *dialer;
	struct rm_timer *flush; /* armed while the batch is not empty */
	struct wire_writer *writer;
	struct batch *batch;
	struct counter_backlog *backlog; /* counters that the peer may have missed */
	struct outbox *outbox;
	struct heartbeat heartbeat;

	rm_mono_t up_at;     /* when the link was connected */
	rm_mono_t last_seen; /* when the last frame of any kind arrived */
	bool session;        /* the peer has sent its welcome */
	bool mute;           /* the peer has reported that it cannot deliver alerts */
	/* in this session the peer has said that it accepts overdue results */
	bool knows_overdue;
	/* overdue results were added in an earlier session, and may still be in the
	 * outbox */
	bool has_overdue;
	bool wants_all_counts;
	/* batches wait to be sent, so the last heartbeat could not report all results
	 * as sent */
	bool behind;
	rm_mono_t through; /* all results that were known at this time have been sent */
	struct aggregator_link_counts counts;
};

/* ---- sending ---- */

#define AGGREGATOR_LINK_ROWS_PER_FRAME 8192
/* Time-outs for a peer that accepts the connection and sends no welcome, and for a peer
 * whose host has vanished. */
#define AGGREGATOR_LINK_WELCOME_NS (3 * RM_NS_PER_S)
#define AGGREGATOR_LINK_SILENCE_NS (10 * RM_NS_PER_S)

/* All messages are sent by this function; -ENOTCONN: there is no session. */
static int
aggregator_link_send(
    struct aggregator_link *aggregator_link, const struct wire_bytes *bytes)
{
	struct rm_link *link = rm_dialer_link(aggregator_link->dialer);

	if (link == NULL || !aggregator_link->session)
		return -ENOTCONN;
	return rm_link_send(link, bytes->data, bytes->len);
}

/* Sends a batch without its overdue results: they come from a session with a peer that
 * took them, and this peer does not. */
static int
aggregator_link_send_without_overdue(
    struct aggregator_link *aggregator_link, const struct wire_bytes *bytes)
{
	struct wire_batch_view view;
	struct wire_result *kept;
	struct wire_bytes rest;
	size_t count = 0;
	int r;

	r = wire_open_batch(&view, bytes->data, bytes->len);
	if (r < 0)
		return r;
	kept = malloc(view.count * sizeof(*kept) + 1);
	if (kept == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < view.count; i++)
		if (view.results[i].outcome != WIRE_OVERDUE)
			kept[count++] = view.results[i];
	r = wire_write_batch(aggregator_link->writer, &view.head, kept, count, &rest);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &rest);
	if (r == 0)
		aggregator_link->counts.overdue_unsent += view.count - count;
	free(kept);
	return r;
}

/* True: all batches that may be sent now were sent. */
static bool
aggregator_link_pump(struct aggregator_link *aggregator_link, rm_mono_t now)
{
	struct wire_bytes bytes;
	int r;

	while ((r = outbox_peek(aggregator_link->outbox, now, &bytes)) == 0) {
		r = aggregator_link->has_overdue && !aggregator_link->knows_overdue
			? aggregator_link_send_without_overdue(aggregator_link, &bytes)
			: aggregator_link_send(aggregator_link, &bytes);
		if (r < 0)
			break;
		outbox_sent(aggregator_link->outbox, now);
	}
	return r == -ENOENT;
}

bool
aggregator_link_flush(struct aggregator_link *aggregator_link, rm_mono_t now)
{
	struct outbox_tally dropped = outbox_dropped(aggregator_link->outbox);
	size_t results = batch_count(aggregator_link->batch);
	struct wire_batch_head head = {
		.host = aggregator_link->options.host,
		.incarnation = aggregator_link->options.incarnation,
		.seq = outbox_next_seq(aggregator_link->outbox),
		.dropped_batches = dropped.batches,
		.dropped_results = dropped.results,
	};
	struct wire_bytes bytes;
	int r;

	rm_timer_stop(aggregator_link->flush);
	if (results > 0) {
		r = batch_make(aggregator_link->batch, aggregator_link->writer, &head,
		    now, &bytes);
		outbox_push(
		    aggregator_link->outbox, now, results, r < 0 ? NULL : &bytes);
	}
	outbox_expire(aggregator_link->outbox, now);
	return aggregator_link_pump(aggregator_link, now);
}

void
aggregator_link_result(struct aggregator_link *aggregator_link,
    const struct wire_result *result, rm_mono_t sent, rm_mono_t now)
{
	if (result->outcome == WIRE_OVERDUE && !aggregator_link->knows_overdue) {
		aggregator_link->counts.overdue_unsent++;
		return;
	}
	aggregator_link->has_overdue |= result->outcome == WIRE_OVERDUE;
	batch_add(aggregator_link->batch, result, sent,
	    now); /* never full here: a batch is sent below as soon as it is full */
	if (batch_full(aggregator_link->batch))
		aggregator_link_flush(aggregator_link, now);
	else if (batch_count(aggregator_link->batch) == 1)
		rm_timer_at(
		    aggregator_link->flush, batch_deadline(aggregator_link->batch));
}

void
aggregator_link_note(
    struct aggregator_link *aggregator_link, const struct loop_turn *turn)
{
	heartbeat_note(&aggregator_link->heartbeat, turn);
}

/* True: all rows were given to the link. */
static bool
aggregator_link_send_counts(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report, rm_mono_t now)
{
	struct wire_counts counts = {
		.incarnation = aggregator_link->options.incarnation,
		.now_ns = (uint64_t)now.ns,
	};
	size_t done = 0;

	/* A report is sent even without a row: it shows the peer that no probe has
	 * arrived. */
	do {
		struct wire_bytes bytes;
		int r;

		/* NULL when there are no rows: adding to a null pointer is undefined */
		counts.rows = done == 0 ? report->rows : report->rows + done;
		counts.row_count = report->row_count - done;
		if (counts.row_count > AGGREGATOR_LINK_ROWS_PER_FRAME)
			counts.row_count = AGGREGATOR_LINK_ROWS_PER_FRAME;
		r = wire_write_counts(aggregator_link->writer, &counts, &bytes);
		if (r == 0)
			r = aggregator_link_send(aggregator_link, &bytes);
		if (r < 0)
			return false;
		done += counts.row_count;
	} while (done < report->row_count);
	aggregator_link->counts.rx_count_report += done;
	return true;
}

static void
aggregator_link_send_heartbeat(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report)
{
	struct wire_heartbeat beat = {
		.incarnation = aggregator_link->options.incarnation,
		.now_ns = (uint64_t)report->known_through.ns,
		.paused = report->paused,
		.paused_by_hand = report->paused_by_hand,
		.self_loss = report->self_loss,
		.results_through_ns = (uint64_t)aggregator_link->through.ns,
		.live = report->live,
		.live_count = report->live_count,
		.live_mute = report->live_mute,
	};
	struct wire_bytes bytes;
	int r;

	heartbeat_fill(&aggregator_link->heartbeat, &beat);
	r = wire_write_heartbeat(aggregator_link->writer, &beat, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	if (r < 0)
		return; /* the next report has the same data and later data */
	heartbeat_sent(&aggregator_link->heartbeat);
	aggregator_link->counts.heartbeats++;
}

/* Closes a link whose peer is frozen or has vanished: the dialer would not connect to
 * the aggregator that replaces the peer while the link is open. */
static void
aggregator_link_watch_peer(struct aggregator_link *aggregator_link, rm_mono_t now)
{
	struct rm_link *link = rm_dialer_link(aggregator_link->dialer);
	int64_t since_ns = 0;
	uint32_t unacked = 0;

	if (link == NULL)
		return;
	if (!aggregator_link->session) {
		if (rm_mono_since(now, aggregator_link->up_at) >
		    AGGREGATOR_LINK_WELCOME_NS)
			rm_link_close(link, -ETIMEDOUT);
		return;
	}
	if (rm_link_peer_ack(link, &since_ns, &unacked) < 0)
		return;
	if (unacked > 0 && since_ns > AGGREGATOR_LINK_SILENCE_NS)
		rm_link_close(link, -ETIMEDOUT);
	else if (unacked == 0 && rm_link_output_bytes(link) == 0)
		counter_backlog_delivered(aggregator_link->backlog);
}

void
aggregator_link_report(struct aggregator_link *aggregator_link,
    const struct aggregator_link_report *report, rm_mono_t now)
{
	bool all_sent = aggregator_link_flush(aggregator_link, now);

	aggregator_link_watch_peer(aggregator_link, now);
	if (!aggregator_link->session)
		return;
	aggregator_link->behind = !all_sent;
	if (all_sent)
		aggregator_link->through = report->known_through;
	else
		aggregator_link->counts.heartbeats_behind++;
	aggregator_link->wants_all_counts =
	    !all_sent || !aggregator_link_send_counts(aggregator_link, report, now);
	aggregator_link_send_heartbeat(aggregator_link, report);
}

bool
aggregator_link_wants_all_counts(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->session && aggregator_link->wants_all_counts;
}

int
aggregator_link_register(struct aggregator_link *aggregator_link,
    const struct wire_rnic *rnics, const struct wire_settings *settings, size_t count)
{
	struct wire_register reg = {
		.host = aggregator_link->options.host,
		.incarnation = aggregator_link->options.incarnation,
		.rnics = rnics,
		.rnic_count = count,
		.settings = settings,
	};
	struct wire_bytes bytes;
	int r;

	if (!aggregator_link->session)
		return 0;
	r = wire_write_register(aggregator_link->writer, &reg, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	if (r == 0)
		aggregator_link->counts.registrations++;
	return r;
}

int
aggregator_link_paths(struct aggregator_link *aggregator_link,
    const struct wire_path *paths, size_t count, rm_mono_t now)
{
	struct wire_paths report = {
		.host = aggregator_link->options.host,
		.incarnation = aggregator_link->options.incarnation,
		.now_ns = (uint64_t)now.ns,
		.paths = paths,
		.path_count = count,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_paths(aggregator_link->writer, &report, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	if (r == 0)
		aggregator_link->counts.paths += count;
	return r;
}

int
aggregator_link_counter_report(
    struct aggregator_link *aggregator_link, const struct wire_counter_report *counters)
{
	struct counter_backlog *backlog = aggregator_link->backlog;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report report = *counters;
	const bool missed = !counter_backlog_is_empty(backlog);
	const bool session = aggregator_link->session;
	const rm_mono_t now = rm_mono_now();
	struct wire_bytes bytes;
	int r;

	if (missed || !session)
		counter_backlog_add(backlog, counters, now);
	if (!session)
		return -ENOTCONN;
	if (missed)
		report = counter_backlog_report(backlog, rnics);
	report.incarnation = aggregator_link->options.incarnation;
	r = wire_write_counter_report(aggregator_link->writer, &report, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	if (r == 0)
		counter_backlog_sent(
		    backlog, &report, outbox_next_seq(aggregator_link->outbox), now);
	else if (!missed)
		counter_backlog_add(backlog, counters, now);
	aggregator_link->counts.counter_reports += r == 0;
	return r;
}

int
aggregator_link_services(struct aggregator_link *aggregator_link,
    const struct wire_services *services, rm_mono_t now)
{
	struct wire_services report = *services;
	struct wire_bytes bytes;
	int r;

	report.host = aggregator_link->options.host;
	report.incarnation = aggregator_link->options.incarnation;
	report.now_ns = (uint64_t)now.ns;
	r = wire_write_services(aggregator_link->writer, &report, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	aggregator_link->counts.services += r == 0;
	return r;
}

int
aggregator_link_resolve(
    struct aggregator_link *aggregator_link, const struct wire_resolve *resolve)
{
	struct wire_bytes bytes;
	int r;

	r = wire_write_resolve(aggregator_link->writer, resolve, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	aggregator_link->counts.asked += r == 0;
	return r;
}

int
aggregator_link_join(
    struct aggregator_link *aggregator_link, const struct wire_join *join)
{
	struct wire_bytes bytes;
	int r;

	r = wire_write_join(aggregator_link->writer, join, &bytes);
	if (r == 0)
		r = aggregator_link_send(aggregator_link, &bytes);
	aggregator_link->counts.asked += r == 0;
	return r;
}

/* The largest frame is a pinglist. */
#define AGGREGATOR_LINK_MAX_FRAME_BYTES (8u << 20)
/* The most bytes in the link's buffer: enough for all receive counts at once. Batches
 * that do not fit stay in the outbox. */
#define AGGREGATOR_LINK_MAX_OUTPUT_BYTES (4u << 20)

/* Aggregators send something every second. A peer that has been silent for this long is
 * reported as lost. */
#define AGGREGATOR_LINK_LIVE_NS (2500 * RM_NS_PER_MS)

#define AGGREGATOR_LINK_VERSION_MIN (WIRE_VERSION > 1 ? WIRE_VERSION - 1 : 1)

static int
aggregator_link_take_welcome(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	char reason[256];
	struct wire_welcome welcome;
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	if (welcome.refused[0] != 0) {
		aggregator_link->counts.refusals++;
		rm_log_quote(
		    reason, sizeof(reason), welcome.refused, strlen(welcome.refused));
		aggregator_link->callbacks.on_refused(
		    aggregator_link, reason, aggregator_link->arg);
		return -EACCES;
	}
	if (welcome.version < AGGREGATOR_LINK_VERSION_MIN ||
	    welcome.version > WIRE_VERSION)
		return -EPROTONOSUPPORT;
	r = outbox_begin(aggregator_link->outbox, welcome.counted_seq);
	if (r < 0)
		return r;
	counter_backlog_begin(
	    aggregator_link->backlog, welcome.counted_seq, rm_mono_now());
	rm_log_quote(aggregator_link->peer, sizeof(aggregator_link->peer), welcome.id,
	    strlen(welcome.id));
	snprintf(aggregator_link->id, sizeof(aggregator_link->id), "%s",
	    rm_name_valid(welcome.id) ? welcome.id : "");
	aggregator_link->session = true;
	aggregator_link->mute = false;
	aggregator_link->knows_overdue = welcome.knows_overdue;
	aggregator_link->wants_all_counts = true;
	aggregator_link->counts.sessions++;
	rm_dialer_settled(aggregator_link->dialer);
	aggregator_link->behind = false;
	aggregator_link->through.ns = 1; /* nothing was sent in this session yet */
	aggregator_link->callbacks.on_welcome(aggregator_link, aggregator_link->arg);
	aggregator_link_pump(aggregator_link, rm_mono_now());
	return 0;
}

/* The peer has read data, so there may be room for more. */
static void
aggregator_link_go_on(struct aggregator_link *aggregator_link)
{
	if (!aggregator_link_pump(aggregator_link, rm_mono_now()) ||
	    !aggregator_link->behind)
		return;
	aggregator_link->behind = false;
	aggregator_link->callbacks.on_caught_up(aggregator_link, aggregator_link->arg);
}

static int
aggregator_link_take_ack(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	struct wire_ack ack;
	int r;

	r = wire_open_ack(&ack, data, len);
	if (r < 0)
		return r;
	if (ack.lane != WIRE_LANE_BATCH ||
	    ack.incarnation != aggregator_link->options.incarnation)
		return -EBADMSG;
	aggregator_link->counts.acks++;
	r = outbox_ack(aggregator_link->outbox, ack.seq, rm_mono_now());
	if (r < 0)
		return r;
	counter_backlog_counted(aggregator_link->backlog, ack.seq);
	aggregator_link_go_on(aggregator_link);
	return 0;
}

static int
aggregator_link_take_focus(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	struct wire_focus focus;
	int r;

	r = wire_open_focus(&focus, data, len);
	if (r < 0)
		return r;
	aggregator_link->counts.focuses++;
	aggregator_link->callbacks.on_focus(
	    aggregator_link, &focus, aggregator_link->arg);
	return 0;
}

static int
aggregator_link_take_brake(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	struct wire_brake brake;
	int r;

	r = wire_open_brake(&brake, data, len);
	if (r < 0)
		return r;
	aggregator_link->counts.brakes++;
	aggregator_link->callbacks.on_brake(
	    aggregator_link, &brake, aggregator_link->arg);
	return 0;
}

static int
aggregator_link_take_answer(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer answer;
	int r;

	if (aggregator_link->callbacks.on_resolved == NULL)
		return -EBADMSG;
	r = wire_open_resolved(&answer, data, len);
	if (r < 0)
		return r;
	aggregator_link->counts.resolved += answer.found;
	aggregator_link->callbacks.on_resolved(
	    aggregator_link, &answer, aggregator_link->arg);
	return 0;
}

static int
aggregator_link_take_ping(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	struct wire_ping ping;
	int r;

	r = wire_open_ping_ending(&ping, data, len);
	if (r < 0)
		return r;
	aggregator_link->counts.pings++;
	aggregator_link->mute = ping.mute;
	return 0;
}

/* Handles one frame from the peer. The link calls it; so do tests and fuzzers. */
static int
aggregator_link_take_frame(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len)
{
	enum wire_kind kind = wire_kind_of(data, len);
	int r = -EBADMSG;

	aggregator_link->last_seen = rm_mono_now();
	if (aggregator_link->session && wire_is_newer(data, len)) {
		aggregator_link->counts.refused_frames++;
		return 0;
	}
	if ((kind == WIRE_WELCOME) == aggregator_link->session)
		r = -EPROTO; /* the welcome comes first, and only once */
	else if (kind == WIRE_WELCOME)
		r = aggregator_link_take_welcome(aggregator_link, data, len);
	else if (kind == WIRE_ACK)
		r = aggregator_link_take_ack(aggregator_link, data, len);
	else if (kind == WIRE_FOCUS)
		r = aggregator_link_take_focus(aggregator_link, data, len);
	else if (kind == WIRE_BRAKE)
		r = aggregator_link_take_brake(aggregator_link, data, len);
	else if (kind == WIRE_RESOLVE_ANSWER)
		r = aggregator_link_take_answer(aggregator_link, data, len);
	else if (kind == WIRE_PING)
		r = aggregator_link_take_ping(aggregator_link, data, len);
	else if (kind == WIRE_PINGLIST) {
		aggregator_link->counts.pinglists++;
		r = aggregator_link->callbacks.on_pinglist(
		    aggregator_link, data, len, aggregator_link->arg);
	} else if (kind == WIRE_KEYS) {
		aggregator_link->counts.keys++;
		r = 0;
		if (aggregator_link->callbacks.on_keys != NULL)
			r = aggregator_link->callbacks.on_keys(
			    aggregator_link, data, len, aggregator_link->arg);
	}
	if (r < 0 && r != -EACCES)
		aggregator_link->counts.refused_frames++;
	return r;
}

static int
aggregator_link_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return aggregator_link_take_frame(arg, data, len);
}

static int
aggregator_link_on_up(struct rm_link *link, void *arg)
{
	struct aggregator_link *aggregator_link = arg;
	rm_mono_t now = rm_mono_now();
	struct wire_hello hello = {
		.role = WIRE_ROLE_AGENT,
		.version_min = AGGREGATOR_LINK_VERSION_MIN,
		.version_max = WIRE_VERSION,
		.region = aggregator_link->options.region,
		.id = aggregator_link->options.host,
		.incarnation = aggregator_link->options.incarnation,
		.now_ns = (uint64_t)now.ns,
		.software = RACKMESH_VERSION,
	};
	struct wire_bytes bytes;
	int r = 0;

	aggregator_link->up_at = now;
	if (aggregator_link->callbacks.on_peer != NULL)
		r = aggregator_link->callbacks.on_peer(
		    aggregator_link, rm_link_identity(link), aggregator_link->arg);
	if (r < 0)
		return r;
	r = wire_write_hello(aggregator_link->writer, &hello, &bytes);
	return r < 0 ? r : rm_link_send(link, bytes.data, bytes.len);
}

static void
aggregator_link_on_down(int reason, void *arg)
{
	struct aggregator_link *aggregator_link = arg;
	bool had_session = aggregator_link->session;

	/* The next peer may be an older one, which knows no overdue results: see
	 * aggregator_link_send_without_overdue. */
	aggregator_link->session = aggregator_link->behind =
	    aggregator_link->knows_overdue = false;
	outbox_end(aggregator_link->outbox);
	aggregator_link->callbacks.on_down(
	    aggregator_link, reason, had_session, aggregator_link->arg);
}

static void
aggregator_link_on_drained(struct rm_link *link, void *arg)
{
	aggregator_link_go_on(arg);
}

static void
aggregator_link_on_flush(void *arg)
{
	aggregator_link_flush(arg, rm_mono_now());
}

static int
aggregator_link_dial(struct aggregator_link *aggregator_link, struct rm_loop *loop)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = aggregator_link_on_up,
		.on_frame = aggregator_link_on_frame,
		.on_down = aggregator_link_on_down,
		.on_drained = aggregator_link_on_drained,
	};
	struct rm_dialer_options options = {
		.peers = aggregator_link->options.aggregator,
		.peer_count = 1,
		.backoff_base_ns = aggregator_link->options.backoff_base_ns,
		.backoff_cap_ns = aggregator_link->options.backoff_cap_ns,
		.limits = { .max_frame_bytes = AGGREGATOR_LINK_MAX_FRAME_BYTES,
		    .max_output_bytes = AGGREGATOR_LINK_MAX_OUTPUT_BYTES,
		    .tls = aggregator_link->options.tls },
	};

	return rm_dialer_new(
	    loop, &options, &callbacks, aggregator_link, &aggregator_link->dialer);
}

int
aggregator_link_new(struct rm_loop *loop, const struct aggregator_link_options *options,
    const struct aggregator_link_callbacks *callbacks, void *arg,
    struct aggregator_link **ret)
{
	struct aggregator_link *aggregator_link = calloc(1, sizeof(*aggregator_link));
	int r = -ENOMEM;

	if (aggregator_link == NULL)
		return -ENOMEM;
	aggregator_link->options = *options;
	aggregator_link->callbacks = *callbacks;
	aggregator_link->arg = arg;
	rm_endpoint_format(options->aggregator, aggregator_link->address);
	aggregator_link->writer = wire_writer_new();
	aggregator_link->backlog = counter_backlog_new();
	if (aggregator_link->writer == NULL || aggregator_link->backlog == NULL)
		goto out;
	r = batch_new(options->batch_max_results, options->batch_max_age_ns,
	    &aggregator_link->batch);
	if (r < 0)
		goto out;
	r = outbox_new(&options->outbox, &aggregator_link->outbox);
	if (r < 0)
		goto out;
	r = rm_timer_new(
	    loop, aggregator_link_on_flush, aggregator_link, &aggregator_link->flush);
	if (r < 0)
		goto out;
	r = aggregator_link_dial(aggregator_link, loop);
	if (r < 0)
		goto out;
	/* the dialer has its own copy, and the caller's copy may be freed */
	aggregator_link->options.aggregator = NULL;
	*ret = aggregator_link;
	return 0;
out:
	aggregator_link_free(aggregator_link);
	return r;
}

void
aggregator_link_free(struct aggregator_link *aggregator_link)
{
	if (aggregator_link == NULL)
		return;
	rm_dialer_free(aggregator_link->dialer);
	rm_timer_free(aggregator_link->flush);
	outbox_free(aggregator_link->outbox);
	batch_free(aggregator_link->batch);
	counter_backlog_free(aggregator_link->backlog);
	wire_writer_free(aggregator_link->writer);
	free(aggregator_link);
}

bool
aggregator_link_has_session(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->session;
}

const char *
aggregator_link_live(const struct aggregator_link *aggregator_link, rm_mono_t now)
{
	if (!aggregator_link->session || aggregator_link->id[0] == 0 ||
	    rm_mono_since(now, aggregator_link->last_seen) > AGGREGATOR_LINK_LIVE_NS)
		return NULL;
	return aggregator_link->id;
}

bool
aggregator_link_is_mute(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->mute;
}

const char *
aggregator_link_address(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->address;
}

const char *
aggregator_link_identity(const struct aggregator_link *aggregator_link)
{
	const struct rm_link *link = rm_dialer_link(aggregator_link->dialer);

	return link == NULL ? "" : rm_link_identity(link);
}

const char *
aggregator_link_peer(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->peer;
}

const char *
aggregator_link_error(const struct aggregator_link *aggregator_link)
{
	return rm_dialer_error(aggregator_link->dialer);
}

const struct aggregator_link_counts *
aggregator_link_counts(const struct aggregator_link *aggregator_link)
{
	return &aggregator_link->counts;
}

const struct outbox *
aggregator_link_outbox(const struct aggregator_link *aggregator_link)
{
	return aggregator_link->outbox;
}
