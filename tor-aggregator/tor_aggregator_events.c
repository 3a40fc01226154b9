#include "tor-aggregator/tor_aggregator_events.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/loop/worker.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/agents/pinglist_sender.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/analyzer/analyzer_link.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/collector/collector.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/controller_requests.h"
#include "tor-aggregator/drift/drift.h"
#include "tor-aggregator/drift/drift_groups.h"
#include "tor-aggregator/hypervisor/hypervisor_collector.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/plan/plan_store.h"
#include "tor-aggregator/rack/rack_uses.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_impact.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/tor_aggregator.h"
#include "tor-aggregator/tor_aggregator_diagnosis.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/tor_aggregator_versions.h"
#include "tor-aggregator/window/roster.h"

#define TICK_NS (50 * RM_NS_PER_MS)
#define TICKS_PER_S 20
#define PATHS_PER_S 64 /* paths of one rack that are reported to the controller */
/* If a tick is later than this, this process has stalled. Then all sockets are read
 * before a bin is closed. */
#define STALL_NS (300 * RM_NS_PER_MS)
#define HOLD_NS (500 * RM_NS_PER_MS)
/*
 * For this long a member without an agent counts as unknown, from this aggregator's
 * start or from the member's plan; after that its agent counts as down. Whether its
 * host is down, too, is not known.
 */
#define NEW_MEMBER_NS (10 * RM_NS_PER_S)

static enum host_state
host_state(struct tor_rack *rack, const char *host, rm_mono_t now, rm_mono_t start,
    rm_mono_t end, struct host_silence *silence, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	const struct agent *agent = agents_find(aggregator->agents, host);

	if (agent != NULL)
		return agent_health_state(
		    agent->watch, now, start, end, tor_rack_timeout_ns(rack), silence);
	*silence =
	    (struct host_silence){ .ns = rm_mono_since(now, tor_rack_changed(rack)) };
	return silence->ns > NEW_MEMBER_NS ? HOST_AGENT_DOWN : HOST_UNKNOWN;
}

static void
on_summary(struct tor_rack *rack, const struct wire_summary *summary, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	struct wire_port_row ports[WIRE_MAX_PORT_ROWS];
	struct wire_summary full = *summary;
	char uncounted[WIRE_UNCOUNTED_BYTES] = "";

	if (!tor_rack_is_active(rack))
		return; /* the other aggregator sends it */
	if (full.has_state) {
		tor_aggregator_cnps_report(aggregator, rack, &full.state, uncounted);
		full.uncounted = uncounted;
		full.ports = ports;
		full.port_count = tor_aggregator_ports_report(
		    aggregator, rack, ports, WIRE_MAX_PORT_ROWS);
	}
	/* Reports of which services use a part describe the present: an old one is
	 * useless, so it must not use the spool's space. */
	if (!analyzer_link_connected(aggregator->analyzer)) {
		full.uses_known = WIRE_USES_UNKNOWN;
		full.use_count = 0;
	}
	report_spool_summary(aggregator->reports, &full);
}

static void
on_focus(
    struct tor_rack *rack, const char *host, const struct wire_focus *focus, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	pinglist_sender_focus(aggregator->pinglist_sender, host, focus);
}

/* ---- the impact of a fault ---- */

/* A probe along a service's flow is sent four times a second, and its result is judged
 * up to ten seconds later. */
#define SERVICE_LOST_NS (10 * RM_NS_PER_S)

struct part_of {
	const struct roster *roster;
	const struct rm_verdict *verdict;
};

/* True: the part is this RNIC, is "host/device or host/device" with this RNIC, or is
 * the RNIC's host or ToR. */
static bool
holds(const struct part_of *of, const struct roster_rnic *rnic)
{
	const struct rm_verdict *verdict = of->verdict;
	char name[2 * RM_NAME_BYTES];

	switch (verdict->part.type) {
	case RM_PART_RNIC:
		snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
		return rm_part_names(&verdict->part, name);
	case RM_PART_HOST:
		return rm_part_names(&verdict->part, rnic->host);
	case RM_PART_TOR:
		return rnic->index < WINDOW_REMOTE_BASE;
	default:
		return false;
	}
}

