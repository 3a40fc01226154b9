#include "host-agent/report/uplink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/report/batch.h"
#include "host-agent/report/uplink_state.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/dialer.h"

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
	char why[256];
	struct wire_welcome welcome;
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	if (welcome.refused[0] != 0) {
		uplink->counts.refusals++;
		rm_log_quote(
		    why, sizeof(why), welcome.refused, strlen(welcome.refused));
		uplink->callbacks.on_refused(uplink, why, uplink->arg);
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

int
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

	uplink->session = uplink->behind = false;
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
		.addresses = uplink->options.address,
		.address_count = 1,
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
	rm_address_format(options->address, uplink->address);
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
	uplink->options.address = NULL; /* the dialer has its copy */
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
uplink_peer(const struct uplink *uplink)
{
	return uplink->peer;
}

const char *
uplink_why(const struct uplink *uplink)
{
	return rm_dialer_why(uplink->dialer);
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
