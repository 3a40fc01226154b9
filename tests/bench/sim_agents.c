#include "tests/bench/sim_agents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/mesh.h"
#include "tests/bench/latency.h"

#define BATCH_NS (200 * RM_NS_PER_MS)
#define MESH_PEERS 10
#define ROTATION_S 60
#define FOREIGN_PER_TOR 16
#define MAX_REMOTES (SIM_MAX_FAR_TORS * FOREIGN_PER_TOR)
#define FOREIGN_SLOTS 3 /* foreign slots of one RNIC, besides the mesh peers */
#define MEMBER_GUID 0x1000
#define FOREIGN_GUID 0x100000
#define MESH_RTT_NS 8000
#define FAR_RTT_NS 20000
#define PROBER_DELAY_NS 12000
#define RESPONDER_DELAY_NS 15000
#define LOSSY_EVERY 50 /* one of so many packets is lost */
#define ROCE 26        /* DSCP; one target in four is best effort */

struct sim_agents {
	size_t count, remotes;
	size_t dead, lossy; /* RNICs: the first ones, and the ones behind them */
	uint64_t per_batch;
	uint64_t messages; /* sent so far */
	struct latency latency;
	struct wire_writer *writer;
	struct wire_result results[SIM_MAX_RESULTS];
};

int
sim_agents_new(
    size_t count, uint64_t results_per_s, size_t far_tors, struct sim_agents **ret)
{
	uint64_t per_batch = results_per_s * BATCH_NS / RM_NS_PER_S;
	struct sim_agents *agents;

	if (count < 2 || count > WIRE_MAX_MEMBERS || per_batch == 0 ||
	    per_batch > SIM_MAX_RESULTS || far_tors == 0 || far_tors > SIM_MAX_FAR_TORS)
		return -EINVAL;
	agents = calloc(1, sizeof(*agents));
	if (agents == NULL)
		return -ENOMEM;
	agents->count = count;
	agents->per_batch = per_batch;
	agents->remotes = far_tors * FOREIGN_PER_TOR;
	agents->latency.state = 1;
	agents->writer = wire_writer_new();
	if (agents->writer == NULL) {
		free(agents);
		return -ENOMEM;
	}
	*ret = agents;
	return 0;
}

void
sim_agents_free(struct sim_agents *agents)
{
	if (agents == NULL)
		return;
	wire_writer_free(agents->writer);
	free(agents);
}

void
sim_agents_break(struct sim_agents *agents, size_t dead, size_t lossy)
{
	agents->dead = dead;
	agents->lossy = lossy;
}

size_t
sim_agents_count(const struct sim_agents *agents)
{
	return agents->count;
}

void
sim_agents_host(size_t agent, char text[32])
{
	snprintf(text, 32, "host-%zu", agent);
}

struct names { /* texts that a wire_rnic borrows */
	char host[32], tor[32];
};

static struct wire_rnic
rnic_of(uint64_t guid, const struct names *names)
{
	struct wire_rnic rnic = { .id = { .guid = guid, .port = 1 },
		.host = names->host,
		.device = "eth0",
		.driver = "sim",
		.tors = { names->tor },
		.tor_count = 1,
		.plane = "",
		.address_count = 1,
		.mtu_bytes = 4200,
		.incarnation = SIM_INCARNATION };

	rnic.addresses[0] = (struct wire_address){ .family = 4,
		.bytes = { 10, (uint8_t)(guid >> 16), (uint8_t)(guid >> 8),
		    (uint8_t)guid },
		.port = 862 };
	return rnic;
}

static struct wire_rnic
member(size_t i, struct names *names)
{
	sim_agents_host(i, names->host);
	snprintf(names->tor, sizeof(names->tor), SIM_TOR);
	return rnic_of(MEMBER_GUID + i, names);
}

static struct wire_rnic
remote(size_t i, struct names *names)
{
	snprintf(names->host, sizeof(names->host), "far-%zu", i);
	snprintf(names->tor, sizeof(names->tor), "tor-%zu", 1 + i / FOREIGN_PER_TOR);
	return rnic_of(FOREIGN_GUID + i, names);
}

int
sim_agents_plan(struct sim_agents *agents, struct wire_bytes *ret)
{
	static const uint16_t flow = 50000, size = 128;
	static const uint8_t dscp = ROCE;
	static struct names names[WIRE_MAX_MEMBERS + MAX_REMOTES];
	static struct wire_rnic rnics[WIRE_MAX_MEMBERS + MAX_REMOTES];
	struct wire_plan plan = {
		.region = "bench",
		.tor = SIM_TOR,
		.plane = "",
		.version = 1,
		.mesh = { .peers = MESH_PEERS,
		    .interval_us = 100000,
		    .rotation_s = ROTATION_S,
		    .flows = &flow,
		    .flow_count = 1,
		    .dscps = &dscp,
		    .dscp_count = 1,
		    .sizes = &size,
		    .size_count = 1 },
		.members = rnics,
		.member_count = agents->count,
		.remotes = rnics + agents->count,
		.remote_count = agents->remotes,
	};

	for (size_t i = 0; i < agents->count; i++)
		rnics[i] = member(i, &names[i]);
	for (size_t i = 0; i < agents->remotes; i++)
		rnics[agents->count + i] = remote(i, &names[agents->count + i]);
	return wire_write_plan(agents->writer, &plan, ret);
}

int
sim_agents_registration(struct sim_agents *agents, size_t agent, struct wire_bytes *ret)
{
	struct names names;
	struct wire_rnic rnic = member(agent, &names);
	struct wire_register reg = { .host = names.host,
		.incarnation = SIM_INCARNATION,
		.rnics = &rnic,
		.rnic_count = 1 };

	return wire_write_register(agents->writer, &reg, ret);
}