static bool
is_on_part(struct wire_rnic_id id, void *arg)
{
	const struct part_of *of = arg;
	const struct rm_rnic_id one = of->verdict->rnic;
	const struct roster_rnic *rnic;

	if (one.guid != 0)
		return id.guid == one.guid && id.port == one.port;
	rnic = roster_find(of->roster, id);
	return rnic != NULL && holds(of, rnic);
}

static bool
is_traced(const struct service_table *services, const struct part_of *of)
{
	const size_t members = roster_members(of->roster),
		     all = members + roster_remotes(of->roster);
	const struct rm_rnic_id one = of->verdict->rnic;
	bool some = false;

	if (one.guid != 0) {
		const struct roster_rnic *rnic = roster_find(
		    of->roster, (struct wire_rnic_id){ one.guid, one.port });

		return rnic != NULL && service_impact_traced(services, rnic->host);
	}

	for (size_t i = 0; i < all; i++) {
		const struct roster_rnic *rnic =
		    i < members ? roster_member(of->roster, i)
				: roster_remote(of->roster, i - members);

		if (!holds(of, rnic))
			continue;
		if (!service_impact_traced(services, rnic->host))
			return false;
		some = true;
	}
	return some;
}

static void
on_impact(struct tor_rack *rack, struct rm_verdict *verdict, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct part_of of = { tor_rack_roster(rack), verdict };
	const struct service_impact impact = {
		.is_on = is_on_part,
		.arg = &of,
		.traced = is_traced(aggregator->services, &of),
		.lost =
		    verdict->part.type == RM_PART_TOR &&
		    rack_uses_lost(tor_rack_uses(rack), rm_mono_now(), SERVICE_LOST_NS),
	};

	service_impact_fill(aggregator->services, &impact, verdict);
	tor_aggregator_counters_report(aggregator, rack, verdict);
}

void
tor_aggregator_rack_callbacks(
    struct tor_aggregator *aggregator, struct tor_rack_callbacks *ret)
{
	*ret = (struct tor_rack_callbacks){
		.host_state = host_state,
		.on_incident = tor_aggregator_on_incident,
		.on_summary = on_summary,
		.on_focus = on_focus,
		.impact = on_impact,
		.arg = aggregator,
	};
}

/* Looks up the RNICs of all agents again, because roster indexes may have changed. */
static void
place_agents(struct tor_aggregator *aggregator)
{
	for (struct agent *agent = agents_first(aggregator->agents); agent != NULL;
	     agent = agent->next)
		agent_place(agent, aggregator->racks, aggregator->rack_count);
	controller_requests_roster(aggregator->controller_requests);
}

/* settings: NULL if the agent is too old to report them. */
static void
compare_settings(struct tor_aggregator *aggregator, size_t t,
    const struct wire_rnic *rnic, const struct wire_settings *settings)
{
	int r = drift_report(
	    aggregator->drifts[t], aggregator->expected, rnic, settings, rm_wall_now());

	if (r < 0 && r != -ENOSPC) /* -ENOSPC is counted */
		rm_log_warn(r, "cannot compare the settings of RNIC %s of host %s",
		    rnic->device, rnic->host);
}

/* Adds the RNIC to the rack of every ToR of this aggregator that it is attached to. */
static void
register_rnic(struct tor_aggregator *aggregator, const struct wire_rnic *rnic,
    const struct wire_settings *settings)
{
	for (size_t i = 0; i < rnic->tor_count; i++)
		for (size_t t = 0; t < aggregator->rack_count; t++) {
			int r;

			if (strcmp(rnic->tors[i], aggregator->tors[t]) != 0)
				continue;
			r = tor_rack_register(
			    aggregator->racks[t], rnic, rm_mono_now());
			if (r < 0)
				rm_log_warn(r,
				    "cannot add RNIC %s of host %s to ToR %s",
				    rnic->device, rnic->host, aggregator->tors[t]);
			else
				compare_settings(aggregator, t, rnic, settings);
		}
}

/* RNICs under the host's former name belong to this host in every rack, even if the
 * plan has the former name. */
static void
rename_rnics(struct tor_aggregator *aggregator, const struct agent *agent)
{
	for (size_t t = 0; t < aggregator->rack_count; t++)
		for (size_t i = 0; i < agent->rnic_count; i++)
			tor_rack_rename(aggregator->racks[t], agent->rnics[i].id,
			    agent->former, agent->host);
}

