/*
 * Frames of a hostile aggregator into the real intake. Every byte is verified before it
 * is believed; what is applied was taken first, and is of its own region, name and ToR;
 * nothing is acknowledged before it is durable.
 *
 * Input: one byte per message (what to do), then a two-byte length and its bytes.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyzer/intake.h"
#include "analyzer/intake_session.h"
#include "rackmesh/base/link.h"
#include "rackmesh/base/log.h"
#include "rackmesh/base/loop.h"

#define MAX_MESSAGES 24
#define WELCOMED "lab|agg1"

struct world {
	struct rm_loop *loop;
	struct intake *intake;
	struct wire_writer *writer;
	uint64_t tickets, summaries, incidents, pointless, seq;
	int take_says;
};

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

static const char *
on_hello(const struct intake_info *session, void *arg)
{
	if (!rm_name_valid(session->region) || !rm_name_valid(session->name))
		abort();
	return strcmp(session->region, "full") == 0 ? "no room" : NULL;
}

static void
on_session(const struct intake_info *session, void *arg)
{
}

static int
take(enum wire_lane lane, const uint8_t *data, size_t len, uint64_t *ticket, void *arg)
{
	struct world *world = arg;

	world->pointless += world->take_says == -EBADMSG;
	if (world->take_says < 0)
		return world->take_says;
	*ticket = ++world->tickets;
	return 0;
}

static void
check_head(const struct wire_lane_head *head, const char *tor)
{
	if (strcmp(head->region, "lab") != 0 || strcmp(head->aggregator, "agg1") != 0 ||
	    strcmp(tor, "tor1") != 0)
		abort();
}

static void
on_summary(const struct wire_summary_view *view, bool repeated, void *arg)
{
	struct world *world = arg;

	check_head(&view->summary.head, view->summary.tor);
	world->summaries++;
}

static int
on_incident(const struct wire_incident *incident, void *arg)
{
	check_head(&incident->head, incident->tor);
	return 0;
}

static void
on_drilled(const struct intake_info *session, const struct wire_drill_answer *answer,
    void *arg)
{
	if (answer->json.len > WIRE_MAX_JSON)
		abort();
}

static void
check(const struct world *world)
{
	const struct intake_peer *peer, *next;

	if (world->summaries > world->tickets + world->pointless)
		abort();
	HASH_ITER (hh, world->intake->peers, peer, next) {
		for (int l = 0; l < LANES; l++)
			for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
				const struct intake_lane *lane = &peer->lanes[l][i];

				if (lane->durable > lane->applied ||
				    lane->pending > INTAKE_MAX_UNACKED ||
				    (lane->pending == 0 &&
					lane->durable != lane->applied))
					abort();
			}
	}
}

/* ---- what the aggregator sends ------------------------------------------------------
 */

static int
send_bytes(struct world *world, const uint8_t *data, size_t len)
{
	struct intake_session *session = world->intake->sessions;
	uint8_t *copy = malloc(len == 0 ? 1 : len); /* aligned, and exactly as long */
	int r;

	if (copy == NULL)
		return -ENOMEM;
	if (len > 0)
		memcpy(copy, data, len);
	r = session->held == NULL
		? intake_session_on_frame(session->link, copy, len, session)
		: 0; /* a paused link hands over nothing */
	free(copy);
	return r;
}

static int
send_hello(struct world *world, const char *region)
{
	const struct wire_tor_state tor = { .tor = "tor1" };
	const struct wire_hello hello = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = region,
		.id = "agg1",
		.tors = &tor,
		.tor_count = 1 };
	struct wire_bytes bytes;

	if (wire_write_hello(world->writer, &hello, &bytes) < 0)
		return -ENOMEM;
	return send_bytes(world, bytes.data, bytes.len);
}

/* A good message to start from, with some of its bytes replaced. */
static int
send_patched(struct world *world, bool is_incident, const uint8_t *data, size_t len)
{
	const struct wire_lane_head head = { "agg1", "lab", 7, ++world->seq };
	const struct wire_summary summary = { .head = head, .tor = "tor1" };
	const struct wire_incident incident = { .head = head,
		.state = WIRE_OPENED,
		.incident_id = world->seq,
		.tor = "tor1",
		.part_type = "tor",
		.part = "tor1",
		.kind = "tor-down" };
	struct wire_bytes bytes;
	uint8_t *copy;
	int r;

	r = is_incident ? wire_write_incident(world->writer, &incident, &bytes)
			: wire_write_summary(world->writer, &summary, &bytes);
	copy = r == 0 ? malloc(bytes.len) : NULL;
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, bytes.data, bytes.len);
	for (size_t i = 0; i + 2 < len; i += 3)
		copy[(data[i] | data[i + 1] << 8) % bytes.len] ^= data[i + 2];
	r = send_bytes(world, copy, bytes.len);
	free(copy);
	return r;
}

static int
step(struct world *world, uint8_t what, const uint8_t *data, size_t len)
{
	static const int says[] = { 0, -ENOBUFS, -EBADMSG, -ENOMEM };

	switch (what % 8) {
	case 0:
		return send_bytes(world, data, len);
	case 1:
		return send_hello(world, what & 8 ? "full" : "lab");
	case 2:
		return send_patched(world, false, data, len);
	case 3:
		return send_patched(world, true, data, len);
	case 4: /* again, what came before */
		world->seq -= world->seq > 0;
		return send_patched(world, (what & 8) != 0, NULL, 0);
	case 5:
		world->take_says = says[what >> 3 & 3];
		if (world->take_says == 0 && world->intake->sessions->held != NULL)
			intake_session_retry(world->intake->sessions);
		break;
	case 6:
		intake_durable(world->intake,
		    what & 8 ? WIRE_LANE_INCIDENT : WIRE_LANE_SUMMARY, world->tickets);
		break;
	default:
		world->seq += what >> 3;
		break;
	}
	return 0;
}

/* ---- life -------------------------------------------------------------------------
 */

static int
begin(struct world *world)
{
	static const struct intake_options options = { .name = "an1",
		.incarnation = 1,
		.max_sessions = 4,
		.silence_ns = RM_NS_PER_S };
	const struct intake_callbacks callbacks = { .on_hello = on_hello,
		.on_gone = on_session,
		.on_heard = on_session,
		.take = take,
		.on_summary = on_summary,
		.on_incident = on_incident,
		.on_drilled = on_drilled,
		.arg = world };
	struct rm_address peer = { 0 };
	int fds[2];

	rm_log_set_sink(quiet, NULL);
	world->writer = wire_writer_new();
	if (world->writer == NULL || rm_loop_new(&world->loop) < 0 ||
	    intake_new(world->loop, &options, &callbacks, &world->intake) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -ENOMEM;
	close(fds[1]); /* nobody reads the answers */
	return intake_accept(fds[0], &peer, world->intake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = { 0 };
	int r = begin(&world);

	for (int i = 0; i < MAX_MESSAGES && size >= 3 && r >= 0; i++) {
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0];

		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		r = step(&world, what, data, len);
		data += len;
		size -= len;
		check(&world);
	}
	intake_free(world.intake);
	/* libevent lets go of a closed link in its next turn. */
	event_base_loop(rm_loop_base(world.loop), EVLOOP_NONBLOCK);
	rm_loop_free(world.loop);
	wire_writer_free(world.writer);
	return 0;
}
