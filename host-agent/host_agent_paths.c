/* Decides which RNICs are traced, and which aggregators get their paths. */
#include "host-agent/host_agent_state.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/trace/flow_choice.h"
#include "host-agent/trace/tracer_io.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

/* A changed path must arrive before the second of the first losses on it is judged. */
#define REPORT_INTERVAL_NS (200 * RM_NS_PER_MS)
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

	tracer_io_tune(agent->io, &options, agent->paused ? 0 : agent_pace(agent));
	agent->paths_chosen = UINT64_MAX;
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
	bool denied = tracer_io_denied(agent->io);
	int r = tracer_io_open(agent->io, rnic_index(agent, rnic), agent->config.netns,
	    rnic_facts(rnic)->netdev, rnic_facts(rnic));

	if (r == 0)
		return;
	if (!tracer_io_denied(agent->io))
		rm_log_warn(r, "%s: cannot trace paths", rnic_device(rnic));
	else if (!denied)
		rm_log_warn(r, "cannot trace paths: CAP_NET_RAW is missing");
}

/* ---- one flow per path ------------------------------------------------------- */

struct chooser {
	const struct host_agent *agent;
	size_t owner;
};

static uint64_t
choose_flows(const struct wire_target *wire, void *arg)
{
	const struct chooser *chooser = arg;
	const struct tracer *tracer = tracer_io_tracer(chooser->agent->io);
	uint64_t path_ids[WIRE_MAX_FLOWS] = { 0 };
	const int asked = chooser->agent->config.trace_one_flow_per_path;

	if (asked == AGENT_ONE_FLOW_NONE ||
	    (asked == AGENT_ONE_FLOW_ROCE && wire->dst_qpn == 0) ||
	    (wire->kind != WIRE_INTER_TOR && wire->kind != WIRE_SERVICE))
		return UINT64_MAX;
	for (size_t i = 0; i < wire->flow_count; i++)
		path_ids[i] =
		    tracer_path_id(tracer, chooser->owner, wire->dst, wire->flows[i]);
	return flow_choice(wire->flows, path_ids, wire->flow_count);
}

/* Flows that are not chosen are traced, too: a flow whose path becomes unique is probed
 * again. */
static void
choose_of_rnic(struct host_agent *agent, size_t i)
{
	struct chooser chooser = { agent, i };

	if (rnic_up(agent->rnics[i]))
		prober_choose_flows(
		    rnic_prober(agent->rnics[i]), choose_flows, &chooser);
}

static void
choose_flows_again(struct host_agent *agent)
{
	uint64_t path_ids = tracer_path_changes(tracer_io_tracer(agent->io));

	if (path_ids == agent->paths_chosen)
		return;
	agent->paths_chosen = path_ids;
	for (size_t i = 0; i < agent->rnic_count; i++)
		choose_of_rnic(agent, i);
}

/* ---- the flows to trace -------------------------------------------------------- */

void
agent_trace_plan(
    struct host_agent *agent, const struct rnic *rnic, const struct pinglist_sum *sum)
{
	uint64_t to = 0;
	int r;

	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		if (agent_serves(i, rnic))
			to |= UINT64_C(1) << i;
	}
	r = tracer_io_set(agent->io, rnic_index(agent, rnic), sum, rnic_facts(rnic),
	    prober_port(rnic_prober(rnic)), to);
	if (r < 0)
		rm_log_warn(r, "%s: cannot trace all flows", rnic_device(rnic));
	choose_of_rnic(agent, rnic_index(agent, rnic));
}

void
agent_trace_result(
    struct host_agent *agent, const struct rnic *rnic, const struct wire_result *result)
{
	if (result->kind != WIRE_TOR_MESH && result->kind != WIRE_TOR_REFLECTOR)
		tracer_io_result(agent->io, rnic_index(agent, rnic), result);
}

static void
report(struct host_agent *agent, unsigned i)
{
	struct tracer *tracer = tracer_io_tracer(agent->io);
	struct wire_path paths[PATHS_PER_FRAME];
	rm_mono_t now = rm_mono_now();
	size_t count;

	while ((count = tracer_report(tracer, i, now, paths, PATHS_PER_FRAME)) > 0) {
		if (aggregator_link_paths(
			agent->aggregator_links[i], paths, count, now) == 0)
			continue;
		/* The link is full or closed: the next report has all paths. */
		tracer_report_all(tracer, i);
		return;
	}
}

void
agent_report_paths(void *arg)
{
	struct host_agent *agent = arg;

	choose_flows_again(agent);
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		if (aggregator_link_has_session(agent->aggregator_links[i]))
			report(agent, (unsigned)i);
	}
	rm_timer_after(agent->report, REPORT_INTERVAL_NS);
}
