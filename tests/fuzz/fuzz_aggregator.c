/*
 * A whole tor-aggregator with two racks, and its peers, each of which may send any
 * message: agents, a controller, two analyzers, the other aggregators of its ToRs and
 * an HTTP client. Every result is counted once, every message of a lane is delivered,
 * kept or dropped, and keys are sent only for the receiver's own RNICs.
 *
 * Input: a script of events; see step(). Most messages are valid; some of these are
 * then damaged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tests/fuzz/aggregator_run.h"
#include "tests/support/failing_malloc.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/agents/agent_server_state.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define MAX_EVENTS 96
#define SHORT_OF_MEMORY 0xff /* make an allocation of the next event fail */
static const char config_text[] =
    "name: agg\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:9\n"
    "tors:\n"
    "- {name: t1, primary: true, peer: {name: b-agg, address: '127.0.0.1:4'}}\n"
    "- {name: t2, primary: false, peer: {name: a-agg, address: '127.0.0.1:5'}}\n"
    "controllers: ['127.0.0.1:1']\n"
    "analyzers: ['127.0.0.1:3', '127.0.0.1:2']\n"
    "state_folder: ''\n"
    "alerts: {resolve_after_ms: 250, alertmanagers: ['http://a:1'],\n"
    "         webhooks: ['http://b:1/x']}\n"
    "ring: {max_bytes: 65536}\n"
    "summary: {interval_s: 1, rnic_interval_s: 2}\n"
    "agents: {max: 5, max_connections: 8, max_results_per_s: 2000}\n"
    "http: {listen: '', socket: ''}\n";

static int config_file;

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

/* ---- the invariants ------------------------------------------------------------- */

/* Keys of an RNIC are sent to its own agent only. */
static void
check_key(const struct world *world, const struct rm_link *link,
    const struct wire_pair_key *key)
{
	const struct agent_link *peer =
	    rm_server_first(&world->aggregator->links->server);
	size_t hint = 0;

	while (peer != NULL && peer->conn.link != link)
		peer = agent_link_next(peer);
	if (key->epoch != 0 &&
	    (peer == NULL || peer->agent == NULL ||
		agent_owns(peer->agent,
		    (struct wire_rnic_id){ key->src_guid, key->src_port },
		    &hint) == NULL))
		abort();
}

static void
on_sent(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct world *world = arg;
	struct wire_resolve_answer answer;
	struct wire_summary_view summary;
	struct wire_incident incident;
	struct wire_resolve resolve;
	struct wire_keys keys;
	struct wire_join join;

	switch (wire_kind_of(data, len)) {
	case WIRE_RESOLVE:
		if (wire_open_resolve(&resolve, data, len) < 0)
			abort();
		world->resolve = resolve.token;
		break;
	case WIRE_JOIN:
		if (wire_open_join(&join, data, len) < 0)
			abort();
		world->resolve = join.token;
		break;
	case WIRE_RESOLVE_ANSWER:
		if (wire_open_resolved(&answer, data, len) < 0)
			abort();
		check_key(world, link, &answer.key);
		break;
	case WIRE_KEYS:
		if (wire_open_keys(&keys, data, len) < 0)
			abort();
		for (size_t i = 0; i < keys.pair_count; i++)
			check_key(world, link, &keys.pairs[i]);
		break;
	case WIRE_SUMMARY:
		if (wire_open_summary(&summary, data, len) < 0)
			abort();
		world->sent[0] = (struct wire_ack){ WIRE_LANE_SUMMARY,
			summary.summary.head.incarnation, summary.summary.head.seq };
		break;
	case WIRE_INCIDENT:
		if (wire_open_incident(&incident, data, len) < 0)
			abort();
		if (incident.head.seq != 0)
			world->sent[1] = (struct wire_ack){ WIRE_LANE_INCIDENT,
				incident.head.incarnation, incident.head.seq };
		break;
	default:
		break;
	}
}

static bool
conserves(const struct raw_counts *raw)
{
	return raw->taken == raw->windowed + raw->late + raw->invalid + raw->duplicate;
}

static void
check(const struct world *world)
{
	const struct tor_aggregator *aggregator = world->aggregator;
	const struct ingest_counts *ingest = &aggregator->ingest.counts;
	uint64_t reasons = 0, invalid = 0;

	for (int i = 0; i < INGEST_INVALIDS; i++)
		reasons += ingest->invalid[i];
	for (size_t t = 0; t < aggregator->rack_count; t++) {
		const struct raw_counts *raw =
		    &tor_rack_counts(aggregator->racks[t])->raw;

		if (!conserves(raw))
			abort();
		invalid += raw->invalid;
	}
	if (!conserves(&ingest->raw) || reasons != ingest->raw.invalid ||
	    invalid > ingest->raw.invalid)
		abort();
	for (enum wire_lane lane = WIRE_LANE_SUMMARY; lane <= WIRE_LANE_INCIDENT;
	     lane++) {
		uint64_t spooled = report_spool_held(aggregator->reports, lane);
		const struct report_spool_counts *counts =
		    report_spool_counts(aggregator->reports, lane);

		if (counts->in != counts->delivered + spooled + counts->dropped_full +
				      counts->dropped_write + counts->dropped_off)
			abort();
	}
	if (agent_server_open(aggregator->links) > world->config.max_links)
		abort();
}

