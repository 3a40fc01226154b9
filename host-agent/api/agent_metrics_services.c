/* The metrics of what follows services. */
#include "host-agent/api/agent_metrics.h"
#include "host-agent/host_agent_services.h"
#include "rackmesh/metrics/metrics.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

int
agent_metrics_services(
    struct rm_metrics *metrics, const struct agent_services *services)
{
	const struct agent_services_counts *c;
	int r;

	if (services == NULL)
		return 0;
	c = agent_services_counts(services);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ "rackmesh_agent_qp_events_total", "", "QPs that got a peer or went, as the kernel told.", &c->hooks.events },
		{ "rackmesh_agent_qp_events_dropped_total", "", "Of those, what the kernel had no room for.", &c->hooks.dropped },
		{ "rackmesh_agent_qp_events_malformed_total", "", "What was no event.", &c->hooks.malformed },
		{ "rackmesh_agent_qp_events_foreign_total", "", "Events of devices that are no RNIC of the list.", &c->table.foreign },
		{ "rackmesh_agent_qps_connected_total", "", "QPs of our RNICs that got a peer.", &c->table.connected },
		{ "rackmesh_agent_qps_destroyed_total", "", "Of those, what was destroyed.", &c->table.destroyed },
		{ "rackmesh_agent_qps_older_total", "", "QPs found by listing.", &c->table.older },
		{ "rackmesh_agent_qps_missed_total", "", "QPs gone by listing: nobody told of their end.", &c->table.missed },
		{ "rackmesh_agent_qps_local_total", "", "QPs from an RNIC to itself.", &c->table.local },
		{ "rackmesh_agent_qps_refused_total", "", "QPs beyond what one agent follows.", &c->table.refused },
		{ "rackmesh_agent_qp_lists_total", "", "Lists of all QPs.", &c->lists },
		{ "rackmesh_agent_qp_lists_failed_total", "", "Lists that the kernel did not give.", &c->lists_failed },
		{ "rackmesh_agent_peers_asked_total", "", "Questions for the RNIC of a peer.", &c->table.asks },
		{ "rackmesh_agent_peers_unsent_total", "", "Of those, what no aggregator could be asked.", &c->unsent },
		{ "rackmesh_agent_peers_found_total", "", "Answers that told the RNIC.", &c->table.found },
		{ "rackmesh_agent_peers_not_found_total", "", "Answers that nobody knows it.", &c->table.not_found },
		{ "rackmesh_agent_peers_unmatched_total", "", "Answers to no question (any more).", &c->table.unmatched },
		{ "rackmesh_agent_service_guests_refused_total", "", "Times that a peer of a flow had no room among those who are answered.", &c->table.guests_refused },
		{ "rackmesh_agent_service_reports_total", "", "Reports of service flows.", &c->reports },
	}, gauges[] = {
		{ "rackmesh_agent_service_tracing", "", "1: the kernel tells of QPs.", &c->hears },
		{ "rackmesh_agent_service_qps", "", "QPs with a peer on our RNICs.", &c->table.qps },
		{ "rackmesh_agent_service_flows", "", "Flows that they make.", &c->table.flows },
		{ "rackmesh_agent_service_qps_unresolved", "", "QPs whose peer nobody knows.", &c->table.unresolved },
		{ "rackmesh_agent_service_guests", "", "Addresses that are answered because of flows.", &c->table.guests },
		{ "rackmesh_agent_service_ways_probed", "", "Ways that are probed for services.", &c->table.probed },
		{ "rackmesh_agent_service_flows_waiting", "", "Flows whose way waits for its turn.", &c->table.waiting },
		{ "rackmesh_agent_service_flows_merged", "", "Flows that share the probes of another.", &c->table.merged },
	};
	/* clang-format on */

	r = rm_metrics_counters(metrics, services, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, services, gauges, COUNT(gauges));
	return r;
}
