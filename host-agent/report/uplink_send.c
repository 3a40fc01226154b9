/* What goes out: batches, receive counts, heartbeats, registrations, paths, services,
 * questions. */
#include <errno.h>

#include "host-agent/report/batch.h"
#include "host-agent/report/uplink_state.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/dialer.h"

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

bool
uplink_pump(struct uplink *uplink, rm_mono_t now)
{
	struct wire_bytes bytes;
	int r;

	while ((r = outbox_peek(uplink->outbox, now, &bytes)) == 0) {
		r = uplink_send(uplink, &bytes);
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
uplink_register(struct uplink *uplink, const struct wire_rnic *rnics, size_t count)
{
	struct wire_register reg = {
		.host = uplink->options.host,
		.incarnation = uplink->options.incarnation,
		.rnics = rnics,
		.rnic_count = count,
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