/* ---- HTTP clients --------------------------------------------------------------- */

static void
ask(struct fuzz_bytes *script)
{
	static const char *const paths[] = { "/v1/racks", "/v1/rnics", "/v1/hosts",
		"/v1/incidents", "/v1/pinglist", "/v1/paths", "/v1/services", "/readyz",
		"/metrics", "/v1/drill/", "/v1/drill/" };
	const uint8_t what = fuzz_u8(script);
	char path[96], rest[64], query[96];
	const size_t i = what % (sizeof(paths) / sizeof(paths[0]));

	snprintf(path, sizeof(path), "%s%s", paths[i],
	    i >= 9 ? fuzz_text(script, rest, sizeof(rest)) : "");
	fuzz_text(script, query, sizeof(query));
	(void)fake_world_ask(RM_HTTP_READ, path, query, "", 0);
}

/* ---- the script ----------------------------------------------------------------- */

static void
disturb_link(struct rm_link *link, uint8_t what)
{
	if (link == NULL)
		return;
	if (what & 1)
		fake_link_ends(link, what & 2 ? -ETIMEDOUT : 0);
	else
		fake_link_blocks(link, what & 2);
}

static void
step(struct world *world, struct fuzz_bytes *script)
{
	static const char *const identities[] = { "", "", "",
		"rackmesh://lab/agent/h1" };
	const uint8_t what = fuzz_u8(script), more = what >> 4;
	struct rm_link *link;

	switch (what % 16) {
	case 0:
		link = fake_world_connect(identities[more & 3]);
		if (link != NULL)
			run_agent_greets(world, script, link);
		break;
	case 1:
		link = fake_world_accepted(more);
		if (link != NULL)
			run_agent_greets(world, script, link);
		break;
	case 2:
	case 3:
	case 4:
		run_agent_reports(world, script, fake_world_accepted(more));
		break;
	case 5:
		/* Another aggregator connects and sends a peer's messages. */
		link = fake_world_accepted(more);
		if (link != NULL)
			run_peer_reports(world, script, link);
		break;
	case 6:
		if (more & 8)
			fake_world_unreachable(more);
		else
			(void)fake_world_answer(more, more >> 1, identities[more & 3]);
		break;
	case 7:
	case 8:
	case 9:
		run_dialed_reports(world, script, fake_world_dialed(more));
		break;
	case 15:
		/* The receiver of alerts answers with any status, or not at all. */
		fake_world_reply(fuzz_u8(script), more == 15 ? 0 : 100 + more * 50,
		    more & 8 ? "x" : "{}", more & 1 ? 2 : -1);
		break;
	case 10:
		disturb_link(
		    more & 8 ? fake_world_dialed(more) : fake_world_accepted(more),
		    fuzz_u8(script));
		break;
	case 11:
		fake_world_pass(more * 50 * RM_NS_PER_MS);
		break;
	case 12:
		run_all_report(world, more);
		break;
	case 13:
		if (more & 8)
			fake_world_freeze(more * RM_NS_PER_S / 4);
		else
			fake_world_pass(more * RM_NS_PER_S / 2);
		break;
	default:
		ask(script);
	}
	check(world);
}

static void
begin(struct world *world)
{
	struct rm_error error = { 0 };
	char path[32];

	rm_log_set_sink(quiet, NULL);
	if (config_file == 0) {
		config_file = memfd_create("fuzz", MFD_CLOEXEC);
		if (pwrite(config_file, config_text, strlen(config_text), 0) < 0)
			abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", config_file);
	fake_world_begin();
	fake_world_on_sent(on_sent, world);
	world->writer = wire_writer_new();
	if (world->writer == NULL || rm_loop_new(&world->loop) < 0 ||
	    aggregator_config_read(&world->config, path, &error) < 0 ||
	    tor_aggregator_new(world->loop, &world->config, &world->aggregator) < 0) {
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
	tor_aggregator_free(world.aggregator);
	aggregator_config_clear(&world.config);
	wire_writer_free(world.writer);
	rm_loop_free(world.loop);
	fake_world_end();
	return 0;
}
