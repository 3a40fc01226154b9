#include "host-agent/report/uplink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/report/batch.h"
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

struct uplink {
	struct uplink_options options;
	struct uplink_callbacks callbacks;
	void *arg;
	char address[RM_ENDPOINT_TEXT];
	char peer[UPLINK_PEER_TEXT];
	char id[RM_NAME_BYTES]; /* of the peer; "": no name that one can have */

	struct rm_dialer *dialer;
	struct rm_timer *flush; /* armed while the batch is not empty */
	struct wire_writer *writer;
	struct batch *batch;
	struct outbox *outbox;
	struct heartbeat heartbeat;

	rm_mono_t up_at;    /* connected since; while there is a link */
	rm_mono_t heard;    /* last, of any frame */
	bool session;       /* welcomed */
	bool mute;          /* it says that it cannot deliver alerts */
	bool knows_overdue; /* in this session */
	bool has_overdue;   /* some were once taken for it, and may wait */
	bool wants_all_counts;
	bool behind;       /* batches wait, so the last heartbeat vouched for less */
	rm_mono_t through; /* results known by then are on the stream */
	struct uplink_counts counts;
};

/* ---- What goes out: batches, receive counts, heartbeats, registrations, paths,
 * services, questions ---- */

#define UPLINK_ROWS_PER_FRAME 8192
/* A peer that accepts but says nothing, and one whose host has vanished. */
#define UPLINK_WELCOME_NS (3 * RM_NS_PER_S)
#define UPLINK_SILENCE_NS (10 * RM_NS_PER_S)

/* Everything we say goes through here; -ENOTCONN without a session. */
static int
uplink_send(struct uplink *uplink, const struct wire_bytes *bytes)
{
	struct rm_link *link = rm_dialer_link(uplink->dialer);

	if (link == NULL || !uplink->session)
		return -ENOTCONN;
	return rm_link_send(link, bytes->data, bytes->len);
}

/* Overdue results that wait since a session with one who knew them. */
static int
uplink_send_without_overdue(struct uplink *uplink, const struct wire_bytes *bytes)
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
	r = wire_write_batch(uplink->writer, &view.head, kept, count, &rest);
	if (r == 0)
		r = uplink_send(uplink, &rest);
	if (r == 0)
		uplink->counts.overdue_unsent += view.count - count;
	free(kept);
	return r;
}

/* True: nothing is left that could be sent. */
static bool
uplink_pump(struct uplink *uplink, rm_mono_t now)
{
	struct wire_bytes bytes;
	int r;

	while ((r = outbox_peek(uplink->outbox, now, &bytes)) == 0) {
		r = uplink->has_overdue && !uplink->knows_overdue
			? uplink_send_without_overdue(uplink, &bytes)
			: uplink_send(uplink, &bytes);
		if (r < 0)
			break;
		outbox_sent(uplink->outbox, now);
	}
	return r == -ENOENT;
}

bool
uplink_flush(struct uplink *uplink, rm_mono_t now)
{
	struct outbox_tally dropped = outbox_dropped(uplink->outbox);
	size_t results = batch_count(uplink->batch);
	struct wire_batch_head head = {
		.host = uplink->options.host,
		.incarnation = uplink->options.incarnation,
		.seq = outbox_next_seq(uplink->outbox),
		.dropped_batches = dropped.batches,
		.dropped_results = dropped.results,
	};
	struct wire_bytes bytes;
	int r;

	rm_timer_stop(uplink->flush);
	if (results > 0) {
		r = batch_make(uplink->batch, uplink->writer, &head, now, &bytes);
		outbox_push(uplink->outbox, now, results, r < 0 ? NULL : &bytes);
	}
	outbox_expire(uplink->outbox, now);
	return uplink_pump(uplink, now);
}

void
uplink_result(struct uplink *uplink, const struct wire_result *result, rm_mono_t sent,
    rm_mono_t now)
{
	if (result->outcome == WIRE_OVERDUE && !uplink->knows_overdue) {
		uplink->counts.overdue_unsent++;
		return;
	}
	uplink->has_overdue |= result->outcome == WIRE_OVERDUE;
	batch_add(uplink->batch, result, sent, now); /* never full here: see below */
	if (batch_full(uplink->batch))
		uplink_flush(uplink, now);
	else if (batch_count(uplink->batch) == 1)
		rm_timer_at(uplink->flush, batch_deadline(uplink->batch));
}

