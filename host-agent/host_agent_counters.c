#include "host-agent/host_agent_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host-agent/counters/counter_kernel.h"
#include "host-agent/counters/counters.h"
#include "host-agent/host_agent_state.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

struct agent_counters {
	struct host_agent *agent;
	struct counters *counters;
	struct rm_timer *turn;
	rm_mono_t due;
};

static struct counter_port_place
place_of(const struct rnic *rnic)
{
	const struct rnic_facts *facts = rnic_facts(rnic);
	struct counter_port_place place = { 0 };

	if (facts == NULL)
		return place;
	snprintf(place.rdma_device, sizeof(place.rdma_device), "%s",
	    facts->transport == RNIC_ROCE ? facts->rdma_device : "");
	snprintf(place.netdev, sizeof(place.netdev), "%s", facts->netdev);
	snprintf(place.driver, sizeof(place.driver), "%s", facts->driver);
	place.port = facts->id.port;
	return place;
}

static void
on_turn(void *arg)
{
	struct agent_counters *own = arg;
	const struct host_agent *agent = own->agent;
	const int64_t interval_ns =
	    (int64_t)agent->config.counters_interval_ms * RM_NS_PER_MS;
	struct counter_port_place places[WIRE_MAX_HOST_RNICS];
	const rm_mono_t now = rm_mono_now();
	size_t count = 0;

	for (; count < agent->rnic_count; count++)
		places[count] = place_of(agent->rnics[count]);
	counters_read(own->counters, places, count, now);
	own->due = rm_mono_add(own->due, interval_ns);
	if (rm_mono_since(now, own->due) > 0) /* turns that were missed stay so */
		own->due = rm_mono_add(now, interval_ns);
	rm_timer_at(own->turn, own->due);
}

int
agent_counters_new(struct host_agent *agent, struct agent_counters **ret)
{
	struct agent_counters *own;
	int r;

	*ret = NULL;
	if (!agent->config.counters_enabled)
		return 0;
	if (agent->config.netns != NULL) {
		rm_log_info("counters: none are read with netns, whose devices this "
			    "namespace's sysfs does not show");
		return 0;
	}
	own = calloc(1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	own->agent = agent;
	r = counters_new(agent->loop, &counter_kernel, &own->counters);
	if (r == 0)
		r = rm_timer_new(agent->loop, on_turn, own, &own->turn);
	if (r < 0) {
		agent_counters_free(own);
		return r;
	}
	own->due = rm_mono_now();
	rm_timer_at(own->turn, own->due);
	*ret = own;
	return 0;
}

void
agent_counters_free(struct agent_counters *own)
{
	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	counters_free(own->counters);
	free(own);
}

const struct counters *
agent_counters_table(const struct agent_counters *own)
{
	return own == NULL ? NULL : own->counters;
}
