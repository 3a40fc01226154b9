/* The messages that agents send in fuzz_aggregator.c. */
#include <stdlib.h>

#include "tests/fuzz/aggregator_run.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server_state.h"
#include "tor-aggregator/tor_aggregator_state.h"

void
run_agent_greets(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t who = fuzz_u8(script), flags = fuzz_u8(script);
	const struct wire_tor_state tor = { .tor = run_tors[who >> 4 & 3] };
	const struct wire_hello hello = {
		.role = flags & 1 ? WIRE_ROLE_AGGREGATOR : WIRE_ROLE_AGENT,
		.version_min = flags & 2 ? 9 : WIRE_VERSION,
		.version_max = flags & 2 ? 9 : WIRE_VERSION,
		.region = flags & 4 ? "x" : "lab",
		.id = flags & 1 ? (who & 1 ? "b-agg" : "a-agg") : run_hosts[who % 8],
		.incarnation = 7 + (flags >> 3 & 1),
		.now_ns = run_clock(flags),
		.tors = &tor,
		.tor_count = flags >> 4 & 1,
	};
	struct wire_bytes bytes;

	fuzz_send(
	    script, link, wire_write_hello(world->writer, &hello, &bytes), &bytes);
}

/* Selects the agent that a message claims to be from: mostly the one of the link. */
static const struct agent *
sender(const struct world *world, const struct rm_link *link)
{
	const struct agent_link *peer =
	    rm_server_first(&world->aggregator->links->server);

	while (peer != NULL && peer->conn.link != link)
		peer = agent_link_next(peer);
	return peer == NULL ? NULL : peer->agent;
}

static void
agent_registers(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	const uint8_t flags = fuzz_u8(script);
	const char *host = flags & 1 ? "h9" : agent->host;
	const uint64_t number = (uint64_t)(host[1] - '0');
	struct wire_rnic rnics[2] = {
		run_rnic(0x100 + number, host, run_tors[flags >> 1 & 1], flags & 0xfc),
		run_rnic(
		    flags & 128 ? run_guid(script) : 0x200 + number, host, "t2", flags),
	};
	const struct wire_settings settings[2] = {
		{ .known = flags, .numbers = { flags, flags * 16U }, .firmware = host },
		{ .known = UINT32_MAX, .firmware = "\n" },
	};
	const struct wire_register reg = { .host = host,
		.incarnation = agent->incarnation,
		.rnics = rnics,
		.rnic_count = 2,
		.settings = flags & 64 ? settings : NULL };
	struct wire_bytes bytes;

	fuzz_send(
	    script, link, wire_write_register(world->writer, &reg, &bytes), &bytes);
}

static struct wire_result
result_of(uint64_t src, uint64_t dst, uint8_t what)
{
	return (struct wire_result){
		.src_guid = src,
		.src_port_num = 1,
		.dst_guid = dst,
		.dst_port_num = 1,
		.sent_age_ns = (uint64_t)(what & 3) * 100 * RM_NS_PER_MS,
		.rtt_ns = 20000u << (what >> 5),
		.prober_delay_ns = 5000,
		.responder_delay_ns = 3000,
		.round_trip_ns = 23000u << (what >> 5),
		.dst_qpn = what & 4,
		.responder_count = what,
		.src_port = 50000 + (what & 1),
		.size_bytes = 64,
		.outcome = what >> 2 & 7,
		.kind = what >> 4 & 3,
		.dscp = what & 16 ? 26 : 0,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = (what >> 2 & 7) == 0 ? WIRE_SPLIT : 0,
	};
}

static void
agent_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	const uint8_t flags = fuzz_u8(script);
	uint64_t *seq = &world->seqs[(uint8_t)agent->host[1] % 8];
	const struct wire_batch_head head = { .host = flags & 1 ? "h9" : agent->host,
		.incarnation = agent->incarnation + (flags >> 1 & 1),
		.seq = *seq += flags >> 2 & 3,
		.now_ns = run_clock(flags),
		.dropped_results = flags >> 4 & 3 };
	struct wire_result results[8];
	struct wire_bytes bytes;
	size_t count = 0;

	for (uint8_t n = fuzz_u8(script) % 9; count < n; count++) {
		const uint64_t src = run_guid(script), dst = run_guid(script);

		results[count] = result_of(src, dst, fuzz_u8(script));
		results[count].dscp ^= fuzz_u8(script) == 255 ? 64 : 0;
	}
	fuzz_send(script, link,
	    wire_write_batch(world->writer, &head, results, count, &bytes), &bytes);
}

