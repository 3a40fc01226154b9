/*
 * A whole analyzer with aggregators of two regions that send any message, a database
 * that answers anything, and an HTTP client. Repeated messages are not counted again,
 * and only accepted messages are acknowledged.
 *
 * Input: a script of events; see step(). Most messages are valid; some of these are
 * then damaged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/analyzer.h"
#include "analyzer/analyzer_config.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/intake/intake_session.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/sketch.h"
#include "tests/fuzz/damaged_send.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"

#define MAX_EVENTS 96
#define SHORT_OF_MEMORY 0xff /* make an allocation of the next event fail */
#define LANES_OF 2

static const char config_text[] =
    "name: an1\nplaintext: true\nlisten: 127.0.0.1:9\nmax_aggregators: 4\n"
    "state_folder: ''\n"
    "influx: {url: 'http://d:1', batch_ms: 100, batch_points: 20,\n"
    "         spool_bytes: 1048576}\n"
    "resolve_after_ms: 250\n"
    "blind: {grace_ms: 500, start_ms: 500}\n"
    "alerts: {alertmanagers: ['http://a:1']}\n"
    "http: {listen: '', socket: ''}\n";

static const char *const regions[] = { "lab", "r2", "lab", "\xff" };
static const char *const names[] = { "agg1", "agg2", "agg3", "" };
static const char *const tors[] = { "tor1", "tor2", "tor3", "\xff" };

struct sender { /* the last message number of each lane of the aggregator */
	uint64_t seq[LANES_OF];
};

struct world {
	struct rm_loop *loop;
	struct analyzer_config config;
	struct analyzer *analyzer;
	struct wire_writer *writer;
	struct sender senders[4];
	uint64_t drill; /* the last number that was requested */
};

static int config_file;
static uint8_t sketch_bytes[256];
static size_t sketch_len;

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

/* ---- the invariants ------------------------------------------------------------- */

static void
check_ack(
    const struct world *world, const struct rm_link *link, const struct wire_ack *ack)
{
	const struct intake_session *session =
	    rm_server_first(&world->analyzer->intake->server);
	const int name = ack->lane == WIRE_LANE_INCIDENT ? LANE_INCIDENT : LANE_SUMMARY;
	bool found = false;

	while (session != NULL && session->conn.link != link)
		session = intake_session_next(session);
	if (session == NULL || session->peer == NULL)
		abort();
	for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
		const struct intake_lane *lane = &session->peer->lanes[name][i];

		found |= lane->incarnation == ack->incarnation &&
			 lane->durable == ack->seq && lane->applied >= ack->seq;
	}
	if (!found)
		abort();
}

static void
on_sent(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct world *world = arg;
	struct wire_drill drill;
	struct wire_ack ack;

	if (wire_kind_of(data, len) == WIRE_ACK) {
		if (wire_open_ack(&ack, data, len) < 0)
			abort();
		check_ack(world, link, &ack);
	} else if (wire_kind_of(data, len) == WIRE_DRILL) {
		if (wire_open_drill(&drill, data, len) < 0)
			abort();
		world->drill = drill.token;
	}
}

static void
check(const struct world *world)
{
	const struct intake *intake = world->analyzer->intake;
	const struct intake_session *session;
	const struct intake_peer *peer, *next;
	size_t count = 0;

	for (session = rm_server_first(&intake->server); session != NULL;
	     session = intake_session_next(session)) {
		count++;
		if (session->info.is_welcome &&
		    (session->peer == NULL || session->peer->session != session))
			abort();
		if ((session->held != NULL) != fake_link_paused(session->conn.link))
			abort();
	}
	if (count != intake->server.count || count > world->config.max_aggregators ||
	    HASH_COUNT(intake->peers) != intake->counts.peers)
		abort();
	HASH_ITER (hh, intake->peers, peer, next) {
		for (size_t i = 0; i < INTAKE_INCARNATIONS * LANES; i++) {
			const struct intake_lane *lane = &peer->lanes[0][0] + i;

			if (lane->durable > lane->applied ||
			    lane->pending > INTAKE_MAX_UNACKED)
				abort();
		}
	}
}

/* ---- messages of aggregators ---------------------------------------------------- */

