#include "tor-aggregator/analyzer/analyzer_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/net/frame.h"
#include "tor-aggregator/analyzer/analyzer_scout.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/plan/peer_versions.h"

#define WELCOME_NS (2 * RM_NS_PER_S)
#define SILENCE_NS (2500 * RM_NS_PER_MS)
#define PING_NS (500 * RM_NS_PER_MS)
#define BACKOFF_CAP_NS RM_NS_PER_S /* short, because there are few analyzers */
/* Limit on the unacknowledged bytes of one lane. A single larger message may be
 * sent. */
#define WINDOW_BYTES (4u << 20)
#define WINDOW_MESSAGES 1024
/* Enough for both lanes' windows, each with a largest message at its end, and for
 * answers to drill-downs. */
#define MAX_OUTPUT_BYTES (64u << 20)

struct flight { /* the unacknowledged messages of one lane */
	struct {
		uint64_t seq;
		size_t len;
	} sent[WINDOW_MESSAGES]; /* a ring, the oldest is at head */
	size_t head, count, bytes;
	uint64_t next; /* seq of the next message */
};

struct analyzer_link {
	struct analyzer_link_options options;
	struct analyzer_link_callbacks callbacks;
	struct report_spool *reports;
	struct rm_dialer *dialer;
	struct wire_writer *writer;
	struct flight summary, incident;
	rm_mono_t pinged;
	bool welcomed;
	bool leaves; /* the link is closed to return to an earlier analyzer */
	char analyzer[RM_NAME_BYTES];
	struct rm_loop *loop;
	struct rm_endpoint *endpoints; /* options.analyzers */
	/* NULL: connected to the first analyzer, or to none. */
	struct analyzer_scout *scout;
	struct analyzer_link_counts counts;
};

static struct rm_link *
link_of(const struct analyzer_link *link)
{
	return link->dialer == NULL ? NULL : rm_dialer_link(link->dialer);
}

static int
on_up(struct rm_link *up, void *arg)
{
	struct analyzer_link *link = arg;

	return analyzer_scout_hello(up, &link->options, link->writer);
}

/* ---- the lanes --------------------------------------------------------------- */

/* True: all messages that may be sent now were sent. */
static bool
pump_lane(struct analyzer_link *link, enum wire_lane lane, struct flight *flight,
    uint64_t *sent)
{
	struct rm_link *up = link_of(link);
	struct rm_spool_item item;
	size_t at;

	while (flight->count < WINDOW_MESSAGES) {
		if (report_spool_take(link->reports, lane, flight->next, &item) < 0)
			return true;
		if (flight->count > 0 && flight->bytes + item.len > WINDOW_BYTES)
			return true;
		if (rm_link_send(up, item.data, item.len) < 0)
			return false;
		at = (flight->head + flight->count++) % WINDOW_MESSAGES;
		flight->sent[at].seq = item.seq;
		flight->sent[at].len = item.len;
		flight->bytes += item.len;
		flight->next = item.seq + 1;
		*sent += 1;
	}
	return true;
}

static void
pump(void *arg)
{
	struct analyzer_link *link = arg;

	if (!link->welcomed || link_of(link) == NULL)
		return;
	if (pump_lane(
		link, WIRE_LANE_INCIDENT, &link->incident, &link->counts.incidents))
		pump_lane(
		    link, WIRE_LANE_SUMMARY, &link->summary, &link->counts.summaries);
}

static int
take_ack(struct analyzer_link *link, const uint8_t *data, size_t len)
{
	struct flight *flight;
	struct wire_ack ack;
	int r;

	r = wire_open_ack(&ack, data, len);
	if (r < 0)
		return r;
	if (ack.lane != WIRE_LANE_INCIDENT && ack.lane != WIRE_LANE_SUMMARY)
		return -EPROTO;
	flight = ack.lane == WIRE_LANE_INCIDENT ? &link->incident : &link->summary;
	if (ack.incarnation != report_spool_incarnation(link->reports, ack.lane))
		return -EPROTO;
	/* The acknowledged number may be higher than any number that was sent, because
	 * it may come from an earlier spool. */
	ack.seq = report_spool_acked(link->reports, ack.lane, ack.seq);
	if (flight->next <= ack.seq)
		flight->next = ack.seq + 1;
	while (flight->count > 0 && flight->sent[flight->head].seq <= ack.seq) {
		flight->bytes -= flight->sent[flight->head].len;
		flight->head = (flight->head + 1) % WINDOW_MESSAGES;
		flight->count--;
	}
	link->counts.acks++;
	pump(link);
	return 0;
}

