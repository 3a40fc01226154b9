#include "host-agent/host_agent_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/counter_report.h"
#include "host-agent/counters/counter_settings.h"
#include "host-agent/counters/counters.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/namespaces/namespace_ports.h"
#include "host-agent/report/aggregator_link.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

struct reported { /* settings of one RNIC, as they were sent last */
	struct wire_settings settings; /* its firmware points to the next member */
	char firmware[COUNTER_FIRMWARE_BYTES];
};

/* Time from the start of a reading to the report. An RNIC whose reading takes longer is
 * reported when the next reading begins. */
#define REPORT_AFTER_NS (300 * RM_NS_PER_MS)

/* The longest time that the end of the agent waits for a running search of
 * namespaces. */
#define SEARCH_STOP_NS (2 * RM_NS_PER_S)

struct agent_counters {
	struct host_agent *agent;
	struct counters *counters;
	struct rm_timer *turn, *report;
	rm_mono_t due, rest_due, optics_due;
	/* CAP_NET_ADMIN for optical modules is missing, and that was logged */
	bool optics_refused;
	struct {
		/* this module has a worker of its own, because a driver may hang */
		struct rm_worker *worker;
		/* refused: the right to enter namespaces is missing, and that was
		 * logged */
		bool busy, refused;
		rm_mono_t due;
		struct namespace_ports shown,
		    /* the ports that were found; while busy is true, the worker owns
		       them */
		    found;
	} namespaces;
	struct reported
	    reported[WIRE_MAX_HOST_RNICS]; /* in the order of the agent's RNICs */
	struct reading { /* for each RNIC: the reading that was last reported */
		rm_mono_t at;
		struct wire_counter_value values[COUNTER_REPORT_VALUES];
	} * readings;
	size_t reading_count;
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

/* ---- settings ---- */

static void
set(struct wire_settings *settings, enum wire_setting setting, uint32_t value)
{
	settings->known |= UINT32_C(1) << setting;
	settings->numbers[setting] = value;
}

void
agent_counters_settings(const struct agent_counters *own, const struct rnic *rnic,
    struct wire_settings *ret)
{
	const struct counter_port_place place = place_of(rnic);
	const struct rnic_facts *facts = rnic_facts(rnic);
	struct port_verbs_facts verbs;

	*ret = (struct wire_settings){ .firmware = "" };
	if (facts != NULL && facts->mtu_bytes > 0)
		set(ret, WIRE_SETTING_MTU, facts->mtu_bytes);
	if (rnic_verbs(rnic, &verbs) && verbs.mtu_bytes > 0)
		set(ret, WIRE_SETTING_ROCE_MTU, verbs.mtu_bytes);
	if (own != NULL)
		counter_settings_of(own->counters, &place, ret);
}

/* True: the settings differ from those that were sent before. */
static bool
note_settings(struct reported *reported, const struct wire_settings *now)
{
	if (reported->settings.known == now->known &&
	    memcmp(reported->settings.numbers, now->numbers, sizeof(now->numbers)) ==
		0 &&
	    memcmp(reported->settings.dscps, now->dscps, sizeof(now->dscps)) == 0 &&
	    strcmp(reported->settings.bond_ports, now->bond_ports) == 0 &&
	    strcmp(reported->firmware, now->firmware) == 0)
		return false;
	reported->settings = *now;
	reported->settings.firmware = NULL;
	snprintf(reported->firmware, sizeof(reported->firmware), "%s", now->firmware);
	return true;
}

static void
report_settings(struct agent_counters *own)
{
	struct host_agent *agent = own->agent;
	uint64_t aggregator_links = 0;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct wire_settings now;

		agent_counters_settings(own, agent->rnics[i], &now);
		if (note_settings(&own->reported[i], &now))
			aggregator_links |= rnic_aggregators(agent->rnics[i]);
	}
	agent_register_with(agent, aggregator_links);
}

/* ---- counters ---- */

static bool
has_room(struct agent_counters *own, size_t count)
{
	struct reading *readings;

	if (own->reading_count >= count)
		return true;
	readings = realloc(own->readings, count * sizeof(*readings));
	if (readings == NULL)
		return false;
	for (size_t i = own->reading_count; i < count; i++)
		readings[i].at = (rm_mono_t){ 0 };
	own->readings = readings;
	own->reading_count = count;
	return true;
}

static void
on_report(void *arg)
{
	struct agent_counters *own = arg;
	const struct host_agent *agent = own->agent;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report report = { .rnics = rnics };

	if (!has_room(own, agent->rnic_count))
		return;
	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct counter_port_place place = place_of(agent->rnics[i]);
		struct wire_rnic_counters *rnic = &rnics[report.rnic_count];
		const struct counters_port *port = counter_report_of(
		    own->counters, &place, own->readings[i].values, rnic);

		if (port == NULL || port->at.ns == own->readings[i].at.ns)
			continue;
		own->readings[i].at = port->at;
		rnic->id = rnic_facts(agent->rnics[i])->id;
		report.rnic_count++;
	}
	for (size_t i = 0; report.rnic_count > 0 && i < agent->aggregator_link_count;
	     i++)
		(void)aggregator_link_counter_report(
		    agent->aggregator_links[i], &report);
}

