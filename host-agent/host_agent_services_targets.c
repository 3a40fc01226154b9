/* What comes of it: targets of probers and of the tracer, reports to aggregators. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/host_agent_services_state.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/probe/port.h"
#include "host-agent/rnic/rnic_facts.h"

#define TELL_APART_NS RM_NS_PER_S
#define TELL_AGAIN_NS (10 * RM_NS_PER_S)
#define FIRST_PORT 0xc000

/*
 * A prober is asked for flows, and its port makes others of them where it has to: these
 * are the ones to ask for. Where no port is known all are the same.
 */
static size_t
wanted_flows(const struct rnic *rnic, const struct wire_target *target,
    uint16_t ret[WIRE_MAX_FLOWS])
{
	const struct port *port = prober_port(rnic_prober(rnic));
	size_t count = 0;

	for (size_t i = 0; i < target->flow_count; i++) {
		uint16_t wanted = target->flows[i];

		for (uint16_t k = 0; k < SERVICES_MAX_PORTS &&
				     port_flow(port, wanted) != target->flows[i];
		     k++)
			wanted = (uint16_t)(FIRST_PORT + k);
		ret[count++] = wanted;
	}
	return count;
}

static int
append(struct agent_services *own, struct pinglist_sum *sum, size_t at, size_t count)
{
	struct wire_target *grown;

	sum->target_count = at;
	if (count == 0)
		return 0;
	grown = realloc(sum->targets, (at + count) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + at, own->targets, count * sizeof(*grown));
	sum->targets = grown;
	sum->target_count = at + count;
	return 0;
}

static size_t
index_of(const struct host_agent *agent, const struct rnic *rnic)
{
	size_t i = 0;

	while (agent->rnics[i] != rnic)
		i++;
	return i;
}

int
agent_services_add_probes(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count)
{
	size_t added;

	if (own == NULL)
		return 0;
	added = services_probes(own->services, index_of(own->agent, rnic), own->targets,
	    AGENT_SERVICES_MAX_TARGETS);
	for (size_t i = 0; i < added; i++) {
		own->targets[i].flow_count =
		    wanted_flows(rnic, &own->targets[i], own->ports[i]);
		own->targets[i].flows = own->ports[i];
	}
	return append(own, sum, count, added);
}

int
agent_services_add_traces(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count)
{
	if (own == NULL)
		return 0;
	return append(own, sum, count,
	    services_traces(own->services, index_of(own->agent, rnic), own->targets,
		AGENT_SERVICES_MAX_TARGETS));
}

int
agent_services_add_guests(
    struct agent_services *own, const struct rnic *rnic, struct pinglist_sum *sum)
{
	size_t count = sum->peer_count, room = WIRE_MAX_ROSTER - count;
	struct wire_peer *grown;

	if (own == NULL || count >= WIRE_MAX_ROSTER)
		return 0;
	if (room > SERVICES_MAX_GUESTS)
		room = SERVICES_MAX_GUESTS;
	grown = realloc(sum->peers, (count + room) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	sum->peers = grown;
	sum->peer_count += services_guests(
	    own->services, index_of(own->agent, rnic), grown + count, room);
	return 0;
}

/* ---- reports ----------------------------------------------------------------------
 */

/* Those of RNICs that this aggregator serves. */
static bool
is_served(const struct host_agent *agent, size_t uplink, struct wire_rnic_id src)
{
	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct rnic_facts *facts = rnic_facts(agent->rnics[i]);

		if (facts != NULL && facts->id.guid == src.guid &&
		    facts->id.port == src.port)
			return agent_serves(agent, uplink, agent->rnics[i]);
	}
	return false;
}

static int
tell_one(struct agent_services *own, size_t uplink, size_t count, rm_mono_t now)
{
	struct host_agent *agent = own->agent;
	struct wire_services report = { .tracing = qp_tracer_hears(own->hooks),
		.missing = qp_tracer_missing(own->hooks),
		.events_dropped = qp_tracer_counts(own->hooks).dropped,
		.flows = own->served };

	for (size_t i = 0; i < agent->rnic_count; i++)
		if (agent_serves(agent, uplink, agent->rnics[i]))
			report.unresolved += services_unjoinable(own->services, i);
	for (size_t i = 0; i < count; i++) {
		const struct wire_service_flow *flow = &own->flows[i];

		if (!is_served(agent, uplink, flow->src))
			continue;
		if (flow->state == WIRE_SERVICE_UNRESOLVED || !services_is_told(flow))
			report.unresolved += flow->qps;
		if (!services_is_told(flow))
			continue;
		report.over_cap += flow->state == WIRE_SERVICE_WAITING;
		own->served[report.flow_count++] = *flow;
	}
	return uplink_services(agent->uplinks[uplink], &report, now);
}

void
agent_services_tell(struct agent_services *own, rm_mono_t now)
{
	struct host_agent *agent = own->agent;
	int64_t since = rm_mono_since(now, own->told);
	bool all = since >= (own->news ? TELL_APART_NS : TELL_AGAIN_NS);
	size_t count;

	if (!all && own->strange == 0)
		return;
	count = services_flows(own->services, own->flows, SERVICES_MAX_FLOWS);
	for (size_t i = 0; i < agent->uplink_count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (!uplink_has_session(agent->uplinks[i]) ||
		    (!all && (own->strange & bit) == 0))
			continue;
		own->strange &= ~bit;
		if (tell_one(own, i, count, now) < 0)
			own->strange |= bit; /* its link is full: in a next turn */
		else
			own->counts.reports++;
	}
	if (!all)
		return;
	own->news = false;
	own->told = now;
}