static void
again_from_the_front(struct flight *flight)
{
	flight->head = flight->count = flight->bytes = 0;
	flight->next = 0;
}

/* ---- the session ------------------------------------------------------------- */

static int
take_welcome(struct analyzer_link *link, const uint8_t *data, size_t len)
{
	struct wire_welcome welcome;
	char quoted[256];
	int r;

	r = wire_open_welcome(&welcome, data, len);
	if (r < 0)
		return r;
	peer_versions_receive(link->options.versions, WIRE_COMPONENT_ANALYZER, &welcome,
	    welcome.refused[0] == 0, rm_wall_now());
	if (welcome.refused[0] != 0) {
		link->counts.refused++;
		rm_log_warn(0, "refused by an analyzer: %s",
		    rm_log_quote(quoted, sizeof(quoted), welcome.refused,
			strlen(welcome.refused)));
		return -EPERM;
	}
	again_from_the_front(&link->summary);
	again_from_the_front(&link->incident);
	link->counts.connected++;
	snprintf(link->analyzer, sizeof(link->analyzer), "%s",
	    rm_name_valid(welcome.id) ? welcome.id : "unnamed");
	rm_dialer_settled(link->dialer);
	rm_log_info("analyzer %s: connected", link->analyzer);
	if (link->callbacks.on_welcome != NULL)
		link->callbacks.on_welcome(link->callbacks.arg);
	link->welcomed = true;
	pump(link);
	return 0;
}

static int
take_frame(struct analyzer_link *link, const uint8_t *data, size_t len)
{
	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		return link->welcomed ? -EPROTO : take_welcome(link, data, len);
	case WIRE_PING:
		rm_dialer_pinged(link->dialer);
		return 0;
	case WIRE_ACK:
		return link->welcomed ? take_ack(link, data, len) : -EPROTO;
	case WIRE_DRILL:
		if (!link->welcomed || link->callbacks.on_drill == NULL)
			return -EPROTO;
		return link->callbacks.on_drill(data, len, link->callbacks.arg);
	default:
		if (!link->welcomed || !wire_is_newer(data, len))
			return -EPROTO;
		link->counts.bad_frames++;
		return 0;
	}
}

static int
on_frame(struct rm_link *up, const uint8_t *data, size_t len, void *arg)
{
	struct analyzer_link *link = arg;
	int r;

	(void)up;
	r = take_frame(link, data, len);
	link->counts.bad_frames += r < 0 && r != -EPERM;
	return r;
}

static void
on_down(int reason, void *arg)
{
	struct analyzer_link *link = arg;

	if (link->welcomed) {
		link->counts.disconnected++;
		rm_log_warn(reason, "analyzer %s: disconnected, reports are spooled",
		    link->analyzer);
		peer_versions_gone(
		    link->options.versions, WIRE_COMPONENT_ANALYZER, link->analyzer);
	}
	link->welcomed = link->leaves = false;
	link->analyzer[0] = 0;
}

static void
on_drained(struct rm_link *up, void *arg)
{
	(void)up;
	pump(arg);
}

int
analyzer_link_new(struct rm_loop *loop, const struct analyzer_link_options *options,
    const struct analyzer_link_callbacks *callbacks, struct report_spool *reports,
    struct analyzer_link **ret)
{
	const struct rm_dialer_options dialer = {
		.peers = options->analyzers,
		.peer_count = options->analyzer_count,
		.backoff_cap_ns = BACKOFF_CAP_NS,
		.limits = { .max_frame_bytes = RM_FRAME_MAX_BYTES,
		    .max_output_bytes = MAX_OUTPUT_BYTES,
		    .tls = options->tls },
	};
	const struct rm_dialer_callbacks calls = { on_up, on_frame, on_down,
		on_drained };
	struct analyzer_link *link = calloc(1, sizeof(*link));
	int r = 0;