static void
hello(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	static const uint16_t intervals[] = { 1, 0, 10, UINT16_MAX };
	const uint8_t who = fuzz_u8(script), flags = fuzz_u8(script);
	struct wire_tor_state served[4];
	struct wire_hello out = {
		.role = flags & 1 ? WIRE_ROLE_AGENT : WIRE_ROLE_AGGREGATOR,
		.version_min = flags & 2 ? 9 : WIRE_VERSION,
		.version_max = flags & 2 ? 9 : WIRE_VERSION,
		.region = regions[who >> 2 & 3],
		.id = names[who & 3],
		.incarnation = 1 + (flags >> 2 & 3),
		.summary_interval_s = intervals[flags >> 4 & 3],
		.tors = served,
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < 4; i++)
		if (who >> 4 & 1 << i)
			served[out.tor_count++] =
			    (struct wire_tor_state){ .tor = tors[i] };
	fuzz_send(script, link, wire_write_hello(world->writer, &out, &bytes), &bytes);
}

/* Mostly the aggregator's own name and its next message number. */
static struct wire_lane_head
head_of(struct world *world, const struct rm_link *link, size_t lane, uint8_t flags)
{
	const struct intake_session *session =
	    rm_server_first(&world->analyzer->intake->server);
	struct wire_lane_head head = { "agg1", "lab", 7 + (flags >> 4 & 1), 0 };
	size_t who = 0;

	while (session != NULL && session->conn.link != link)
		session = intake_session_next(session);
	if (session != NULL && session->info.is_welcome) {
		head.aggregator = session->info.name;
		head.region = session->info.region;
	}
	while (who < 3 && strcmp(names[who], head.aggregator) != 0)
		who++;
	if (flags & 32)
		head.region = "r9";
	head.seq = world->senders[who].seq[lane] += flags >> 6 == 3   ? 5
						    : flags >> 6 == 0 ? 1
								      : 0;
	if (flags >> 6 == 2 && head.seq > 1)
		head.seq--;
	return head;
}

static const char *
path_of(struct fuzz_bytes *script, char *text, size_t room)
{
	static const char *const paths[] = { "", "*", "tor1@10.0.0.1 s1@10.1.0.1",
		"tor1@10.0.0.1 ? tor2@10.2.0.1", "tor1@10.0.0.1 s2@10.1.0.2",
		"?@10.9.9.9 s1@10.1.0.1" };
	const uint8_t what = fuzz_u8(script);

	return what < 192 ? paths[what % 6] : fuzz_text(script, text, room);
}

static struct wire_row
row_of(uint8_t what)
{
	const struct wire_bytes rtt = { sketch_bytes,
		what & 16 ? sketch_len / 2 : sketch_len };

	return (struct wire_row){ .src_tor = tors[0],
		.dst_tor = tors[what & 3],
		.flow_set = what & 4 ? "50000" : "all",
		.bad = what & 4,
		.sent = what & 8 ? UINT64_MAX : what,
		.outcomes = { what & 15, what >> 4 },
		.lost_forward = what >> 4,
		.rtt = rtt,
		.prober_delay = rtt,
		.responder_delay = rtt };
}

