/* The tracer's metrics. */
#include <stddef.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/trace/tracing.h"
#include "rackmesh/metrics/metrics.h"

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
	const char *help;
} tracer_counters[] = {
#define T(field) offsetof(struct tracer_counts, field)
	{ "rackmesh_agent_traces_total", T(traces), "Traces of a flow's path." },
	{ "rackmesh_agent_trace_packets_total", T(packets), "Packets of those." },
	{ "rackmesh_agent_trace_packets_failed_total", T(packets_failed), "Of those, what the kernel refused." },
	{ "rackmesh_agent_trace_answers_total", T(answers), "Answers that told a hop." },
	{ "rackmesh_agent_trace_unmatched_total", T(unmatched), "Answers to no trace under way." },
	{ "rackmesh_agent_traces_incomplete_total", T(incomplete), "Traces that got less far than is known." },
	{ "rackmesh_agent_traces_over_budget_total", T(over_budget), "Times that traces waited for the budget." },
	{ "rackmesh_agent_paths_changed_total", T(moved), "Times that a known path became another, or more of it known." },
	{ "rackmesh_agent_trace_flows_refused_total", T(refused_flows), "Flows beyond what one agent traces." },
#undef T
}, port_counters[] = {
#define Q(field) offsetof(struct trace_port_counts, field)
	{ "rackmesh_agent_trace_icmp_total", Q(received), "ICMP messages that may be answers." },
	{ "rackmesh_agent_trace_icmp_malformed_total", Q(malformed), "Of those, malformed ones." },
	{ "rackmesh_agent_trace_icmp_foreign_total", Q(foreign), "Of those, what is about no trace." },
	{ "rackmesh_agent_trace_icmp_overruns_total", Q(overruns), "Lost, for they came too fast." },
#undef Q
};
/* clang-format on */

static double
read_flows(const void *arg)
{
	return (double)tracer_flows(tracing_tracer(arg));
}

static double
read_multipath(const void *arg)
{
	return (double)tracer_multipath(tracing_tracer(arg));
}

static double
read_denied(const void *arg)
{
	return tracing_denied(arg) ? 1 : 0;
}

static int
add(struct rm_metrics *metrics, const void *owner, const char *name, const char *help,
    const void *base, size_t offset)
{
	return rm_metrics_counter(metrics, owner, name, "", help,
	    (const uint64_t *)((const char *)base + offset));
}

int
agent_metrics_tracing(struct rm_metrics *metrics, const struct tracing *tracing)
{
	static const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_trace_flows", "Flows whose path is traced.",
		    read_flows },
		{ "rackmesh_agent_trace_flows_multipath",
		    "Of those, flows that keep changing their way.", read_multipath },
		{ "rackmesh_agent_trace_denied",
		    "1: raw sockets are not allowed, so that nothing is traced.",
		    read_denied },
	};
	const void *counts = tracer_counts(tracing_tracer(tracing));
	const void *port = tracing_port_counts(tracing);
	int r = 0;

	for (size_t i = 0;
	     i < sizeof(tracer_counters) / sizeof(tracer_counters[0]) && r == 0; i++)
		r = add(metrics, tracing, tracer_counters[i].name,
		    tracer_counters[i].help, counts, tracer_counters[i].offset);
	for (size_t i = 0;
	     i < sizeof(port_counters) / sizeof(port_counters[0]) && r == 0; i++)
		r = add(metrics, tracing, port_counters[i].name, port_counters[i].help,
		    port, port_counters[i].offset);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, tracing, gauges[i].name, "",
		    gauges[i].help, gauges[i].read, tracing);
	return r;
}
