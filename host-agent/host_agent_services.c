/* Events, questions and turns: when what happens. */
#include "host-agent/host_agent_services.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/host_agent_services_state.h"
#include "host-agent/probe/port.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/trace/tracing.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

#define TURN_NS (500 * RM_NS_PER_MS)
/* News is acted on so soon, but turns are so far apart: a job may connect thousands. */
#define NEWS_NS (10 * RM_NS_PER_MS)
#define TURNS_APART_NS (100 * RM_NS_PER_MS)
#define TURN_SHARE 10 /* one part in so many of the loop's time is for them */
#define ASKS_PER_TURN 32
#define FIRST_PORT 0xc000

static struct services_options
options_of(const struct agent_config *config)
{
	return (struct services_options){
		.max_probed = config->services_max_flows,
		.interval_us = (uint32_t)config->services_interval_ms * 1000,
		.turn_ns = (int64_t)config->services_turn_s * RM_NS_PER_S,
		.random_seed = rm_random_u64(),
	};
}

void
agent_services_turn_soon(struct agent_services *own)
{
	rm_mono_t now = rm_mono_now();
	rm_mono_t at =
	    rm_mono_add(own->turned, TURNS_APART_NS + own->turn_ns * TURN_SHARE);

	if (own->soon || own->hooks == NULL)
		return;
	own->soon = true;
	if (rm_mono_since(at, now) < NEWS_NS)
		at = rm_mono_add(now, NEWS_NS);
	rm_timer_at(own->turn, at);
}

static void
on_event(const struct qp_event *event, void *arg)
{
	struct agent_services *own = arg;

	/* What is refused is counted there. */
	if (services_event(own->services, event, rm_mono_now()) == 0)
		agent_services_turn_soon(own);
}

/* What was before has to be listed, or all of it. */
static void
on_state(void *arg)
{
	struct agent_services *own = arg;

	own->list.wanted = own->news = true;
	agent_services_turn_soon(own);
}

/* ---- questions ------------------------------------------------------------------ */

static struct uplink *
uplink_for(const struct host_agent *agent, size_t rnic)
{
	for (size_t i = 0; i < agent->uplink_count; i++)
		if (uplink_has_session(agent->uplinks[i]) &&
		    agent_serves(agent, i, agent->rnics[rnic]))
			return agent->uplinks[i];
	return NULL;
}

static int
send_ask(struct agent_services *own, const struct services_ask *ask)
{
	const struct rnic *rnic = own->agent->rnics[ask->owner];
	struct uplink *uplink = uplink_for(own->agent, ask->owner);

	if (uplink == NULL)
		return -ENOTCONN;
	if (ask->join)
		return uplink_join(uplink, &(struct wire_join){ .token = ask->token,
					       .rnic = rnic_facts(rnic)->id,
					       .qpn = ask->qpn,
					       .dst_qpn = ask->dst_qpn,
					       .qp_type = ask->qp_type });
	return uplink_resolve(uplink, &(struct wire_resolve){ .token = ask->token,
					  .address = ask->address,
					  .prober = rnic_facts(rnic)->id });
}

static void
ask_all(struct agent_services *own, rm_mono_t now)
{
	struct services_ask asks[ASKS_PER_TURN];
	bool anybody = false;
	size_t count;

	for (size_t i = 0; i < own->agent->uplink_count; i++)
		anybody |= uplink_has_session(own->agent->uplinks[i]);
	if (!anybody)
		return; /* else they would be put off */
	count = services_asks(own->services, now, asks, ASKS_PER_TURN);
	for (size_t i = 0; i < count; i++)
		own->counts.unsent += send_ask(own, &asks[i]) < 0;
	if (count == ASKS_PER_TURN) /* the others in the next turn, soon */
		agent_services_turn_soon(own);
}

void
agent_services_answer(
    struct agent_services *own, const struct wire_resolve_answer *answer)
{
	if (own == NULL)
		return;
	services_answer(own->services, answer->token,
	    answer->found ? &answer->rnic : NULL, rm_mono_now());
	agent_services_turn_soon(own);
}

void
agent_services_result(
    struct agent_services *own, const struct wire_result *result, rm_mono_t now)
{
	if (own != NULL && result->outcome == WIRE_NO_REPLY)
		services_lost(own->services,
		    (struct wire_rnic_id){ result->dst_guid, result->dst_port_num },
		    now);
}

/* ---- turns ------------------------------------------------------------------------
 */

static uint64_t
path_of(size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg)
{
	const struct host_agent *agent = arg;

	if (rnic_flows(agent->rnics[owner]) == PORT_FLOWS_UNKNOWN)
		return 0;
	return tracer_way(tracing_tracer(agent->tracing), owner, dst, src_port);
}

static void
on_turn(void *arg)
{
	struct agent_services *own = arg;
	struct host_agent *agent = own->agent;
	rm_mono_t now = rm_mono_now();
	uint64_t changed;

	own->soon = false;
	own->turned = now;
	rm_timer_after(own->turn, TURN_NS);
	agent_services_list(own, now);
	agent_services_name(own);
	ask_all(own, now);
	own->news |= services_news(own->services);
	changed = services_turn(own->services, path_of, agent, now);
	own->news |= changed != 0;
	for (size_t i = 0; i < agent->rnic_count; i++)
		if ((changed >> i & 1) != 0)
			agent_plan_rnic(agent, agent->rnics[i]);
	agent_services_tell(own, now);
	own->counts.table = services_counts(own->services);
	own->counts.hooks = qp_tracer_counts(own->hooks);
	own->counts.hears = qp_tracer_hears(own->hooks);
	own->turn_ns = rm_mono_since(rm_mono_now(), now);
}