	if (link == NULL)
		return -ENOMEM;
	link->options = *options;
	link->callbacks = *callbacks;
	link->reports = reports;
	link->loop = loop;
	link->writer = wire_writer_new();
	link->endpoints = calloc(options->analyzer_count + 1, sizeof(*link->endpoints));
	if (link->writer == NULL || link->endpoints == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < options->analyzer_count; i++)
		link->endpoints[i] = options->analyzers[i];
	link->options.analyzers = link->endpoints;
	if (r == 0 && options->analyzer_count > 0)
		r = rm_dialer_new(loop, &dialer, &calls, link, &link->dialer);
	if (r < 0) {
		analyzer_link_free(link);
		return r;
	}
	report_spool_listen(reports, pump, link);
	*ret = link;
	return 0;
}

void
analyzer_link_free(struct analyzer_link *link)
{
	if (link == NULL)
		return;
	report_spool_listen(link->reports, NULL, NULL);
	analyzer_scout_free(link->scout);
	rm_dialer_free(link->dialer);
	wire_writer_free(link->writer);
	free(link->endpoints);
	free(link);
}

int
analyzer_link_send(struct analyzer_link *link, const struct wire_bytes *bytes)
{
	struct rm_link *up = link_of(link);

	if (up == NULL || !link->welcomed)
		return -ENOTCONN;
	return rm_link_send(up, bytes->data, bytes->len);
}

/* ---- back to an earlier analyzer ------------------------------------------------ */

/* Before the link leaves an analyzer, it reports that this aggregator is active for no
 * ToR. Otherwise that analyzer would report the aggregator as missing. */
static void
go_back(struct analyzer_link *link, rm_mono_t now)
{
	const struct wire_standing farewell = { .now_ns = (uint64_t)now.ns };
	struct rm_link *up = link_of(link);
	struct wire_bytes bytes;

	link->counts.returned++;
	rm_log_info(
	    "analyzer %s: left: an earlier one of the list is back", link->analyzer);
	if (wire_write_standing(link->writer, &farewell, &bytes) == 0)
		rm_link_send(up, bytes.data, bytes.len);
	rm_link_close(up, 0); /* after this, dialing begins with the first analyzer */
}

static void
look_back(struct analyzer_link *link, rm_mono_t now)
{
	bool found;

	/* If there is no memory, the next tick tries again. */
	if (link->scout == NULL && link->welcomed && !link->leaves)
		(void)analyzer_scout_new(link->loop, &link->options,
		    rm_dialer_peer(link->dialer), &link->scout);
	if (link->scout == NULL)
		return;
	found = link->welcomed && analyzer_scout_tick(link->scout, now);
	if (link->welcomed && !found)
		return;
	analyzer_scout_free(link->scout);
	link->scout = NULL;
	link->leaves = found;
	if (found)
		go_back(link, now);
}

void
analyzer_link_tick(struct analyzer_link *link, const char *controller,
    uint64_t controller_ends_s, rm_mono_t now)
{
	const struct wire_ping ping = { .now_ns = (uint64_t)now.ns,
		.ending = controller_ends_s != 0 ? controller : "",
		.ends_s = controller_ends_s };
	struct rm_link *up = link_of(link);
	struct wire_bytes bytes;

	look_back(link, now);
	if (up == NULL)
		return;
	if (rm_dialer_watch(link->dialer, now, WELCOME_NS, SILENCE_NS)) {
		link->counts.silent++;
		return;
	}
	if (!link->welcomed || rm_mono_since(now, link->pinged) < PING_NS)
		return;
	link->pinged = now;
	/* If the ping does not fit into the link's buffer, the next tick sends one. */
	if (wire_write_ping_ending(link->writer, &ping, &bytes) == 0)
		rm_link_send(up, bytes.data, bytes.len);
}

void
analyzer_link_stalled(struct analyzer_link *link, rm_mono_t now)
{
	if (link->dialer != NULL)
		rm_dialer_stalled(link->dialer, now);
}

bool
analyzer_link_connected(const struct analyzer_link *link)
{
	return link->welcomed;
}

const char *
analyzer_link_analyzer(const struct analyzer_link *link)
{
	return link->analyzer;
}

const struct analyzer_link_counts *
analyzer_link_counts(const struct analyzer_link *link)
{
	return &link->counts;
}
