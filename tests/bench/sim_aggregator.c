#include "tests/bench/sim_aggregator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/sim_agents.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/rack/tor_rack.h"

#define WALL_NS INT64_C(1800000000000000000)
#define HEARTBEAT_NS (250 * RM_NS_PER_MS)

static enum host_state
on_host_state(struct tor_rack *rack, const char *host, rm_mono_t now, rm_mono_t start,
    rm_mono_t end, struct host_silence *silence, void *arg)
{
	*silence = (struct host_silence){ .ns = HEARTBEAT_NS };
	return HOST_OK;
}

static void
on_incident(struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg)
{
	struct sim_aggregator *aggregator = arg;

	aggregator->incidents++;
}

static void
on_summary(struct tor_rack *rack, const struct wire_summary *summary, void *arg)
{
	struct sim_aggregator *aggregator = arg;

	if (aggregator->on_summary != NULL)
		aggregator->on_summary(summary, aggregator->arg);
}

static void
on_focus(
    struct tor_rack *rack, const char *host, const struct wire_focus *focus, void *arg)
{
}

static rm_wall_t
wall_at(rm_mono_t now)
{
	return (rm_wall_t){ WALL_NS + now.ns };
}

static int
take_plan(struct sim_aggregator *aggregator, struct sim_agents *from)
{
	struct wire_bytes bytes;
	int r = sim_agents_plan(from, &bytes);

	if (r < 0)
		return r;
	aggregator->plan = malloc(bytes.len);
	if (aggregator->plan == NULL)
		return -ENOMEM;
	memcpy(aggregator->plan, bytes.data, bytes.len);
	r = wire_open_plan(&aggregator->plan_view, aggregator->plan, bytes.len);
	if (r < 0)
		return r;
	return tor_rack_plan(
	    aggregator->rack, &aggregator->plan_view, (rm_mono_t){ SIM_START_NS });
}

static int
take_agent(struct sim_aggregator *aggregator, struct sim_agents *from,
    struct wire_writer *writer, size_t number)
{
	struct wire_register_view view;
	struct wire_bytes bytes;
	struct wire_rnic rnic;
	struct agent *agent;
	struct agent_refused refused;
	char host[32];
	int r;

	sim_agents_host(number, host);
	r = agents_get(aggregator->agents, host, &agent);
	if (r == 0)
		r = sim_agents_registration(from, number, &bytes);
	if (r == 0)
		r = wire_open_register(&view, bytes.data, bytes.len);
	if (r < 0)
		return r;
	agent_hello(agent, SIM_INCARNATION);
	r = agent_register(aggregator->agents, agent, &view, writer, &refused);
	if (r < 0)
		return r;
	wire_register_rnic(&view, 0, &rnic);
	r = tor_rack_register(aggregator->rack, &rnic, (rm_mono_t){ SIM_START_NS });
	if (r < 0)
		return r;
	agent_place(agent, &aggregator->rack, 1);
	aggregator->by_number[number] = agent;
	return refused.count == 0 && agent->rnics[0].rack != NULL ? 0 : -EINVAL;
}

int
sim_aggregator_init(struct sim_aggregator *aggregator, struct sim_agents *from)
{
	const struct tor_rack_options options = {
		.tor = SIM_TOR,
		.active = true,
		.ring_bytes = 64 << 20,
		.timeout_ns = SIM_TIMEOUT_NS,
		.row_interval_ns = 10 * RM_NS_PER_S,
		.rnic_interval_ns = 60 * RM_NS_PER_S,
		.resolve_after_ns = 3 * RM_NS_PER_S,
		.id_seed = 1,
	};
	const struct tor_rack_callbacks callbacks = { on_host_state, on_incident,
		on_summary, on_focus, NULL, aggregator };
	struct wire_writer *writer = wire_writer_new();
	rm_mono_t now = { SIM_START_NS };
	int r;

	*aggregator = (struct sim_aggregator){ 0 };
	if (writer == NULL)
		return -ENOMEM;
	r = agents_new(WIRE_MAX_MEMBERS, &aggregator->agents);
	if (r == 0)
		r = tor_rack_new(
		    &options, &callbacks, now, wall_at(now), &aggregator->rack);
	if (r == 0)
		r = take_plan(aggregator, from);
	for (size_t i = 0; i < sim_agents_count(from) && r == 0; i++)
		r = take_agent(aggregator, from, writer, i);
	wire_writer_free(writer);
	if (r < 0)
		sim_aggregator_clear(aggregator);
	return r;
}

void
sim_aggregator_clear(struct sim_aggregator *aggregator)
{
	agents_free(aggregator->agents);
	tor_rack_free(aggregator->rack);
	free(aggregator->plan);
	*aggregator = (struct sim_aggregator){ 0 };
}

int
sim_aggregator_take(struct sim_aggregator *aggregator, size_t agent, rm_mono_t at,
    const uint8_t *data, size_t len)
{
	struct wire_ack ack;

	return ingest_batch(
	    &aggregator->ingest, aggregator->by_number[agent], at, data, len, &ack);
}

void
sim_aggregator_tick(struct sim_aggregator *aggregator, rm_mono_t now)
{
	tor_rack_tick(aggregator->rack, now, wall_at(now),
	    rm_mono_add(now, -HEARTBEAT_NS - SIM_TIMEOUT_NS));
}