void
tor_aggregator_on_register(
    struct agent *agent, const struct wire_register_view *view, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	for (size_t t = 0; t < aggregator->rack_count; t++) {
		tor_rack_leave(aggregator->racks[t], agent->host);
		drift_report_again(aggregator->drifts[t], agent->host);
	}
	if (agent->former[0] != 0)
		rename_rnics(aggregator, agent);
	for (size_t i = 0; i < view->reg.rnic_count; i++) {
		struct wire_settings settings;
		struct wire_rnic rnic;
		size_t hint = 0;

		wire_register_rnic(view, i, &rnic);
		if (agent_owns(agent, rnic.id, &hint) != NULL)
			register_rnic(aggregator, &rnic,
			    wire_register_settings(view, i, &settings) ? &settings
								       : NULL);
	}
	for (size_t t = 0; t < aggregator->rack_count; t++)
		tor_rack_replace(aggregator->racks[t], agent->host, rm_mono_now());
	place_agents(aggregator);
	controller_link_registered(aggregator->controller_link, agent);
	rm_log_info("agent %s: registered %zu RNICs", agent->host, agent->rnic_count);
}

void
tor_aggregator_on_gone(struct agent *agent, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	for (size_t t = 0; t < aggregator->rack_count; t++) {
		tor_rack_leave(aggregator->racks[t], agent->host);
		drift_report_again(aggregator->drifts[t], agent->host);
	}
	service_table_gone(aggregator->services, agent->host, rm_mono_now());
}

void
tor_aggregator_on_session(struct agent *agent, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	controller_requests_session(aggregator->controller_requests, agent);
}

void
tor_aggregator_on_resolve(
    struct agent *agent, const struct wire_resolve *resolve, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	controller_requests_resolve(aggregator->controller_requests, agent, resolve);
}

void
tor_aggregator_on_join(struct agent *agent, const struct wire_join *join, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	controller_requests_join(aggregator->controller_requests, agent, join);
}

static int
send_to_analyzer(const struct wire_bytes *bytes, void *arg)
{
	return analyzer_link_send(arg, bytes);
}

int
tor_aggregator_on_drill(const uint8_t *data, size_t len, void *arg)
{
	struct tor_aggregator *aggregator = arg;

	return controller_requests_drill(aggregator->controller_requests, data, len,
	    send_to_analyzer, aggregator->analyzer);
}

void
tor_aggregator_on_plan(size_t tor, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	const struct wire_plan_view *view = plan_store_view(aggregator->plans, tor);
	int r;

	r = tor_rack_plan(aggregator->racks[tor], view, rm_mono_now());
	place_agents(aggregator);
	plan_store_save(aggregator->plans);
	if (r < 0) {
		rm_log_error(r, "cannot take the plan of %s", aggregator->tors[tor]);
		return;
	}
	rm_log_info(
	    "plan %llu of %s: received: %zu members, %zu others, %zu planned pairs",
	    (unsigned long long)view->plan.version, view->plan.tor,
	    view->plan.member_count, view->plan.remote_count, view->plan.entry_count);
}

int
tor_aggregator_load_plans(
    struct tor_aggregator *aggregator, const struct aggregator_config *config)
{
	char *const *paths = config->plans.items;
	int ret = 0;

	for (size_t i = 0; i < config->plans.count; i++) {
		struct rm_error error = { 0 };
		size_t tor;
		int r;

		r = plan_store_load_file(aggregator->plans, paths[i], &tor, &error);
		if (r < 0)
			rm_log_error(0, "%s", error.text);
		if (r > 0)
			tor_aggregator_on_plan(tor, aggregator);
		if (r < 0 && ret == 0)
			ret = r;
	}
	return ret;
}

static void
read_expected_again(struct tor_aggregator *aggregator)
{
	struct drift_groups *fresh;
	int r = drift_groups_new(&aggregator->config->expected, &fresh);

	if (r < 0) {
		rm_log_error(r, "cannot take over the expected settings of RNICs");
		return;
	}
	drift_groups_free(aggregator->expected);
	aggregator->expected = fresh;
	for (size_t t = 0; t < aggregator->rack_count; t++)
		drift_regroup(aggregator->drifts[t], fresh, rm_wall_now());
}