/* The source ports that its probes can have. */
static size_t
ports_of(const struct rnic *rnic, uint16_t ret[SERVICES_MAX_PORTS])
{
	const struct port *port = prober_port(rnic_prober(rnic));
	struct port_verbs_facts facts;
	size_t count = 0;

	if (port_flows(port) == PORT_FLOWS_LABEL)
		return 0; /* any */
	if (!rnic_verbs(rnic, &facts))
		return 0;
	for (; count < facts.flow_count && count < SERVICES_MAX_PORTS; count++)
		ret[count] = port_flow(port, (uint16_t)(FIRST_PORT + count));
	if (port_flows(port) == PORT_FLOWS_UNKNOWN)
		ret[0] = FIRST_PORT; /* there is one, and nobody knows which */
	return count;
}

/* With the first RNIC that verbs can use: elsewhere nothing is to be seen or missed. */
static int
begin(struct agent_services *own)
{
	static const struct qp_tracer_callbacks callbacks = { on_event, on_state };
	const struct qp_tracer_options options = {
		.way = (enum qp_hooks_way)own->agent->config.services_hooks
	};

	if (own->hooks != NULL)
		return 0;
	return qp_tracer_new(own->agent->loop, own->agent->worker, &options, &callbacks,
	    own, &own->hooks);
}

void
agent_services_rnic(struct agent_services *own, const struct rnic *rnic)
{
	const struct rnic_facts *facts = rnic_facts(rnic);
	struct port_verbs_facts verbs;
	uint16_t ports[SERVICES_MAX_PORTS];
	struct services_rnic told;
	size_t owner = 0;
	int r;

	if (own == NULL || !rnic_up(rnic) || !rnic_verbs(rnic, &verbs))
		return; /* over UDP nobody knows which RDMA device it is */
	r = begin(own);
	if (r < 0) {
		rm_log_warn(r, "service flows are not followed");
		return;
	}
	while (own->agent->rnics[owner] != rnic)
		owner++;
	told = (struct services_rnic){ .id = facts->id,
		.device = facts->rdma_device,
		.port = facts->id.port,
		.verbs = true,
		.tor_count = rnic_tor_count(rnic),
		.addresses = facts->addresses,
		.address_count = facts->address_count,
		.ports = ports,
		.port_count = ports_of(rnic, ports),
		.large_bytes = verbs.mtu_bytes };
	for (size_t i = 0; i < told.tor_count; i++)
		told.tors[i] = rnic_tor(rnic, i);
	own->list.wanted |= services_set_rnic(own->services, owner, &told);
	agent_services_turn_soon(own);
}

void
agent_services_tell_all(struct agent_services *own, size_t uplink)
{
	if (own == NULL)
		return;
	own->strange |= UINT64_C(1) << uplink;
	agent_services_turn_soon(own);
}

/* ---- life -------------------------------------------------------------------------
 */

void
agent_services_tune(struct agent_services *own)
{
	struct services_options options;

	if (own == NULL)
		return;
	options = options_of(&own->agent->config);
	services_tune(own->services, &options);
	agent_services_turn_soon(own);
}

int
agent_services_new(struct host_agent *agent, struct agent_services **ret)
{
	const struct services_options options = options_of(&agent->config);
	struct agent_services *own;
	int r = -ENOMEM;

	*ret = NULL;
	if (!agent->config.services_enabled)
		return 0;
	own = calloc(1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	own->agent = agent;
	own->flows = calloc(SERVICES_MAX_FLOWS, sizeof(*own->flows));
	own->served = calloc(SERVICES_MAX_FLOWS, sizeof(*own->served));
	own->targets = calloc(AGENT_SERVICES_MAX_TARGETS, sizeof(*own->targets));
	own->ports = calloc(AGENT_SERVICES_MAX_TARGETS, sizeof(*own->ports));
	if (own->flows != NULL && own->served != NULL && own->targets != NULL &&
	    own->ports != NULL)
		r = services_new(&options, &own->services);
	if (r == 0)
		r = rm_timer_new(agent->loop, on_turn, own, &own->turn);
	if (r < 0) {
		agent_services_free(own);
		return r;
	}
	*ret = own;
	return 0;
}

void
agent_services_stop(struct agent_services *own)
{
	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	own->turn = NULL;
	own->soon = true; /* nothing arms it any more */
}

void
agent_services_free(struct agent_services *own)
{
	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	qp_tracer_free(own->hooks);
	services_free(own->services);
	qp_list_clear(&own->list.list);
	free(own->flows);
	free(own->served);
	free(own->targets);
	free(own->ports);
	free(own);
}

const struct services *
agent_services_table(const struct agent_services *own)
{
	return own->services;
}

const struct qp_tracer *
agent_services_hooks(const struct agent_services *own)
{
	return own->hooks;
}

const struct agent_services_counts *
agent_services_counts(const struct agent_services *own)
{
	return &own->counts;
}