/* The RNIC loses the n-th probe that it sends or answers. */
static bool
loses(const struct sim_agents *agents, size_t rnic, uint64_t n)
{
	return rnic < agents->dead || (rnic < agents->dead + agents->lossy &&
					  (n * 7 + rnic) % LOSSY_EVERY == 0);
}

/* Makes it a probe without a reply, if one of its RNICs is broken. */
static void
lose(const struct sim_agents *agents, size_t agent, uint64_t n,
    struct wire_result *result)
{
	const uint64_t dst = result->dst_guid - MEMBER_GUID;

	if (!loses(agents, agent, n) &&
	    !(dst < agents->count && loses(agents, (size_t)dst, n)))
		return;
	*result = (struct wire_result){ .src_guid = result->src_guid,
		.dst_guid = result->dst_guid,
		.src_port_num = 1,
		.dst_port_num = 1,
		.sent_age_ns = result->sent_age_ns + SIM_TIMEOUT_NS,
		.seq = result->seq,
		.src_port = result->src_port,
		.size_bytes = result->size_bytes,
		.outcome = WIRE_NO_REPLY,
		.kind = result->kind,
		.dscp = result->dscp };
}

/* Fills in the n-th probe of an agent. */
static void
probe(struct sim_agents *agents, size_t agent, uint64_t n, uint64_t rotation,
    struct wire_result *result)
{
	struct latency *latency = &agents->latency;
	size_t peers = agents->count - 1 < MESH_PEERS ? agents->count - 1 : MESH_PEERS;
	size_t slot = n % (peers + FOREIGN_SLOTS);
	bool near = slot < peers;

	*result = (struct wire_result){ .src_guid = MEMBER_GUID + agent,
		.src_port_num = 1,
		.dst_port_num = 1,
		.rtt_ns = latency_next(latency, near ? MESH_RTT_NS : FAR_RTT_NS),
		.prober_delay_ns = latency_next(latency, PROBER_DELAY_NS),
		.responder_delay_ns = latency_next(latency, RESPONDER_DELAY_NS),
		.seq = (uint32_t)n,
		.responder_count = (uint32_t)n,
		.src_port = (uint16_t)(50000 + n % 8),
		.size_bytes = 128,
		.outcome = WIRE_OK,
		.kind = near ? WIRE_TOR_MESH : WIRE_INTER_TOR,
		.dscp = n / (peers + FOREIGN_SLOTS) % 4 == 3 ? 0 : ROCE,
		.arrived_ttl = 255,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL };
	result->arrived_dscp = result->dscp;
	result->round_trip_ns = result->rtt_ns + result->responder_delay_ns;
	if (near)
		result->dst_guid = MEMBER_GUID + rm_mesh_target(agents->count, peers,
						     rotation, agent, slot);
	else
		result->dst_guid =
		    FOREIGN_GUID +
		    (agent * FOREIGN_SLOTS + slot - peers) % agents->remotes;
}

/* The clocks of all agents differ. */
static uint64_t
own_clock(size_t agent, rm_mono_t at)
{
	return (uint64_t)(at.ns + (int64_t)agent * RM_NS_PER_S);
}

int
sim_agents_next(struct sim_agents *agents, struct sim_message *ret)
{
	size_t agent = agents->messages % agents->count;
	uint64_t batch = agents->messages / agents->count;
	/* The agents send one after the other within the 200 ms. */
	int64_t at = SIM_START_NS + (int64_t)(batch + 1) * BATCH_NS +
		     (int64_t)agent * BATCH_NS / (int64_t)agents->count;
	int64_t gap = BATCH_NS / (int64_t)agents->per_batch;
	char host[32];
	struct wire_batch_head head = { .host = host,
		.incarnation = SIM_INCARNATION,
		.seq = batch + 1,
		.now_ns = own_clock(agent, (rm_mono_t){ at }) };
	int r;

	sim_agents_host(agent, host);
	for (uint64_t i = 0; i < agents->per_batch; i++) {
		struct wire_result *result = &agents->results[i];

		probe(agents, agent, batch * agents->per_batch + i,
		    (uint64_t)(at / RM_NS_PER_S / ROTATION_S), result);
		result->sent_age_ns =
		    (uint64_t)(BATCH_NS - (int64_t)i * gap) - (uint64_t)gap / 2;
		if (at - SIM_START_NS >= 2 * RM_NS_PER_S)
			lose(agents, agent, batch * agents->per_batch + i, result);
	}
	r = wire_write_batch(
	    agents->writer, &head, agents->results, agents->per_batch, &ret->bytes);
	if (r < 0)
		return r;
	agents->messages++;
	ret->agent = agent;
	ret->at = (rm_mono_t){ at };
	ret->results = agents->results;
	ret->count = agents->per_batch;
	return 0;
}

int
sim_agents_counts(struct sim_agents *agents, size_t agent, uint64_t number,
    rm_mono_t at, struct wire_bytes *ret)
{
	struct wire_count rows[SIM_COUNT_ROWS] = { 0 };
	struct wire_counts counts = { .incarnation = SIM_INCARNATION,
		.now_ns = own_clock(agent, at),
		.rows = rows,
		.row_count = SIM_COUNT_ROWS };

	for (size_t i = 0; i < SIM_COUNT_ROWS; i++) {
		size_t prober = (agent + 1 + i / 2) % agents->count;

		rows[i] = (struct wire_count){ .own_guid = MEMBER_GUID + agent,
			.own_port_num = 1,
			.prober_guid = MEMBER_GUID + prober,
			.prober_port_num = 1,
			.dscp = i % 2 == 0 ? ROCE : 0,
			.received = number * (i % 2 == 0 ? 3 : 1) };
	}
	return wire_write_counts(agents->writer, &counts, ret);
}