/* The operator may have corrected a key or a password before the reload. */
static void
retry_collectors(struct tor_aggregator *aggregator)
{
	for (size_t i = 0; i < aggregator->read_switch_count; i++)
		switch_collector_retry(aggregator->read_switches[i].collector);
	for (size_t i = 0; i < aggregator->hypervisor_count; i++)
		collector_retry(
		    hypervisor_collector_reading(aggregator->hypervisors[i]));
}

void
tor_aggregator_reload(void *arg)
{
	struct tor_aggregator *aggregator = arg;
	struct aggregator_config *config = aggregator->config;
	int r;

	if (!rm_reload_read(&aggregator->reload, &aggregator_config_type, config,
		rm_wall_now(), NULL, NULL))
		return;
	aggregator->ingest.max_results_per_s = config->max_results_per_s;
	r = tor_aggregator_alert_to(aggregator);
	if (r < 0)
		rm_log_error(
		    r, "cannot use the new receivers of alerts, restart the daemon");
	tor_aggregator_load_plans(aggregator, config); /* an error is logged there */
	read_expected_again(aggregator);
	retry_collectors(aggregator);
}

/* Returns the time up to which all agents of the rack that still report have sent their
 * results. */
static rm_mono_t
everything_through(
    const struct tor_aggregator *aggregator, const struct tor_rack *rack, rm_mono_t now)
{
	int64_t timeout_ns = tor_rack_timeout_ns(rack);
	rm_mono_t least = now;

	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL; agent = agent->next) {
		bool member = false;
		rm_mono_t through;

		for (size_t i = 0; i < agent->rnic_count && !member; i++)
			member = agent->rnics[i].rack == rack;
		if (member &&
		    agent_health_reported(agent->watch, now, timeout_ns, &through) &&
		    through.ns < least.ns)
			least = through;
	}
	return least;
}

static void
notice_stall(struct tor_aggregator *aggregator, rm_mono_t now)
{
	int64_t late_ns = rm_mono_since(now, aggregator->deadline);

	if (late_ns <= STALL_NS)
		return;
	aggregator->stalls++;
	aggregator->stalled_ns += (uint64_t)late_ns;
	/* If the hold after the last stall is not over, this stall extends it. */
	if (now.ns - late_ns >= aggregator->hold_until.ns)
		aggregator->stalls_in_hold_ns = 0;
	aggregator->stalls_in_hold_ns += late_ns;
	aggregator->hold_until = rm_mono_add(now, HOLD_NS);
	for (size_t i = 0; i < aggregator->rack_count; i++)
		tor_rack_stalled(aggregator->racks[i], aggregator->stalls_in_hold_ns,
		    aggregator->hold_until);
	pairs_stalled(aggregator->pairs, late_ns, now);
	controller_link_stalled(aggregator->controller_link, now);
	analyzer_link_stalled(aggregator->analyzer, now);
	rm_log_warn(
	    0, "event loop stalled for %lld ms", (long long)(late_ns / RM_NS_PER_MS));
}

/* Reports paths from traces, for the topology. */
static void
send_paths(struct tor_aggregator *aggregator, rm_mono_t now)
{
	const uint64_t connection =
	    controller_link_counts(aggregator->controller_link)->connected;
	struct wire_path paths[PATHS_PER_S];
	struct wire_bytes bytes;

	if (!controller_link_connected(aggregator->controller_link))
		return;
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		struct tor_rack *rack = aggregator->racks[i];
		struct wire_traced traced = { .tor = aggregator->tors[i],
			.now_ns = (uint64_t)now.ns,
			.paths = paths };

		if (connection != aggregator->controller_link_informed)
			tor_rack_found_paths_again(rack);
		traced.path_count = tor_rack_found_paths(rack, now, paths, PATHS_PER_S);
		if (traced.path_count > 0 &&
		    (wire_write_traced(aggregator->paths_writer, &traced, &bytes) < 0 ||
			controller_link_send(aggregator->controller_link, &bytes) < 0))
			tor_rack_found_paths_again(rack);
	}
	aggregator->controller_link_informed = connection;
}

