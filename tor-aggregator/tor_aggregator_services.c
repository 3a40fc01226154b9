#include "tor-aggregator/tor_aggregator_services.h"

#include "rackmesh/core/log.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/orders.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/tor_aggregator_state.h"

/* Who is talked to is found anew this often; plans forget nobody meanwhile. */
#define SERVED_NS (60 * RM_NS_PER_S)
#define PEERS_PER_REPORT                                              \
	16 /* that the controller is asked for: the rest has its turn \
	      with the next report */

static bool
owns(struct wire_rnic_id id, void *arg)
{
	size_t hint = 0;

	return agent_owns(arg, id, &hint) != NULL;
}

/* After a restart of ours, say: agents go on probing whom we have forgotten. */
static void
learn_peers(struct tor_aggregator *aggregator, struct agent *agent,
    const struct service_host *host)
{
	size_t asked = 0, hint = 0;

	for (size_t i = 0; i < host->flow_count && asked < PEERS_PER_REPORT; i++) {
		const struct service_flow *flow = &host->flows[i];
		const struct agent_rnic *own = agent_owns(agent, flow->src, &hint);

		if (flow->dst.guid == 0 || own == NULL || own->rack == NULL ||
		    tor_rack_serve(own->rack, flow->dst))
			continue;
		if (orders_peer(aggregator->orders, agent, &flow->peer) < 0)
			return;
		asked++;
	}
}

void
tor_aggregator_on_services(
    struct agent *agent, const struct wire_services_view *view, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	const struct service_host *host;
	int r;

	r = service_table_take(
	    aggregator->services, agent->host, view, owns, agent, rm_mono_now());
	if (r < 0)
		rm_log_error(r, "services of host %s", agent->host);
	host = service_table_find(aggregator->services, agent->host);
	if (host != NULL)
		learn_peers(aggregator, agent, host);
}

static void
serve_peers(struct tor_aggregator *aggregator)
{
	const struct service_host *host = NULL;

	for (size_t i = 0; i < aggregator->rack_count; i++)
		tor_rack_unserve(aggregator->racks[i]);
	while ((host = service_table_next(aggregator->services, host)) != NULL) {
		const struct agent *agent = agents_find(aggregator->agents, host->host);
		size_t hint = 0;

		for (size_t i = 0; agent != NULL && i < host->flow_count; i++) {
			const struct service_flow *flow = &host->flows[i];
			const struct agent_rnic *own =
			    agent_owns(agent, flow->src, &hint);

			if (own != NULL && own->rack != NULL && flow->dst.guid != 0)
				tor_rack_serve(own->rack, flow->dst);
		}
	}
}

void
tor_aggregator_services_tick(struct tor_aggregator *aggregator, rm_mono_t now)
{
	service_table_age(aggregator->services, now);
	if (rm_mono_since(now, aggregator->served) < SERVED_NS)
		return;
	aggregator->served = now;
	serve_peers(aggregator);
}