static void
summary(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t flags = fuzz_u8(script), what = fuzz_u8(script);
	const uint8_t lost = fuzz_u8(script), sent = fuzz_u8(script);
	const uint64_t now = (uint64_t)rm_wall_now().ns;
	char texts[2][64];
	const struct wire_row row = row_of(fuzz_u8(script));
	const struct wire_rnic_row rnic = { .id = { 1 + (what & 3), 1 },
		.host = what & 128 ? "\xff" : "h1",
		.device = "r0",
		.bad = what & 1,
		.sent = sent };
	struct wire_path_row paths[2];
	const struct wire_summary out = {
		.head = head_of(world, link, 0, flags),
		.tor = tors[flags & 3],
		.start_wall_ns = now - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = flags & 4   ? now - UINT64_C(60000000000)
			       : flags & 8 ? UINT64_MAX - now
					   : now,
		.partial = what & 2,
		.taken = sent,
		.windowed = sent,
		.rows = &row,
		.row_count = what >> 2 & 1,
		.rnics = &rnic,
		.rnic_count = what >> 3 & 1,
		.paths_start_wall_ns = now - (uint64_t)RM_NS_PER_S,
		.paths = paths,
		.path_count = 2u * (what >> 4 & 1),
		.has_state = what >> 5 & 1,
		.state = { .rnics = 8,
		    .rnics_good = lost % 9u,
		    .hosts = 4,
		    .hosts_ok = lost % 5u,
		    .brake_permille = what & 64 ? 500 : 1000 },
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < 2 && out.path_count > 0; i++)
		paths[i] = (struct wire_path_row){ .dst_tor = tors[(flags + 1 + i) & 3],
			.path = path_of(script, texts[i], sizeof(texts[i])),
			.sent = sent,
			.lost_forward = i == 0 ? lost : 0,
			.lost_unknown = i,
			.flows = 8,
			.flows_dead = lost / 32u,
			.samples = lost > 128 ? "h1/r0>h9/r0:49153" : "" };
	fuzz_send(
	    script, link, wire_write_summary(world->writer, &out, &bytes), &bytes);
}

static void
incident(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	static const char *const types[] = { "rnic", "tor", "host", "link", "?" };
	static const char *const kinds[] = { "rnic-down", "tor-down", "host-down",
		"link-loss", "\xff" };
	const uint8_t flags = fuzz_u8(script), what = fuzz_u8(script);
	const uint64_t now = (uint64_t)rm_wall_now().ns;
	char evidence[64], part[32];
	const struct wire_incident out = {
		.head = head_of(world, link, 1, flags),
		.incident_id = 1 + (what & 3),
		.state = (enum wire_incident_state)(1 + (flags >> 2 & 3) % 3),
		.tor = tors[flags & 3],
		.part_type = types[what >> 2 & 3],
		.kind = kinds[what >> 2 & 3],
		.place = what & 16 ? "tor1" : "",
		.confidence = what / 256.0,
		.began_wall_ns = now,
		.opened_wall_ns = what & 32 ? UINT64_MAX : now,
		.changed_wall_ns = now,
		.sentence = what & 64 ? "\xff" : "it is down",
		.part = fuzz_text(script, part, sizeof(part)),
		.evidence_json = fuzz_text(script, evidence, sizeof(evidence)),
	};
	struct wire_bytes bytes;

	fuzz_send(
	    script, link, wire_write_incident(world->writer, &out, &bytes), &bytes);
}

static void
another_message(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t what = fuzz_u8(script);
	const struct wire_tor_standing tor = { .tor = "tor1" };
	const struct wire_standing standing = { .tors = &tor,
		.tor_count = what >> 3 & 1 };
	struct wire_drill_answer drilled = { .token = world->drill - (what >> 7),
		.status = (uint16_t)(100 + (what >> 3 & 15) * 50),
		.mesh = what >> 6 & 1,
		.counted = what >> 5 & 1 };
	const struct wire_brake brake = { 1, 1 };
	struct fuzz_bytes part;
	struct wire_bytes bytes;
	int r;

	switch (what % 6) {
	case 0:
	case 1:
		r = wire_write_ping(world->writer, what, &bytes);
		break;
	case 2:
		r = wire_write_standing(world->writer, &standing, &bytes);
		break;
	case 3:
		part = fuzz_part(script, 255);
		drilled.json = (struct wire_bytes){ part.at, part.left };
		r = wire_write_drilled(world->writer, &drilled, &bytes);
		break;
	case 4:
		r = wire_write_brake(world->writer, &brake, &bytes);
		break;
	default:
		part = fuzz_part(script, 255);
		if (link != NULL)
			(void)fake_link_receives(link, part.at, part.left);
		return;
	}
	fuzz_send(script, link, r, &bytes);
}

/* ---- HTTP clients, the database ------------------------------------------------- */

