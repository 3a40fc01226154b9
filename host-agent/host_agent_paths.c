/* Which RNICs are traced, and who is told of their paths. */
#include "host-agent/host_agent_state.h"
#include "host-agent/rnic_facts.h"
#include "host-agent/tracing.h"
#include "rackmesh/base/log.h"
#include "rackmesh/base/loop.h"

#define TELL_INTERVAL_NS (500 * RM_NS_PER_MS)
#define PATHS_PER_FRAME 256

struct tracer_options
agent_tracer_options(const struct agent_config *config)
{
	return (struct tracer_options){
		.interval_ns = (int64_t)config->trace_interval_s * RM_NS_PER_S,
		.max_rate_per_s = config->trace_max_packets_per_s,
	};
}

void
agent_tune_tracing(struct host_agent *agent)
{
	struct tracer_options options = agent_tracer_options(&agent->config);

	tracing_tune(agent->tracing, &options,
	    agent->paused ? 0 : agent->brake_now.rate_permille);
}

static size_t
rnic_index(const struct host_agent *agent, const struct rnic *rnic)
{
	size_t i = 0;

	while (agent->rnics[i] != rnic)
		i++;
	return i;
}

void
agent_trace_rnic(struct host_agent *agent, const struct rnic *rnic)
{
	bool denied = tracing_denied(agent->tracing);
	int r = tracing_open(agent->tracing, rnic_index(agent, rnic),
	    agent->config.netns, rnic_device(rnic), rnic_facts(rnic));

	if (r == 0)
		return;
	if (!tracing_denied(agent->tracing))
		rm_log_warn(r, "%s: no path can be traced", rnic_device(rnic));
	else if (!denied)
		rm_log_warn(r, "no path can be traced: that needs CAP_NET_RAW");
}

void
agent_trace_plan(
    struct host_agent *agent, const struct rnic *rnic, const struct pinglist_sum *sum)
{
	uint64_t to = 0;
	int r;

	for (size_t i = 0; i < agent->uplink_count; i++) {
		if (agent_serves(agent, i, rnic))
			to |= UINT64_C(1) << i;
	}
	r = tracing_set(
	    agent->tracing, rnic_index(agent, rnic), sum, rnic_facts(rnic), to);
	if (r < 0)
		rm_log_warn(r, "%s: not all flows are traced", rnic_device(rnic));
}

void
agent_trace_result(
    struct host_agent *agent, const struct rnic *rnic, const struct wire_result *result)
{
	if (result->kind != WIRE_TOR_MESH && result->kind != WIRE_TOR_REFLECTOR)
		tracing_result(agent->tracing, rnic_index(agent, rnic), result);
}

static void
tell(struct host_agent *agent, unsigned i)
{
	struct tracer *tracer = tracing_tracer(agent->tracing);
	struct wire_path paths[PATHS_PER_FRAME];
	rm_mono_t now = rm_mono_now();
	size_t count;

	while ((count = tracer_report(tracer, i, now, paths, PATHS_PER_FRAME)) > 0) {
		if (uplink_paths(agent->uplinks[i], paths, count, now) == 0)
			continue;
		/* Its link is full or gone: all of them, next time. */
		tracer_report_all(tracer, i);
		return;
	}
}

void
agent_tell_paths(void *arg)
{
	struct host_agent *agent = arg;

	for (size_t i = 0; i < agent->uplink_count; i++) {
		if (uplink_has_session(agent->uplinks[i]))
			tell(agent, (unsigned)i);
	}
	rm_timer_after(agent->tell, TELL_INTERVAL_NS);
}