/* Only connected hosts are included: the state of others is not known. */
static void
look_at_hosts(
    const struct tor_aggregator *aggregator, struct tor_rack *rack, rm_wall_t wall)
{
	const struct roster *roster = tor_rack_roster(rack);
	uint32_t slowed = 0;

	for (size_t i = 0; i < roster_hosts(roster); i++) {
		const struct agent *agent =
		    agents_find(aggregator->agents, roster_host(roster, i));

		slowed +=
		    agent != NULL && agent->link != NULL && agent->slowed_permille != 0;
		tor_rack_certificate(rack, i,
		    agent != NULL ? agent_server_certificate_ends_s(agent, wall) : 0);
	}
	tor_rack_slowed(rack, slowed);
}

/* Returns the worker that is behind most: the watchdog looks at it. */
static const struct rm_worker *
slowest_worker(const struct tor_aggregator *aggregator, rm_mono_t now)
{
	if (aggregator->parser == NULL ||
	    rm_worker_behind_ns(aggregator->parser, now) <=
		rm_worker_behind_ns(aggregator->worker, now))
		return aggregator->worker;
	return aggregator->parser;
}

static void
on_tick(void *arg)
{
	struct tor_aggregator *aggregator = arg;
	rm_mono_t now = rm_mono_now();
	rm_wall_t wall = rm_wall_now();

	notice_stall(aggregator, now);
	agent_server_tick(aggregator->links);
	pairs_tick(aggregator->pairs, now);
	for (size_t i = 0;
	     i < aggregator->rack_count && now.ns >= aggregator->hold_until.ns; i++) {
		struct tor_rack *rack = aggregator->racks[i];

		tor_rack_tick(
		    rack, now, wall, everything_through(aggregator, rack, now));
	}
	tor_aggregator_keep_incidents(aggregator, wall);
	analyzer_link_tick(aggregator->analyzer,
	    controller_link_controller(aggregator->controller_link),
	    controller_link_controller_ends_s(aggregator->controller_link), now);
	controller_link_watch(aggregator->controller_link, now);
	pinglist_sender_tick(aggregator->pinglist_sender, wall);
	tor_aggregator_diagnosis_tick(aggregator, now, wall);
	if (++aggregator->ticks % TICKS_PER_S == 0) {
		controller_requests_tick(aggregator->controller_requests, now);
		tor_aggregator_services_tick(aggregator, now);
		plan_store_save(aggregator->plans);
		send_paths(aggregator, now);
		tor_aggregator_report_versions(aggregator);
		for (size_t i = 0; i < aggregator->rack_count; i++)
			look_at_hosts(aggregator, aggregator->racks[i], wall);
	}
	/* Missed ticks are not repeated. */
	while (aggregator->deadline.ns <= now.ns)
		aggregator->deadline = rm_mono_add(aggregator->deadline, TICK_NS);
	rm_timer_at(aggregator->tick, aggregator->deadline);
	rm_notify_worked(
	    rm_loop_notify(aggregator->loop), slowest_worker(aggregator, now), now);
}

int
tor_aggregator_start_ticking(struct tor_aggregator *aggregator)
{
	int r = rm_timer_new(aggregator->loop, on_tick, aggregator, &aggregator->tick);

	if (r < 0)
		return r;
	aggregator->paths_writer = wire_writer_new();
	if (aggregator->paths_writer == NULL)
		return -ENOMEM;
	aggregator->deadline = rm_mono_add(rm_mono_now(), TICK_NS);
	rm_timer_at(aggregator->tick, aggregator->deadline);
	return 0;
}

/* Interval between two searches for the peers of services. A rack keeps a peer for
 * longer than this. */
#define SERVED_NS (60 * RM_NS_PER_S)
/* The number of peers that the controller is asked for after one report; more follow
 * with the next report. */
#define PEERS_PER_REPORT 16

static bool
owns(struct wire_rnic_id id, void *arg)
{
	size_t hint = 0;

	return agent_owns(arg, id, &hint) != NULL;
}

/* Asks the controller for peers of services that are not known. After a restart of this
 * aggregator that is necessary, because agents continue to probe peers that it does not
 * know any more. */
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
		if (controller_requests_peer(
			aggregator->controller_requests, agent, &flow->peer) < 0)
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
		rm_log_error(
		    r, "cannot take the service flows of host %s", agent->host);
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
