/*
 * Frames of a hostile aggregator into the real intake. Every byte is verified before it
 * is used. A message that is applied was accepted before, and belongs to the
 * aggregator's own region, name and ToR. Nothing is acknowledged before it is durable.
 *
 * Input: one byte per message (its type), then a two-byte length and its bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/intake/intake.h"
#include "analyzer/intake/intake_session.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/listener.h"
#include "tests/support/fake_world.h"

#define MAX_MESSAGES 48

struct world {
	struct rm_loop *loop;
	struct intake *intake;
	struct rm_listener *listener;
	struct wire_writer *writer;
	uint64_t tickets, summaries, incidents, pointless, seq;
	int take_status;
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
take(struct world *world, uint64_t *ticket)
{
	world->pointless += world->take_status == -EBADMSG;
	if (world->take_status < 0)
		return world->take_status;
	*ticket = ++world->tickets;
	return 0;
}

static int
take_summary(const struct wire_summary_view *view, uint64_t *ticket, void *arg)
{
	return take(arg, ticket);
}

static int
take_incident(const struct wire_incident *incident, uint64_t *ticket, void *arg)
{
	return take(arg, ticket);
}

static void
check_head(const struct wire_lane_head *head, const char *tor)
{
	if (strcmp(head->region, "lab") != 0 ||
	    strncmp(head->aggregator, "agg", 3) != 0 || strcmp(tor, "tor1") != 0)
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

/* ---- messages of the aggregator ---- */

static void
send_bytes(const uint8_t *data, size_t len)
{
	struct rm_link *link = fake_world_accepted(0);

	if (link == NULL)
		link = fake_world_connect("");
	if (link != NULL)
		(void)fake_link_receives(link, data, len);
}

static void
send_hello(struct world *world, const char *region, const char *name)
{
	const struct wire_tor_state tor = { .tor = "tor1" };
	const struct wire_hello hello = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = region,
		.id = name,
		.tors = &tor,
		.tor_count = 1 };
	struct wire_bytes bytes;

	if (wire_write_hello(world->writer, &hello, &bytes) == 0)
		send_bytes(bytes.data, bytes.len);
}

/* A valid message, in which some bytes are then replaced. */
static void
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
		return;
	memcpy(copy, bytes.data, bytes.len);
	for (size_t i = 0; i + 2 < len; i += 3)
		copy[(data[i] | data[i + 1] << 8) % bytes.len] ^= data[i + 2];
	send_bytes(copy, bytes.len);
	free(copy);
}

/* Fills the table of aggregators, so that there is no room for another one. */
static void
send_one_too_many(struct world *world, const char *name)
{
	struct intake_counts *counts = &world->intake->counts;
	const uint64_t others = INTAKE_MAX_PEERS - counts->peers;

	counts->peers += others;
	send_hello(world, "lab", name);
	counts->peers -= others;
}

static void
step(struct world *world, uint8_t what, const uint8_t *data, size_t len)
{
	static const int reports[] = { 0, -ENOBUFS, -EBADMSG, -ENOMEM };
	static const char *const names[] = { "agg1", "agg2", "agg3", "" };
	struct rm_link *link;

	switch (what % 11) {
	case 0:
		send_bytes(data, len);
		break;
	case 1:
		send_hello(world, what & 16 ? "full" : "lab", names[what >> 5 & 3]);
		break;
	case 2:
		send_patched(world, false, data, len);
		break;
	case 3:
		send_patched(world, true, data, len);
		break;
	case 4: /* a repeated message */
		world->seq -= world->seq > 0;
		send_patched(world, (what & 16) != 0, NULL, 0);
		break;
	case 5:
		world->take_status = reports[what >> 4 & 3];
		break;
	case 6:
		intake_durable(world->intake,
		    what & 16 ? WIRE_LANE_INCIDENT : WIRE_LANE_SUMMARY, world->tickets);
		break;
	case 7:
		fake_world_pass((what >> 4) * 100 * RM_NS_PER_MS);
		break;
	case 8:
		link = fake_world_accepted(0);
		if (link != NULL && what & 16)
			fake_link_ends(link, what & 32 ? -ECONNRESET : 0);
		else if (link != NULL)
			fake_link_blocks(link, what & 32);
		break;
	case 9:
		send_one_too_many(world, names[what >> 5 & 3]);
		break;
	default:
		world->seq += what >> 4;
		break;
	}
}

/* ---- the run ---- */

static void
begin(struct world *world)
{
	static const struct intake_options options = { .name = "an1",
		.incarnation = 1,
		.max_sessions = 2,
		.silence_ns = RM_NS_PER_S };
	const struct intake_callbacks callbacks = { .on_hello = on_hello,
		.on_gone = on_session,
		.on_left = on_session,
		.on_seen = on_session,
		.take_summary = take_summary,
		.take_incident = take_incident,
		.on_summary = on_summary,
		.on_incident = on_incident,
		.on_drilled = on_drilled,
		.arg = world };

	rm_log_set_sink(quiet, NULL);
	fake_world_begin();
	world->writer = wire_writer_new();
	if (world->writer == NULL || rm_loop_new(&world->loop) < 0 ||
	    intake_new(world->loop, &options, &callbacks, &world->intake) < 0 ||
	    rm_listener_new(
		world->loop, NULL, intake_accept, world->intake, &world->listener) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = { 0 };

	begin(&world);
	for (int i = 0; i < MAX_MESSAGES && size >= 3; i++) {
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0];

		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		step(&world, what, data, len);
		data += len;
		size -= len;
		check(&world);
	}
	intake_free(world.intake);
	rm_listener_free(world.listener);
	rm_loop_free(world.loop);
	wire_writer_free(world.writer);
	fake_world_end();
	return 0;
}