static void
agent_beats(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	static const char *const live[] = { "b-agg", "a-agg", "agg" };
	const uint8_t flags = fuzz_u8(script);
	const uint64_t now = run_clock(flags);
	const struct wire_stall stall = { now - 200000000, now - 100000000 };
	const struct wire_heartbeat beat = { .incarnation =
						 agent->incarnation + (flags & 1),
		.now_ns = now,
		.paused = flags >> 1 & 1,
		.stalls = &stall,
		.stall_count = flags >> 2 & 1,
		.results_through_ns = flags & 8    ? now - 1
				      : flags & 16 ? now + 1
						   : 0,
		.live = live,
		.live_count = flags >> 5 & 1 ? 3 : 0,
		.slowed_permille = flags & 4 ? 500 : 0 };
	struct wire_bytes bytes;

	fuzz_send(
	    script, link, wire_write_heartbeat(world->writer, &beat, &bytes), &bytes);
}

/* Sends the counts of the agent's RNICs, and of one that is not its own. */
static void
agent_counters(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent, uint8_t flags)
{
	const struct wire_counter_value values[] = {
		{ flags, WIRE_COUNTER_SYMBOL_ERR, 0, { 0 } },
		{ UINT64_MAX, WIRE_COUNTER_PFC_TX_PAUSE_US, 3, { 0 } },
		{ UINT64_MAX, WIRE_COUNTER_PFC_TX_FRAMES, flags, { 0 } },
		{ 0, WIRE_COUNTERS, 0, { 0 } },
		{ 0, UINT16_MAX, UINT8_MAX, { 0 } },
	};
	struct wire_rnic_counters rnics[2] = { { .id = { run_guid(script), 1 } } };
	const struct wire_counter_report report = {
		.incarnation = agent->incarnation + (flags >> 6 & 1),
		.rnics = rnics,
		.rnic_count = 2,
	};
	struct wire_bytes bytes;

	if (agent->rnic_count > 0)
		rnics[1].id = agent->rnics[0].id;
	for (size_t i = 0; i < 2; i++) {
		rnics[i].interval_ns = flags & 32 ? UINT64_MAX : run_clock(0);
		rnics[i].values = values;
		rnics[i].value_count = flags & 128 ? 0 : 5;
	}
	fuzz_send(script, link,
	    wire_write_counter_report(world->writer, &report, &bytes), &bytes);
}

static void
agent_counts(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	const uint8_t flags = fuzz_u8(script);
	struct wire_count rows[4] = { 0 };
	const struct wire_counts counts = { .incarnation =
						agent->incarnation + (flags & 1),
		.now_ns = run_clock(flags),
		.rows = rows,
		.row_count = flags >> 1 & 3 };
	struct wire_bytes bytes;

	for (size_t i = 0; i < counts.row_count; i++) {
		rows[i].own_guid = run_guid(script);
		rows[i].prober_guid = run_guid(script);
		rows[i].own_port_num = rows[i].prober_port_num = 1;
		rows[i].received = fuzz_u8(script);
		rows[i].dscp = flags & 8 ? 64 : 0;
	}
	fuzz_send(
	    script, link, wire_write_counts(world->writer, &counts, &bytes), &bytes);
	if (flags & 16)
		agent_counters(world, script, link, agent, flags);
}

static void
agent_paths(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	const uint8_t flags = fuzz_u8(script);
	struct wire_path rows[2] = { 0 };
	const struct wire_paths paths = { .host = flags & 1 ? "h9" : agent->host,
		.incarnation = agent->incarnation,
		.now_ns = run_clock(flags),
		.paths = rows,
		.path_count = 1 + (flags >> 1 & 1) };
	struct wire_bytes bytes;

	for (size_t i = 0; i < paths.path_count; i++) {
		struct wire_path *row = &rows[i];

		row->src_guid = run_guid(script);
		row->dst_guid = run_guid(script);
		row->src_port_num = row->dst_port_num = 1;
		row->src_port = 50000 + (flags >> 2 & 1);
		row->age_ns = flags & 8 ? UINT64_MAX : flags & 16 ? RM_NS_PER_S : 0;
		row->family = flags & 32 ? 6 : 4;
		row->flags = fuzz_u8(script) & 3;
		row->hop_count = fuzz_u8(script) % (WIRE_MAX_HOPS + 1);
		for (uint8_t h = 0; h < row->hop_count; h++)
			row->hops[h][3] = fuzz_u8(script) % 4;
	}
	fuzz_send(
	    script, link, wire_write_paths(world->writer, &paths, &bytes), &bytes);
}

