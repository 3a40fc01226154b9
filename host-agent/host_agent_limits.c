/* How fast this host may probe: what the brake says, and what our own use leaves. */
#include "host-agent/agent_config.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/plans.h"
#include "host-agent/report/self_sample.h"
#include "rackmesh/core/log.h"
#include "schemas/wire/text.h"

#define DAY_NS (24 * 3600 * RM_NS_PER_S)
/* Two beats may come a little closer together than asked for. */
#define SAMPLE_SLACK_NS (100 * RM_NS_PER_MS)
/* Buffers of an RDMA port, about 4 MiB, and what its provider keeps for itself. Slower
 * probing would not give them back. */
#define PORT_MEMORY_BYTES (UINT64_C(6) << 20)

uint32_t
agent_pace(const struct host_agent *agent)
{
	uint32_t braked = agent->brake_now.rate_permille;
	uint32_t pace = braked * agent->limit.permille / 1000;

	return braked > 0 && pace == 0 ? 1 : pace;
}

void
agent_set_pace(struct host_agent *agent)
{
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_brake(agent->rnics[i], agent_pace(agent));
	agent_tune_tracing(agent);
}

/* 0: none. */
static uint64_t
memory_limit(const struct host_agent *agent)
{
	uint64_t bytes = agent->config.limits_memory_mib << 20;
	struct port_verbs_facts facts;

	for (size_t i = 0; bytes != 0 && i < agent->rnic_count; i++)
		bytes += rnic_verbs(agent->rnics[i], &facts) ? PORT_MEMORY_BYTES : 0;
	return bytes;
}

void
agent_tune_limits(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	const struct self_limit_options options = {
		.cpu_percent = config->limits_cpu_percent,
		.memory_bytes = memory_limit(agent),
	};

	self_limit_tune(&agent->limit, &options);
	plans_set_life(agent->plans, (int64_t)config->pinglists_expire_days * DAY_NS);
}

static void
agent_say_slowed(const struct host_agent *agent)
{
	const struct self_limit *limit = &agent->limit;

	if (limit->why == WIRE_SLOW_NOT)
		rm_log_info("probing at full pace again");
	else
		rm_log_warn(0,
		    "holding back, by %s: %u of 1000 probes leave; CPU %.1f %% of a "
		    "core, memory %llu MiB",
		    wire_slow_word(limit->why), (unsigned)limit->permille,
		    limit->cpu_percent,
		    (unsigned long long)(limit->memory_bytes >> 20));
}

void
agent_watch_itself(struct host_agent *agent, rm_mono_t now)
{
	struct self_sample sample;
	uint64_t bytes;
	int r;

	if (agent->limit.sampled && rm_mono_since(now, agent->limit.at) <
					SELF_LIMIT_INTERVAL_NS - SAMPLE_SLACK_NS)
		return;
	r = self_sample_read(&sample);
	if (r < 0) {
		rm_log_warn(r, "cannot tell how much CPU and memory we use");
		return;
	}
	/* What a port that was closed gives back stays with malloc, perhaps. */
	bytes = memory_limit(agent);
	if (bytes > agent->limit.options.memory_bytes)
		agent->limit.options.memory_bytes = bytes;
	if (!self_limit_take(&agent->limit, &sample, now))
		return;
	agent_set_pace(agent);
	agent_say_slowed(agent);
}

/* Is a pinglist of one of its ToRs expired? Only until it has renewed it. */
static bool
uplink_is_expired(const struct host_agent *agent, size_t uplink)
{
	const struct agent_aggregator_config *list = agent->config.aggregators.items;

	for (size_t i = 0; i < plans_tors(agent->plans); i++) {
		const struct pinglist *pinglist = plans_at(agent->plans, i);

		if (pinglist_slow(pinglist) &&
		    agent_aggregator_serves(&list[uplink], pinglist_tor(pinglist)))
			return true;
	}
	return false;
}

void
agent_note_slowed(const struct host_agent *agent, size_t uplink, struct loop_turn *turn)
{
	const uint32_t expired = 1000 / PINGLIST_SLOW_FACTOR;

	turn->slowed_permille = 0;
	turn->slowed_why = agent->limit.why;
	if (agent->limit.permille < 1000)
		turn->slowed_permille = (uint16_t)agent->limit.permille;
	if (plans_slow(agent->plans) == 0 || !uplink_is_expired(agent, uplink))
		return;
	turn->slowed_permille = (uint16_t)(expired * agent->limit.permille / 1000);
	turn->slowed_why = WIRE_SLOW_PLAN;
}

int64_t
agent_behind_ns(const struct host_agent *agent, rm_mono_t now)
{
	int64_t most = 0;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct prober *prober = rnic_prober(agent->rnics[i]);
		int64_t behind = prober == NULL ? 0 : prober_behind_ns(prober, now);

		most = behind > most ? behind : most;
	}
	return most;
}