static void
ask(struct fuzz_bytes *script)
{
	static const char *const paths[] = { "/v1/health", "/v1/racks",
		"/v1/aggregators", "/v1/sla", "/v1/incidents", "/readyz", "/metrics",
		"/v1/incidents/", "/v1/drill/" };
	const uint8_t what = fuzz_u8(script);
	char path[96], rest[64], query[96];
	const size_t i = what % (sizeof(paths) / sizeof(paths[0]));

	snprintf(path, sizeof(path), "%s%s",
	    i == 8 && what > 191   ? "/v1/counters/"
	    : i == 8 && what > 127 ? "/v1/mesh/"
	    : i == 7 && what > 127 ? "/"
				   : paths[i],
	    i >= 7 ? fuzz_text(script, rest, sizeof(rest)) : "");
	fuzz_text(script, query, sizeof(query));
	(void)fake_world_ask(RM_HTTP_READ, path, query, "", 0);
}

static void
reply(struct fuzz_bytes *script, uint8_t more)
{
	static const long statuses[] = { 204, 200, 0, 400, 413, 422, 500, 503, 401 };
	const uint8_t which = fuzz_u8(script);
	char body[96];

	fuzz_text(script, body, sizeof(body));
	fake_world_reply(which, statuses[more % 9], body, more & 8 ? 3 : -1);
}

/* ---- the script ----------------------------------------------------------------- */

static void
step(struct world *world, struct fuzz_bytes *script)
{
	static const char *const identities[] = { "", "", "",
		"rackmesh://lab/aggregator/agg1/tor1,tor2" };
	const uint8_t what = fuzz_u8(script), more = what >> 4;
	struct rm_link *link = fake_world_accepted(more);

	switch (what % 16) {
	case 0:
		link = fake_world_connect(identities[more & 3]);
		if (link != NULL)
			hello(world, script, link);
		break;
	case 1:
		if (link != NULL)
			hello(world, script, link);
		break;
	case 2:
	case 3:
	case 4:
		summary(world, script, link);
		break;
	case 5:
	case 6:
		incident(world, script, link);
		break;
	case 7:
		another_message(world, script, link);
		break;
	case 8:
		if (link != NULL && more & 8)
			fake_link_ends(link, more & 4 ? -ECONNRESET : 0);
		else if (link != NULL)
			fake_link_blocks(link, more & 4);
		break;
	case 9:
	case 10:
		fake_world_pass(more * 100 * RM_NS_PER_MS);
		break;
	case 11:
		if (more & 8)
			fake_world_freeze(more * RM_NS_PER_S / 4);
		else
			fake_world_pass(more * 2 * RM_NS_PER_S);
		break;
	case 12:
	case 13:
		reply(script, more);
		break;
	default:
		ask(script);
	}
	check(world);
}

static void
make_files(void)
{
	struct rm_sketch *sketch = rm_sketch_new();
	int len;

	config_file = memfd_create("fuzz", MFD_CLOEXEC);
	if (sketch == NULL ||
	    pwrite(config_file, config_text, strlen(config_text), 0) < 0)
		abort();
	for (uint64_t i = 1; i < 20; i++)
		rm_sketch_add(sketch, i * 1000);
	len = rm_sketch_encode(sketch, sketch_bytes, sizeof(sketch_bytes));
	if (len < 0)
		abort();
	sketch_len = (size_t)len;
	rm_sketch_free(sketch);
}

static void
begin(struct world *world)
{
	struct rm_error error = { 0 };
	char path[32];

	rm_log_set_sink(quiet, NULL);
	if (config_file == 0)
		make_files();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", config_file);
	fake_world_begin();
	fake_world_on_sent(on_sent, world);
	world->writer = wire_writer_new();
	if (world->writer == NULL || rm_loop_new(&world->loop) < 0 ||
	    analyzer_config_read(&world->config, path, &error) < 0 ||
	    analyzer_new(world->loop, &world->config, &world->analyzer) < 0) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes script = { data, size };
	struct world world = { 0 };

	begin(&world);
	for (int i = 0; i < MAX_EVENTS && script.left > 0; i++) {
		if (*script.at == SHORT_OF_MEMORY) {
			(void)fuzz_u8(&script);
			failing_malloc_arm(1 + fuzz_u8(&script));
		}
		step(&world, &script);
		(void)failing_malloc_disarm();
	}
	analyzer_free(world.analyzer);
	analyzer_config_clear(&world.config);
	wire_writer_free(world.writer);
	rm_loop_free(world.loop);
	fake_world_end();
	return 0;
}