static void
read_optics(struct agent_counters *own, rm_mono_t now)
{
	const uint64_t interval_s = own->agent->config.counters_optics_interval_s;

	if (!own->optics_refused &&
	    counters_counts(own->counters)->optics_refused > 0) {
		own->optics_refused = true;
		rm_log_info("counters: optical modules are not read: that needs "
			    "CAP_NET_ADMIN");
	}
	if (interval_s == 0 || rm_mono_since(now, own->optics_due) < 0)
		return;
	own->optics_due = rm_mono_add(now, (int64_t)interval_s * RM_NS_PER_S);
	counters_read_optics(own->counters);
}

/* True: the next reading has to include all values. Their interval need not be a
 * multiple of interval_ns, the time between two readings: so the reading nearest to the
 * due time includes them. */
static bool
is_rest_due(struct agent_counters *own, int64_t interval_ns, rm_mono_t now)
{
	const int64_t rest_ns =
	    (int64_t)own->agent->config.counters_rest_interval_ms * RM_NS_PER_MS;

	if (rm_mono_since(own->rest_due, now) > interval_ns / 2)
		return false;
	own->rest_due = rm_mono_add(now, rest_ns);
	return true;
}

/* ---- other namespaces ---- */

static int
find_namespaces(void *arg)
{
	struct agent_counters *own = arg;

	return namespace_ports_find(
	    &own->namespaces.found, "", &counter_kernel, counter_kernel_enter);
}

/* After a failed search, no namespace is known. */
static void
on_namespaces(void *arg, int r)
{
	struct agent_counters *own = arg;

	own->namespaces.busy = false;
	if (r == -ECANCELED || !own->agent->config.counters_namespaces)
		return;
	own->namespaces.shown = own->namespaces.found;
	if (own->namespaces.shown.refused > 0 && !own->namespaces.refused) {
		own->namespaces.refused = true;
		rm_log_info("counters: RDMA devices of other network namespaces are "
			    "not read: that needs CAP_SYS_ADMIN");
	}
}

/* One search runs at a time: while a search hangs, no other begins. */
static void
search_namespaces(struct agent_counters *own, rm_mono_t now)
{
	int r = 0;

	if (own->namespaces.busy || rm_mono_since(now, own->namespaces.due) < 0)
		return;
	own->namespaces.due = rm_mono_add(
	    now, (int64_t)own->agent->config.counters_rest_interval_ms * RM_NS_PER_MS);
	if (own->namespaces.worker == NULL)
		r = rm_worker_new(own->agent->loop, 1, &own->namespaces.worker);
	if (r == 0)
		r = rm_worker_submit(
		    own->namespaces.worker, find_namespaces, on_namespaces, own);
	own->namespaces.busy = r == 0;
}

static size_t
add_namespaces(struct agent_counters *own, struct counter_port_place *places,
    size_t count, rm_mono_t now)
{
	const struct agent_config *config = &own->agent->config;

	if (!config->counters_namespaces) {
		own->namespaces.shown = (struct namespace_ports){ 0 };
		return count;
	}
	search_namespaces(own, now);
	for (size_t i = 0; i < own->namespaces.shown.count; i++)
		places[count++] = own->namespaces.shown.ports[i].place;
	return count;
}

static void
on_turn(void *arg)
{
	struct agent_counters *own = arg;
	struct host_agent *agent = own->agent;
	const int64_t interval_ns =
	    (int64_t)agent->config.counters_interval_ms * RM_NS_PER_MS;
	struct counter_port_place places[WIRE_MAX_HOST_RNICS + NAMESPACE_PORTS_MAX];
	const rm_mono_t now = rm_mono_now();
	size_t count = 0;

	/* first reports readings that took long, because new readings would replace
	 * them */
	on_report(own);
	for (; count < agent->rnic_count; count++)
		places[count] = place_of(agent->rnics[count]);
	count = add_namespaces(own, places, count, now);
	report_settings(own); /* sends the settings that the last readings found */
	counters_read_by_process(own->counters, agent->config.counters_by_process);
	counters_read(
	    own->counters, places, count, is_rest_due(own, interval_ns, now), now);
	read_optics(own, now);
	own->due = rm_mono_add(own->due, interval_ns);
	if (rm_mono_since(now, own->due) > 0) /* missed ticks are not repeated */
		own->due = rm_mono_add(now, interval_ns);
	rm_timer_at(own->turn, own->due);
	rm_timer_at(own->report, rm_mono_add(now, REPORT_AFTER_NS));
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
		rm_log_info("counters: not read: with netns set, the sysfs of this "
			    "namespace does not show the devices");
		return 0;
	}
	own = calloc(1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	own->agent = agent;
	r = counters_new(agent->loop, &counter_kernel, &own->counters);
	if (r == 0)
		r = rm_timer_new(agent->loop, on_turn, own, &own->turn);
	if (r == 0)
		r = rm_timer_new(agent->loop, on_report, own, &own->report);
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
	const rm_mono_t until = rm_mono_add(rm_mono_now(), SEARCH_STOP_NS);
	bool searching;
	size_t left;

	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	rm_timer_free(own->report);
	left = counters_free(own->counters);
	searching = rm_worker_free_until(own->namespaces.worker, until) < 0;
	left += searching;
	if (left > 0)
		rm_log_warn(0,
		    "counters: ended while %zu readings hang in a driver or an optical "
		    "module",
		    left);
	free(own->readings);
	if (!searching) /* otherwise the search still writes to own */
		free(own);
}

const struct counters *
agent_counters_table(const struct agent_counters *own)
{
	return own == NULL ? NULL : own->counters;
}

const struct namespace_ports *
agent_counters_namespaces(const struct agent_counters *own)
{
	return own == NULL ? NULL : &own->namespaces.shown;
}