static void
agent_asks(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t flags = fuzz_u8(script);
	const uint64_t own = run_guid(script), other = run_guid(script);
	const struct wire_resolve resolve = { .token = flags,
		.address = run_address(other),
		.prober = { flags & 1 ? own : 0, 1 } };
	const struct wire_join join = { .token = flags,
		.rnic = { own, 1 },
		.qpn = 5,
		.dst_qpn = 6,
		.qp_type = WIRE_QP_RC };
	struct wire_bytes bytes;

	if (flags & 2)
		fuzz_send(script, link,
		    wire_write_resolve(world->writer, &resolve, &bytes), &bytes);
	else
		fuzz_send(script, link, wire_write_join(world->writer, &join, &bytes),
		    &bytes);
}

static void
agent_services(struct world *world, struct fuzz_bytes *script, struct rm_link *link,
    const struct agent *agent)
{
	const uint8_t flags = fuzz_u8(script);
	struct wire_service_flow flows[3];
	const struct wire_services services = { .host = flags & 1 ? "h9" : agent->host,
		.incarnation = agent->incarnation,
		.now_ns = run_clock(0),
		.tracing = flags >> 1 & 1,
		.missing = flags & 4 ? "\xff" : "",
		.unresolved = flags,
		.flows = flows,
		.flow_count = flags >> 3 & 3 };
	struct wire_bytes bytes;

	for (size_t i = 0; i < services.flow_count; i++) {
		const uint64_t src = run_guid(script), dst = run_guid(script);
		const uint8_t what = fuzz_u8(script);

		flows[i] = (struct wire_service_flow){ .src = { src, 1 },
			.dst = { what & 1 ? dst : 0, what & 1 },
			.peer = run_address(dst),
			.service = what & 2 ? "pod:a/b" : "\xff",
			.comm = what & 4 ? "python" : "\xfe",
			.pid = what,
			.qp_type = WIRE_QP_RC,
			.state = (uint8_t)(1 + (what >> 3 & 3)),
			.src_port = 50000,
			.probe_port = what & 32 ? 50001 : 0,
			.qps = 1 };
	}
	fuzz_send(script, link, wire_write_services(world->writer, &services, &bytes),
	    &bytes);
}

void
run_agent_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	static void (*const reports[])(struct world *, struct fuzz_bytes *,
	    struct rm_link *, const struct agent *) = { agent_registers, agent_reports,
		agent_beats, agent_counts, agent_paths, agent_services, agent_reports };
	const uint8_t what = fuzz_u8(script);
	const struct agent *agent = sender(world, link);
	struct fuzz_bytes raw;

	if (link == NULL)
		return;
	if (what % 9 == 8) {
		raw = fuzz_part(script, 255);
		(void)fake_link_receives(link, raw.at, raw.left);
	} else if (what % 9 == 7) {
		agent_asks(world, script, link);
	} else if (agent != NULL) {
		reports[what % 9](world, script, link, agent);
	}
}

/* False: the link was closed. */
static bool
all_of_one(
    struct world *world, struct rm_link *link, const struct agent *agent, uint8_t lost)
{
	struct wire_result results[4 * MEMBERS];
	const struct wire_batch_head head = { .host = agent->host,
		.incarnation = agent->incarnation,
		.seq = ++world->seqs[(uint8_t)agent->host[1] % 8],
		.now_ns = run_clock(0) };
	struct wire_bytes bytes;
	size_t count = 0;

	for (size_t i = 0; i < agent->rnic_count && i < 4; i++)
		for (size_t k = 0; k < MEMBERS; k++) {
			const uint64_t src = agent->rnics[i].id.guid;
			const uint64_t dst = (src & 0xf00) + k;
			const bool bad = (lost >> k & 1) || (lost >> (src & 3) & 1);

			if (dst != src)
				results[count++] = result_of(src, dst, bad ? 5 : 1);
		}
	if (wire_write_batch(world->writer, &head, results, count, &bytes) < 0)
		abort();
	return fake_link_receives(link, bytes.data, bytes.len);
}

static bool
beats(struct world *world, struct rm_link *link, const struct agent *agent)
{
	const struct wire_heartbeat beat = { .incarnation = agent->incarnation,
		.now_ns = run_clock(0) };
	struct wire_bytes bytes;

	if (wire_write_heartbeat(world->writer, &beat, &bytes) < 0)
		abort();
	return fake_link_receives(link, bytes.data, bytes.len);
}

void
run_all_report(struct world *world, uint8_t lost)
{
	for (int part = 0; part < 2; part++) {
		struct rm_link *link;
		bool well = true;

		for (size_t n = 0; n < 8 && well; n++) {
			const struct agent *agent;

			link = fake_world_accepted(n);
			agent = link == NULL ? NULL : sender(world, link);
			if (agent != NULL && part == 0)
				well = all_of_one(world, link, agent, lost);
			if (agent != NULL && well)
				well = beats(world, link, agent);
		}
		fake_world_pass(250 * RM_NS_PER_MS);
	}
}