void
uplink_note(struct uplink *uplink, const struct loop_turn *turn)
{
	heartbeat_note(&uplink->heartbeat, turn);
}

/* True: the peer has all of them. */
static bool
uplink_send_counts(
    struct uplink *uplink, const struct uplink_report *report, rm_mono_t now)
{
	struct wire_counts counts = {
		.incarnation = uplink->options.incarnation,
		.now_ns = (uint64_t)now.ns,
	};
	size_t done = 0;

	/* Also without any row: that nothing arrived is news, too. */
	do {
		struct wire_bytes bytes;
		int r;

		/* NULL when there are none: no sum to be made with that */
		counts.rows = done == 0 ? report->rows : report->rows + done;
		counts.row_count = report->row_count - done;
		if (counts.row_count > UPLINK_ROWS_PER_FRAME)
			counts.row_count = UPLINK_ROWS_PER_FRAME;
		r = wire_write_counts(uplink->writer, &counts, &bytes);
		if (r == 0)
			r = uplink_send(uplink, &bytes);
		if (r < 0)
			return false;
		done += counts.row_count;
	} while (done < report->row_count);
	uplink->counts.count_rows += done;
	return true;
}

static void
uplink_send_heartbeat(struct uplink *uplink, const struct uplink_report *report)
{
	struct wire_heartbeat beat = {
		.incarnation = uplink->options.incarnation,
		.now_ns = (uint64_t)report->known_through.ns,
		.paused = report->paused,
		.paused_by_hand = report->paused_by_hand,
		.self_loss = report->self_loss,
		.results_through_ns = (uint64_t)uplink->through.ns,
		.live = report->live,
		.live_count = report->live_count,
		.live_mute = report->live_mute,
	};
	struct wire_bytes bytes;
	int r;

	heartbeat_fill(&uplink->heartbeat, &beat);
	r = wire_write_heartbeat(uplink->writer, &beat, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	if (r < 0)
		return; /* the next one says it all */
	heartbeat_sent(&uplink->heartbeat);
	uplink->counts.heartbeats++;
}

/* A frozen or vanished peer would keep us from the one that takes its place. */
static void
uplink_watch_peer(struct uplink *uplink, rm_mono_t now)
{
	struct rm_link *link = rm_dialer_link(uplink->dialer);
	int64_t since_ns = 0;
	uint32_t unacked = 0;

	if (link == NULL)
		return;
	if (!uplink->session) {
		if (rm_mono_since(now, uplink->up_at) > UPLINK_WELCOME_NS)
			rm_link_close(link, -ETIMEDOUT);
		return;
	}
	if (rm_link_peer_ack(link, &since_ns, &unacked) == 0 && unacked > 0 &&
	    since_ns > UPLINK_SILENCE_NS)
		rm_link_close(link, -ETIMEDOUT);
}

void
uplink_report(struct uplink *uplink, const struct uplink_report *report, rm_mono_t now)
{
	bool all_sent = uplink_flush(uplink, now);

	uplink_watch_peer(uplink, now);
	if (!uplink->session)
		return;
	uplink->behind = !all_sent;
	if (all_sent)
		uplink->through = report->known_through;
	else
		uplink->counts.heartbeats_behind++;
	uplink->wants_all_counts =
	    !all_sent || !uplink_send_counts(uplink, report, now);
	uplink_send_heartbeat(uplink, report);
}

bool
uplink_wants_all_counts(const struct uplink *uplink)
{
	return uplink->session && uplink->wants_all_counts;
}

int
uplink_register(struct uplink *uplink, const struct wire_rnic *rnics,
    const struct wire_settings *settings, size_t count)
{
	struct wire_register reg = {
		.host = uplink->options.host,
		.incarnation = uplink->options.incarnation,
		.rnics = rnics,
		.rnic_count = count,
		.settings = settings,
	};
	struct wire_bytes bytes;
	int r;

	if (!uplink->session)
		return 0;
	r = wire_write_register(uplink->writer, &reg, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	if (r == 0)
		uplink->counts.registrations++;
	return r;
}

int
uplink_paths(
    struct uplink *uplink, const struct wire_path *paths, size_t count, rm_mono_t now)
{
	struct wire_paths report = {
		.host = uplink->options.host,
		.incarnation = uplink->options.incarnation,
		.now_ns = (uint64_t)now.ns,
		.paths = paths,
		.path_count = count,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_paths(uplink->writer, &report, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	if (r == 0)
		uplink->counts.paths += count;
	return r;
}

int
uplink_counter_report(struct uplink *uplink, const struct wire_counter_report *counters)
{
	struct wire_counter_report report = *counters;
	struct wire_bytes bytes;
	int r;

	report.incarnation = uplink->options.incarnation;
	r = wire_write_counter_report(uplink->writer, &report, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	uplink->counts.counter_reports += r == 0;
	return r;
}

int
uplink_services(
    struct uplink *uplink, const struct wire_services *services, rm_mono_t now)
{
	struct wire_services report = *services;
	struct wire_bytes bytes;
	int r;

	report.host = uplink->options.host;
	report.incarnation = uplink->options.incarnation;
	report.now_ns = (uint64_t)now.ns;
	r = wire_write_services(uplink->writer, &report, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	uplink->counts.services += r == 0;
	return r;
}

int
uplink_resolve(struct uplink *uplink, const struct wire_resolve *resolve)
{
	struct wire_bytes bytes;
	int r;

	r = wire_write_resolve(uplink->writer, resolve, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	uplink->counts.asked += r == 0;
	return r;
}

int
uplink_join(struct uplink *uplink, const struct wire_join *join)
{
	struct wire_bytes bytes;
	int r;

	r = wire_write_join(uplink->writer, join, &bytes);
	if (r == 0)
		r = uplink_send(uplink, &bytes);
	uplink->counts.asked += r == 0;
	return r;
}

/* The largest that can come is a pinglist. */
#define UPLINK_MAX_FRAME_BYTES (8u << 20)
/* What we hand to a link that is not draining: room for all receive counts at once.
 * Batches beyond it wait in the outbox. */
#define UPLINK_MAX_OUTPUT_BYTES (4u << 20)

/* Aggregators send something every second: longer silence is one to be told of. */
#define UPLINK_LIVE_NS (2500 * RM_NS_PER_MS)

#define UPLINK_VERSION_MIN (WIRE_VERSION > 1 ? WIRE_VERSION - 1 : 1)

static int
uplink_take_welcome(struct uplink *uplink, const uint8_t *data, size_t len)
{
	char reason[256];
	struct wire_welcome welcome;
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	if (welcome.refused[0] != 0) {
		uplink->counts.refusals++;
		rm_log_quote(
		    reason, sizeof(reason), welcome.refused, strlen(welcome.refused));
		uplink->callbacks.on_refused(uplink, reason, uplink->arg);
		return -EACCES;
	}
	if (welcome.version < UPLINK_VERSION_MIN || welcome.version > WIRE_VERSION)
		return -EPROTONOSUPPORT;
	r = outbox_begin(uplink->outbox, welcome.counted_seq);
	if (r < 0)
		return r;
	rm_log_quote(
	    uplink->peer, sizeof(uplink->peer), welcome.id, strlen(welcome.id));
	snprintf(uplink->id, sizeof(uplink->id), "%s",
	    rm_name_valid(welcome.id) ? welcome.id : "");
	uplink->session = true;
	uplink->mute = false;
	uplink->knows_overdue = welcome.knows_overdue;
	uplink->wants_all_counts = true;
	uplink->counts.sessions++;
	rm_dialer_settled(uplink->dialer);
	uplink->behind = false;
	uplink->through.ns = 1; /* nothing yet, in this session */
	uplink->callbacks.on_welcome(uplink, uplink->arg);
	uplink_pump(uplink, rm_mono_now());
	return 0;
}

/* The peer has taken something: perhaps more can go. */
static void
uplink_go_on(struct uplink *uplink)
{
	if (!uplink_pump(uplink, rm_mono_now()) || !uplink->behind)
		return;
	uplink->behind = false;
	uplink->callbacks.on_caught_up(uplink, uplink->arg);
}

static int
uplink_take_ack(struct uplink *uplink, const uint8_t *data, size_t len)
{
	struct wire_ack ack;
	int r;

	r = wire_open_ack(&ack, data, len);
	if (r < 0)
		return r;
	if (ack.lane != WIRE_LANE_BATCH ||
	    ack.incarnation != uplink->options.incarnation)
		return -EBADMSG;
	uplink->counts.acks++;
	r = outbox_ack(uplink->outbox, ack.seq, rm_mono_now());
	if (r == 0)
		uplink_go_on(uplink);
	return r;
}

static int
uplink_take_focus(struct uplink *uplink, const uint8_t *data, size_t len)
{
	struct wire_focus focus;
	int r;

	r = wire_open_focus(&focus, data, len);
	if (r < 0)
		return r;
	uplink->counts.focuses++;
	uplink->callbacks.on_focus(uplink, &focus, uplink->arg);
	return 0;
}

static int
uplink_take_brake(struct uplink *uplink, const uint8_t *data, size_t len)
{
	struct wire_brake brake;
	int r;

	r = wire_open_brake(&brake, data, len);
	if (r < 0)
		return r;
	uplink->counts.brakes++;
	uplink->callbacks.on_brake(uplink, &brake, uplink->arg);
	return 0;
}

static int
uplink_take_answer(struct uplink *uplink, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer answer;
	int r;

	if (uplink->callbacks.on_resolved == NULL)
		return -EBADMSG;
	r = wire_open_resolved(&answer, data, len);
	if (r < 0)
		return r;
	uplink->counts.resolved += answer.found;
	uplink->callbacks.on_resolved(uplink, &answer, uplink->arg);
	return 0;
}

static int
uplink_take_ping(struct uplink *uplink, const uint8_t *data, size_t len)
{
	struct wire_ping ping;
	int r;

	r = wire_open_ping_ending(&ping, data, len);
	if (r < 0)
		return r;
	uplink->counts.pings++;
	uplink->mute = ping.mute;
	return 0;
}

/* One frame from the peer: what the link calls, open to tests and fuzzers. */
static int
uplink_take_frame(struct uplink *uplink, const uint8_t *data, size_t len)
{
	enum wire_kind kind = wire_kind_of(data, len);
	int r = -EBADMSG;

	uplink->heard = rm_mono_now();
	if (uplink->session && wire_is_newer(data, len)) {
		uplink->counts.refused_frames++;
		return 0;
	}
	if ((kind == WIRE_WELCOME) == uplink->session)
		r = -EPROTO; /* first, and only once */
	else if (kind == WIRE_WELCOME)
		r = uplink_take_welcome(uplink, data, len);
	else if (kind == WIRE_ACK)
		r = uplink_take_ack(uplink, data, len);
	else if (kind == WIRE_FOCUS)
		r = uplink_take_focus(uplink, data, len);
	else if (kind == WIRE_BRAKE)
		r = uplink_take_brake(uplink, data, len);
	else if (kind == WIRE_RESOLVE_ANSWER)
		r = uplink_take_answer(uplink, data, len);
	else if (kind == WIRE_PING)
		r = uplink_take_ping(uplink, data, len);
	else if (kind == WIRE_PINGLIST) {
		uplink->counts.pinglists++;
		r = uplink->callbacks.on_pinglist(uplink, data, len, uplink->arg);
	} else if (kind == WIRE_KEYS) {
		uplink->counts.keys++;
		r = 0;
		if (uplink->callbacks.on_keys != NULL)
			r = uplink->callbacks.on_keys(uplink, data, len, uplink->arg);
	}
	if (r < 0 && r != -EACCES)
		uplink->counts.refused_frames++;
	return r;
}

static int
uplink_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return uplink_take_frame(arg, data, len);
}

static int
uplink_on_up(struct rm_link *link, void *arg)
{
	struct uplink *uplink = arg;
	rm_mono_t now = rm_mono_now();
	struct wire_hello hello = {
		.role = WIRE_ROLE_AGENT,
		.version_min = UPLINK_VERSION_MIN,
		.version_max = WIRE_VERSION,
		.region = uplink->options.region,
		.id = uplink->options.host,
		.incarnation = uplink->options.incarnation,
		.now_ns = (uint64_t)now.ns,
		.software = RACKMESH_VERSION,
	};
	struct wire_bytes bytes;
	int r = 0;

	uplink->up_at = now;
	if (uplink->callbacks.on_peer != NULL)
		r = uplink->callbacks.on_peer(
		    uplink, rm_link_identity(link), uplink->arg);
	if (r < 0)
		return r;
	r = wire_write_hello(uplink->writer, &hello, &bytes);
	return r < 0 ? r : rm_link_send(link, bytes.data, bytes.len);
}

static void
uplink_on_down(int reason, void *arg)
{
	struct uplink *uplink = arg;
	bool had_session = uplink->session;

	/* Whoever answers next may be an older one: see uplink_send_without_overdue. */
	uplink->session = uplink->behind = uplink->knows_overdue = false;
	outbox_end(uplink->outbox);
	uplink->callbacks.on_down(uplink, reason, had_session, uplink->arg);
}

static void
uplink_on_drained(struct rm_link *link, void *arg)
{
	uplink_go_on(arg);
}

static void
uplink_on_flush(void *arg)
{
	uplink_flush(arg, rm_mono_now());
}

static int
uplink_dial(struct uplink *uplink, struct rm_loop *loop)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = uplink_on_up,
		.on_frame = uplink_on_frame,
		.on_down = uplink_on_down,
		.on_drained = uplink_on_drained,
	};
	struct rm_dialer_options options = {
		.peers = uplink->options.aggregator,
		.peer_count = 1,
		.backoff_base_ns = uplink->options.backoff_base_ns,
		.backoff_cap_ns = uplink->options.backoff_cap_ns,
		.limits = { .max_frame_bytes = UPLINK_MAX_FRAME_BYTES,
		    .max_output_bytes = UPLINK_MAX_OUTPUT_BYTES,
		    .tls = uplink->options.tls },
	};

	return rm_dialer_new(loop, &options, &callbacks, uplink, &uplink->dialer);
}

int
uplink_new(struct rm_loop *loop, const struct uplink_options *options,
    const struct uplink_callbacks *callbacks, void *arg, struct uplink **ret)
{
	struct uplink *uplink = calloc(1, sizeof(*uplink));
	int r = -ENOMEM;

	if (uplink == NULL)
		return -ENOMEM;
	uplink->options = *options;
	uplink->callbacks = *callbacks;
	uplink->arg = arg;
	rm_endpoint_format(options->aggregator, uplink->address);
	uplink->writer = wire_writer_new();
	if (uplink->writer == NULL)
		goto out;
	r = batch_new(
	    options->batch_max_results, options->batch_max_age_ns, &uplink->batch);
	if (r < 0)
		goto out;
	r = outbox_new(&options->outbox, &uplink->outbox);
	if (r < 0)
		goto out;
	r = rm_timer_new(loop, uplink_on_flush, uplink, &uplink->flush);
	if (r < 0)
		goto out;
	r = uplink_dial(uplink, loop);
	if (r < 0)
		goto out;
	uplink->options.aggregator = NULL; /* the dialer has its copy */
	*ret = uplink;
	return 0;
out:
	uplink_free(uplink);
	return r;
}

void
uplink_free(struct uplink *uplink)
{
	if (uplink == NULL)
		return;
	rm_dialer_free(uplink->dialer);
	rm_timer_free(uplink->flush);
	outbox_free(uplink->outbox);
	batch_free(uplink->batch);
	wire_writer_free(uplink->writer);
	free(uplink);
}

bool
uplink_has_session(const struct uplink *uplink)
{
	return uplink->session;
}

const char *
uplink_live(const struct uplink *uplink, rm_mono_t now)
{
	if (!uplink->session || uplink->id[0] == 0 ||
	    rm_mono_since(now, uplink->heard) > UPLINK_LIVE_NS)
		return NULL;
	return uplink->id;
}

bool
uplink_is_mute(const struct uplink *uplink)
{
	return uplink->mute;
}

const char *
uplink_address(const struct uplink *uplink)
{
	return uplink->address;
}

const char *
uplink_identity(const struct uplink *uplink)
{
	const struct rm_link *link = rm_dialer_link(uplink->dialer);

	return link == NULL ? "" : rm_link_identity(link);
}

const char *
uplink_peer(const struct uplink *uplink)
{
	return uplink->peer;
}

const char *
uplink_error(const struct uplink *uplink)
{
	return rm_dialer_error(uplink->dialer);
}

const struct uplink_counts *
uplink_counts(const struct uplink *uplink)
{
	return &uplink->counts;
}

const struct outbox *
uplink_outbox(const struct uplink *uplink)
{
	return uplink->outbox;
}
