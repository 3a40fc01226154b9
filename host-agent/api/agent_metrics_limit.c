/* The metrics of what the agent costs its host, and how it holds itself back. */
#include <stddef.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/report/self_limit.h"
#include "rackmesh/metrics/metrics.h"

static double
read_permille(const void *arg)
{
	return ((const struct self_limit *)arg)->permille;
}

static double
read_cpu(const void *arg)
{
	return ((const struct self_limit *)arg)->cpu_percent;
}

static double
read_memory(const void *arg)
{
	return (double)((const struct self_limit *)arg)->memory_bytes;
}

static double
read_by_cpu(const void *arg)
{
	return ((const struct self_limit *)arg)->why == WIRE_SLOW_CPU ? 1 : 0;
}

static double
read_by_memory(const void *arg)
{
	return ((const struct self_limit *)arg)->why == WIRE_SLOW_MEMORY ? 1 : 0;
}

int
agent_metrics_limit(struct rm_metrics *metrics, const struct self_limit *limit)
{
	static const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_slowed_permille", "",
		    "Of the probes asked for, what the agent's own limits let through.",
		    read_permille },
		{ "rackmesh_agent_slowed", "why=\"cpu\"",
		    "1 while that limit holds probing back.", read_by_cpu },
		{ "rackmesh_agent_slowed", "why=\"memory\"",
		    "1 while that limit holds probing back.", read_by_memory },
		{ "rackmesh_agent_cpu_percent", "",
		    "Of one core, over the last second.", read_cpu },
		{ "rackmesh_agent_memory_bytes", "", "Resident.", read_memory },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, limit, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, limit);
	if (r == 0)
		r = rm_metrics_counter(metrics, limit, "rackmesh_agent_slowdowns_total",
		    "", "Times that a limit of its own has slowed the agent down.",
		    &limit->falls);
	return r;
}
