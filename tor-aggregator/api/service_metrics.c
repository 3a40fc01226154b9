#include "tor-aggregator/api/service_metrics.h"

#include <stddef.h>

#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/services/service_table.h"

#define N(name) "rackmesh_aggregator_" name
#define T(field) offsetof(struct service_table_counts, field)

/* clang-format off */
static const struct metrics_counter counters[] = {
	{ N("service_reports_total"), "", T(reports), "Reports of agents' service flows." },
	{ N("service_flows_refused_total"), "", T(refused_flows), "Flows in them of RNICs that the agent does not speak for, or of no possible class." },
	{ N("service_flows_dropped_total"), "", T(dropped_flows), "Flows in them that found no room." },
	{ N("service_hosts_aged_total"), "", T(aged), "Hosts whose flows were forgotten: their agents did not come back." },
	{ 0 }
};
/* clang-format on */

static double
read_resolving(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_RESOLVING);
}

static double
read_probed(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_PROBED);
}

static double
read_waiting(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_WAITING);
}

static double
read_unresolved(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_UNRESOLVED);
}

static double
read_unresolved_qps(const void *arg)
{
	const struct service_host *host = NULL;
	double qps = 0;

	while ((host = service_table_next(arg, host)) != NULL)
		qps += (double)host->unresolved;
	return qps;
}

static double
read_untraced_hosts(const void *arg)
{
	const struct service_host *host = NULL;
	double hosts = 0;

	while ((host = service_table_next(arg, host)) != NULL)
		hosts += !host->tracing;
	return hosts;
}

int
service_metrics_register(const struct service_table *table, struct rm_metrics *metrics)
{
	const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ N("service_flows"), "state=\"resolving\"", "Service flows now.",
		    read_resolving },
		{ N("service_flows"), "state=\"probed\"", "Service flows now.",
		    read_probed },
		{ N("service_flows"), "state=\"waiting\"", "Service flows now.",
		    read_waiting },
		{ N("service_flows"), "state=\"unresolved\"", "Service flows now.",
		    read_unresolved },
		{ N("service_qps_unresolved"), "",
		    "QPs whose other end nobody knows, as agents say.",
		    read_unresolved_qps },
		{ N("service_hosts_untraced"), "",
		    "Hosts whose agents cannot see services.", read_untraced_hosts },
	};
	int r = metrics_table_add(metrics, counters, service_table_counts(table), "");

	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, table, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, table);
	return r;
}
