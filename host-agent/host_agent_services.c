/* Decides when events of QPs, requests to aggregators, and turns of service flows are
 * handled. */
#include "host-agent/host_agent_services.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/host_agent_state.h"
#include "host-agent/kubernetes/kubelet.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/probe/port.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/services/cgroup_name.h"
#include "host-agent/services/process_name.h"
#include "host-agent/services/qp_list.h"
#include "host-agent/trace/tracer_io.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define NAMES_PER_JOB 32

struct name_job {
	struct {
		uint32_t pid;
		bool elsewhere;
		uint64_t cgroup_id;
		struct process_name name;
	} items[NAMES_PER_JOB];
	size_t count;
	bool busy;
};

struct list_job {
	struct qp_list list;
	rm_mono_t asked;
	rm_mono_t rest; /* earliest time of the next list */
	bool busy;
	bool wanted; /* another list is needed as soon as `rest` allows */
};

struct agent_services {
	struct host_agent *agent;
	struct services *services;
	/* NULL until there is an RNIC whose services can be followed. */
	struct qp_tracer *hooks;
	struct kubelet *kubelet; /* NULL: no kubelet is asked */
	struct agent_pods pods;
	size_t kubelet_failed; /* number of failed readings in a row */
	struct rm_timer *turn;
	bool soon; /* the timer is set for a turn that a change needs */
	rm_mono_t turned;
	int64_t turn_ns; /* time that the last turn took, in ns */

	struct name_job names;
	struct list_job list;
	rm_mono_t list_at; /* time of the next regular list */
	uint64_t dropped;  /* number of lost events when the last list was requested */

	struct wire_service_flow *flows; /* scratch memory, SERVICES_MAX_FLOWS each */
	struct wire_service_flow *served;
	struct wire_target *targets; /* scratch */
	uint16_t (*ports)[WIRE_MAX_FLOWS];
	bool news; /* there is a change that was not reported yet */
	/* One bit for each aggregator link whose peer has no service flows yet. */
	uint64_t without_flows;
	rm_mono_t reported_at;

	struct agent_services_counts counts;
};

#define AGENT_SERVICES_MAX_TARGETS 1024 /* for one RNIC */

/* ---- blocking calls: names of processes, lists of QPs ---- */

/* Blocking calls run on the worker, one of each kind at a time. To make a list of QPs,
 * the kernel asks the firmware about every QP. So lists are requested seldom while
 * events come. */
#define LIST_WITH_EVENTS_NS (600 * RM_NS_PER_S)
#define LIST_WITHOUT_EVENTS_NS (60 * RM_NS_PER_S)
#define LIST_APART_NS (5 * RM_NS_PER_S)
#define LIST_SHARE 10 /* lists may take 1 / LIST_SHARE of the worker's time */

static void agent_services_turn_soon(struct agent_services *own);

static int
names_run(void *arg)
{
	struct name_job *job = arg;

	for (size_t i = 0; i < job->count; i++)
		process_name_read("", job->items[i].elsewhere ? 0 : job->items[i].pid,
		    job->items[i].cgroup_id, &job->items[i].name);
	return 0;
}

static void
names_done(void *arg, int r)
{
	struct agent_services *own =
	    (struct agent_services *)((char *)arg -
				      offsetof(struct agent_services, names));

	own->names.busy = false;
	if (r < 0)
		return;
	for (size_t i = 0; i < own->names.count; i++) {
		const char *uid = cgroup_name_uid(own->names.items[i].name.service);

		services_named(own->services, own->names.items[i].pid,
		    own->names.items[i].elsewhere, &own->names.items[i].name);
		if (uid != NULL)
			kubelet_want(own->kubelet, uid);
	}
	own->counts.names += own->names.count;
	own->news |= own->names.count > 0;
	if (own->names.count == NAMES_PER_JOB)
		agent_services_turn_soon(own);
}

static void
agent_services_name(struct agent_services *own)
{
	struct name_job *job = &own->names;
	struct services_process process;

	if (job->busy)
		return;
	for (job->count = 0; job->count < NAMES_PER_JOB &&
			     services_next_process(own->services, &process);
	     job->count++) {
		job->items[job->count].pid = process.pid;
		job->items[job->count].elsewhere = process.elsewhere;
		job->items[job->count].cgroup_id = process.cgroup_id;
		snprintf(job->items[job->count].name.comm,
		    sizeof(job->items[0].name.comm), "%s", process.comm);
	}
	if (job->count == 0)
		return;
	/* If the worker is full, the processes keep the names of their commands. */
	job->busy =
	    rm_worker_submit(own->agent->worker, names_run, names_done, job) == 0;
}

static int
list_run(void *arg)
{
	struct list_job *job = arg;

	return qp_list_read(&job->list);
}

static void
list_done(void *arg, int r)
{
	struct agent_services *own =
	    (struct agent_services *)((char *)arg -
				      offsetof(struct agent_services, list));
	struct list_job *job = &own->list;

	rm_mono_t now = rm_mono_now();

	job->busy = false;
	job->rest = rm_mono_add(
	    now, LIST_APART_NS + rm_mono_since(now, job->asked) * LIST_SHARE);
	if (r < 0) {
		own->counts.lists_failed++;
		/* A kernel without RDMA has no QPs to list. */
		if (r != -ECANCELED && r != -EPROTONOSUPPORT)
			rm_log_warn(r, "cannot list the QPs of this host");
		return;
	}
	own->counts.lists++;
	job->wanted |= services_listed(own->services, &job->list, job->asked, now);
	qp_list_clear(&job->list);
	agent_services_turn_soon(own);
}

static void
agent_services_list(struct agent_services *own, rm_mono_t now)
{
	bool attached = qp_tracer_is_attached(own->hooks);
	uint64_t dropped = qp_tracer_counts(own->hooks).dropped;
	struct list_job *job = &own->list;

	if (job->busy)
		return;
	if (!job->wanted && dropped == own->dropped &&
	    rm_mono_since(now, own->list_at) < 0)
		return;
	if (job->rest.ns != 0 && rm_mono_since(now, job->rest) < 0)
		return; /* the names follow in a later turn */
	own->dropped = dropped;
	own->list_at =
	    rm_mono_add(now, attached ? LIST_WITH_EVENTS_NS : LIST_WITHOUT_EVENTS_NS);
	job->asked = now;
	job->wanted = false;
	job->busy = rm_worker_submit(own->agent->worker, list_run, list_done, job) == 0;
}

/* ---- results: targets of probers and of the tracer, reports to aggregators ---- */

#define REPORT_APART_NS RM_NS_PER_S
#define REPORT_AGAIN_NS (10 * RM_NS_PER_S)
#define FIRST_PORT 0xc000

/*
 * Returns the flows to request from the prober. The prober's port may replace the
 * source port of a requested flow. So this function searches, for each real source
 * port, a flow that the port turns into this one. If the port's source ports are
 * unknown, all flows are the same.
 */
static size_t
wanted_flows(const struct rnic *rnic, const struct wire_target *target,
    uint16_t ret[WIRE_MAX_FLOWS])
{
	const struct port *port = prober_port(rnic_prober(rnic));
	size_t count = 0;

	for (size_t i = 0; i < target->flow_count; i++) {
		uint16_t wanted = target->flows[i];

		for (uint16_t k = 0; k < SERVICES_MAX_PORTS &&
				     port_flow(port, wanted) != target->flows[i];
		     k++)
			wanted = (uint16_t)(FIRST_PORT + k);
		ret[count++] = wanted;
	}
	return count;
}

static int
append(struct agent_services *own, struct pinglist_sum *sum, size_t at, size_t count)
{
	struct wire_target *grown;

	sum->target_count = at;
	if (count == 0)
		return 0;
	grown = realloc(sum->targets, (at + count) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + at, own->targets, count * sizeof(*grown));
	sum->targets = grown;
	sum->target_count = at + count;
	return 0;
}

static size_t
index_of(const struct host_agent *agent, const struct rnic *rnic)
{
	size_t i = 0;

	while (agent->rnics[i] != rnic)
		i++;
	return i;
}

int
agent_services_add_probes(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count)
{
	size_t added;

	if (own == NULL)
		return 0;
	added = services_probes(own->services, index_of(own->agent, rnic), own->targets,
	    AGENT_SERVICES_MAX_TARGETS);
	for (size_t i = 0; i < added; i++) {
		own->targets[i].flow_count =
		    wanted_flows(rnic, &own->targets[i], own->ports[i]);
		own->targets[i].flows = own->ports[i];
	}
	return append(own, sum, count, added);
}

int
agent_services_add_traces(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count)
{
	if (own == NULL)
		return 0;
	return append(own, sum, count,
	    services_traces(own->services, index_of(own->agent, rnic), own->targets,
		AGENT_SERVICES_MAX_TARGETS));
}

int
agent_services_add_peers(
    struct agent_services *own, const struct rnic *rnic, struct pinglist_sum *sum)
{
	size_t count = sum->peer_count, room = WIRE_MAX_ROSTER - count;
	struct wire_peer *grown;

	if (own == NULL || count >= WIRE_MAX_ROSTER)
		return 0;
	if (room > SERVICES_MAX_PEERS)
		room = SERVICES_MAX_PEERS;
	grown = realloc(sum->peers, (count + room) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	sum->peers = grown;
	sum->peer_count += services_peers(
	    own->services, index_of(own->agent, rnic), grown + count, room);
	return 0;
}

/* ---- reports ---- */

/* True: this aggregator serves the RNIC src. */
static bool
is_served(const struct host_agent *agent, size_t aggregator, struct wire_rnic_id src)
{
	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct rnic_facts *facts = rnic_facts(agent->rnics[i]);

		if (facts != NULL && facts->id.guid == src.guid &&
		    facts->id.port == src.port)
			return agent_serves(aggregator, agent->rnics[i]);
	}
	return false;
}

/* "": the service is not a pod, or the kubelet did not report the pod. */
static const char *
pod_of(const struct agent_services *own, const char *service)
{
	const char *uid = cgroup_name_uid(service);
	const struct pod *pod = uid == NULL ? NULL : kubelet_pod(own->kubelet, uid);

	return pod == NULL ? "" : pod->full_name;
}

static int
report_one(struct agent_services *own, size_t aggregator, size_t count, rm_mono_t now)
{
	struct host_agent *agent = own->agent;
	struct wire_services report = { .tracing = qp_tracer_is_attached(own->hooks),
		.missing = qp_tracer_missing(own->hooks),
		.events_dropped = qp_tracer_counts(own->hooks).dropped,
		.flows = own->served };

	for (size_t i = 0; i < agent->rnic_count; i++)
		if (agent_serves(aggregator, agent->rnics[i]))
			report.unresolved += services_unjoinable(own->services, i);
	for (size_t i = 0; i < count; i++) {
		const struct wire_service_flow *flow = &own->flows[i];

		if (!is_served(agent, aggregator, flow->src))
			continue;
		if (flow->state == WIRE_SERVICE_UNRESOLVED ||
		    !services_is_reported(flow))
			report.unresolved += flow->qps;
		if (!services_is_reported(flow))
			continue;
		report.over_cap += flow->state == WIRE_SERVICE_WAITING;
		own->served[report.flow_count] = *flow;
		own->served[report.flow_count++].pod = pod_of(own, flow->service);
	}
	return aggregator_link_services(
	    agent->aggregator_links[aggregator], &report, now);
}

/* Sends a report if there is something to report. */
static void
agent_services_report(struct agent_services *own, rm_mono_t now)
{
	struct host_agent *agent = own->agent;
	int64_t since = rm_mono_since(now, own->reported_at);
	bool all = since >= (own->news ? REPORT_APART_NS : REPORT_AGAIN_NS);
	size_t count;

	if (!all && own->without_flows == 0)
		return;
	count = services_flows(own->services, own->flows, SERVICES_MAX_FLOWS);
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (!aggregator_link_has_session(agent->aggregator_links[i]) ||
		    (!all && (own->without_flows & bit) == 0))
			continue;
		own->without_flows &= ~bit;
		if (report_one(own, i, count, now) < 0)
			/* The link is full: a later turn sends the report. */
			own->without_flows |= bit;
		else
			own->counts.reports++;
	}
	if (!all)
		return;
	own->news = false;
	own->reported_at = now;
}

#define TURN_NS (500 * RM_NS_PER_MS)
/* Time between a change and the turn that handles it; and the shortest time between two
 * turns, since a job may connect thousands of QPs at once. */
#define NEWS_NS (10 * RM_NS_PER_MS)
#define TURNS_APART_NS (100 * RM_NS_PER_MS)
#define TURN_SHARE 10 /* turns may take 1 / TURN_SHARE of the loop's time */
#define ASKS_PER_TURN 32

static struct services_options
options_of(const struct agent_config *config)
{
	return (struct services_options){
		.max_probed = config->services_max_flows,
		.interval_us = (uint32_t)config->services_interval_ms * 1000,
		.turn_ns = (int64_t)config->services_rotation_s * RM_NS_PER_S,
		.random_seed = rm_random_u64(),
		.pids_elsewhere = !process_name_sees_events_pids(""),
	};
}

static void
agent_services_turn_soon(struct agent_services *own)
{
	rm_mono_t now = rm_mono_now();
	rm_mono_t at =
	    rm_mono_add(own->turned, TURNS_APART_NS + own->turn_ns * TURN_SHARE);

	if (own->soon || own->hooks == NULL)
		return;
	own->soon = true;
	if (rm_mono_since(at, now) < NEWS_NS)
		at = rm_mono_add(now, NEWS_NS);
	rm_timer_at(own->turn, at);
}

static void
on_event(const struct qp_event *event, void *arg)
{
	struct agent_services *own = arg;

	/* services_event counts refused events. */
	if (services_event(own->services, event, rm_mono_now()) == 0)
		agent_services_turn_soon(own);
}

/* Requests a list of QPs. It is called when events begin to come, because the list
 * shows older QPs, and when tracing has failed, because then only the list shows QPs.
 */
static void
on_state(void *arg)
{
	struct agent_services *own = arg;

	own->list.wanted = own->news = true;
	agent_services_turn_soon(own);
}

/* ---- requests to aggregators ---- */

static struct aggregator_link *
aggregator_link_for(const struct host_agent *agent, size_t rnic)
{
	for (size_t i = 0; i < agent->aggregator_link_count; i++)
		if (aggregator_link_has_session(agent->aggregator_links[i]) &&
		    agent_serves(i, agent->rnics[rnic]))
			return agent->aggregator_links[i];
	return NULL;
}

static int
send_ask(struct agent_services *own, const struct services_ask *ask)
{
	const struct rnic *rnic = own->agent->rnics[ask->owner];
	struct aggregator_link *aggregator_link =
	    aggregator_link_for(own->agent, ask->owner);

	if (aggregator_link == NULL)
		return -ENOTCONN;
	if (ask->join)
		return aggregator_link_join(
		    aggregator_link, &(struct wire_join){ .token = ask->token,
					 .rnic = rnic_facts(rnic)->id,
					 .qpn = ask->qpn,
					 .dst_qpn = ask->dst_qpn,
					 .qp_type = ask->qp_type });
	return aggregator_link_resolve(
	    aggregator_link, &(struct wire_resolve){ .token = ask->token,
				 .address = ask->address,
				 .prober = rnic_facts(rnic)->id });
}

static void
ask_all(struct agent_services *own, rm_mono_t now)
{
	struct services_ask asks[ASKS_PER_TURN];
	bool anybody = false;
	size_t count;

	for (size_t i = 0; i < own->agent->aggregator_link_count; i++)
		anybody |= aggregator_link_has_session(own->agent->aggregator_links[i]);
	if (!anybody)
		/* Nothing can be sent now, and services_asks would postpone the next
		 * attempt. */
		return;
	count = services_asks(own->services, now, asks, ASKS_PER_TURN);
	for (size_t i = 0; i < count; i++)
		own->counts.unsent += send_ask(own, &asks[i]) < 0;
	if (count == ASKS_PER_TURN) /* the other requests follow at the next turn */
		agent_services_turn_soon(own);
}

void
agent_services_answer(
    struct agent_services *own, const struct wire_resolve_answer *answer)
{
	if (own == NULL)
		return;
	services_answer(own->services, answer->token,
	    answer->found ? &answer->rnic : NULL, rm_mono_now());
	agent_services_turn_soon(own);
}

void
agent_services_result(
    struct agent_services *own, const struct wire_result *result, rm_mono_t now)
{
	if (own != NULL && result->outcome == WIRE_NO_REPLY)
		services_lost(own->services,
		    (struct wire_rnic_id){ result->dst_guid, result->dst_port_num },
		    now);
}

/* ---- functions that the timers call ---- */

static uint64_t
path_of(size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg)
{
	const struct host_agent *agent = arg;

	if (rnic_flows(agent->rnics[owner]) == PORT_FLOWS_UNKNOWN)
		return 0;
	return tracer_path_id(tracer_io_tracer(agent->io), owner, dst, src_port);
}

static void
on_turn(void *arg)
{
	struct agent_services *own = arg;
	struct host_agent *agent = own->agent;
	rm_mono_t now = rm_mono_now();
	uint64_t changed;

	own->soon = false;
	own->turned = now;
	rm_timer_after(own->turn, TURN_NS);
	agent_services_list(own, now);
	agent_services_name(own);
	ask_all(own, now);
	own->news |= services_news(own->services);
	changed = services_turn(own->services, path_of, agent, now);
	own->news |= changed != 0;
	for (size_t i = 0; i < agent->rnic_count; i++)
		if ((changed >> i & 1) != 0)
			agent_plan_rnic(agent, agent->rnics[i]);
	agent_services_report(own, now);
	own->counts.table = services_counts(own->services);
	own->counts.hooks = qp_tracer_counts(own->hooks);
	own->counts.attached = qp_tracer_is_attached(own->hooks);
	own->turn_ns = rm_mono_since(rm_mono_now(), now);
}

/* Fills in the source ports that the RNIC's probes can have, and returns their number;
 * 0: any port. */
static size_t
ports_of(const struct rnic *rnic, uint16_t ret[SERVICES_MAX_PORTS])
{
	const struct port *port = prober_port(rnic_prober(rnic));
	struct port_verbs_facts facts;
	size_t count = 0;

	if (port_flows(port) == PORT_FLOWS_LABEL)
		return 0; /* any source port */
	if (!rnic_verbs(rnic, &facts))
		return 0;
	for (; count < facts.flow_count && count < SERVICES_MAX_PORTS; count++)
		ret[count] = port_flow(port, (uint16_t)(FIRST_PORT + count));
	if (port_flows(port) == PORT_FLOWS_UNKNOWN)
		/* The driver uses one source port, which is not known: this value is
		 * used instead of it. */
		ret[0] = FIRST_PORT;
	return count;
}

/* Starts the hooks with the first RNIC that has QPs: hosts without such an RNIC have
 * nothing to follow. */
static int
begin(struct agent_services *own)
{
	static const struct qp_tracer_callbacks callbacks = { on_event, on_state };
	const struct qp_tracer_options options = {
		.method = (enum qp_hooks_method)own->agent->config.services_hooks
	};

	if (own->hooks != NULL)
		return 0;
	return qp_tracer_new(own->agent->loop, own->agent->worker, &options, &callbacks,
	    own, &own->hooks);
}

void
agent_services_rnic(struct agent_services *own, const struct rnic *rnic)
{
	const struct rnic_facts *facts = rnic_facts(rnic);
	struct port_verbs_facts verbs;
	uint16_t ports[SERVICES_MAX_PORTS];
	struct services_rnic reported;
	size_t owner = 0;
	int r;

	if (own == NULL || !rnic_up(rnic) || !rnic_verbs(rnic, &verbs))
		return; /* over UDP, it is not known which RDMA device belongs to the
			   RNIC */
	r = begin(own);
	if (r < 0) {
		rm_log_warn(r, "cannot follow service flows");
		return;
	}
	while (own->agent->rnics[owner] != rnic)
		owner++;
	reported = (struct services_rnic){ .id = facts->id,
		.device = facts->rdma_device,
		.port = facts->id.port,
		.verbs = true,
		.tor_count = rnic_tor_count(rnic),
		.addresses = facts->addresses,
		.address_count = facts->address_count,
		.ports = ports,
		.port_count = ports_of(rnic, ports),
		.large_bytes = verbs.mtu_bytes };
	for (size_t i = 0; i < reported.tor_count; i++)
		reported.tors[i] = rnic_tor(rnic, i);
	own->list.wanted |= services_set_rnic(own->services, owner, &reported);
	agent_services_turn_soon(own);
}

void
agent_services_report_all(struct agent_services *own, size_t aggregator)
{
	if (own == NULL)
		return;
	own->without_flows |= UINT64_C(1) << aggregator;
	agent_services_turn_soon(own);
}

/* ---- the names of pods ---- */

#define PODS_APART_NS (10 * RM_NS_PER_S)
#define PODS_NEWS_NS (60 * RM_NS_PER_S)

static void
on_pods(int r, const char *reason, bool news, void *arg)
{
	struct agent_services *own = arg;
	const char *kubelet = own->agent->config.kubernetes_kubelet;

	own->kubelet_failed += r < 0;
	if (r < 0 && news)
		rm_log_warn(0,
		    "kubelet: cannot read its pods at %s: %s; the last names stay in "
		    "use, the agent tries again",
		    kubelet, reason);
	if (r < 0)
		return;
	own->news = true; /* the report may name pods now */
	if (news)
		rm_log_info("kubelet: pods read: %zu, after %zu readings that failed",
		    kubelet_pods(own->kubelet), own->kubelet_failed);
	own->kubelet_failed = 0;
}

static int
ask_kubelet(struct agent_services *own)
{
	const struct agent_config *config = &own->agent->config;
	const struct kubelet_options options = {
		.loop = own->agent->loop,
		.worker = own->agent->worker,
		.url = config->kubernetes_kubelet,
		.origin = &config->kubernetes_origin,
		.interval_ns = (int64_t)config->kubernetes_interval_s * RM_NS_PER_S,
		.apart_ns = PODS_APART_NS,
		.news_ns = PODS_NEWS_NS,
		.done = on_pods,
		.arg = own,
	};
	int r = 0;

	if (config->kubernetes_kubelet[0] != '\0')
		r = kubelet_new(&options, &own->kubelet);
	own->pods = (struct agent_pods){ own->services, own->kubelet };
	return r;
}

/* ---- creation and end ---- */

void
agent_services_tune(struct agent_services *own)
{
	struct services_options options;

	if (own == NULL)
		return;
	options = options_of(&own->agent->config);
	services_tune(own->services, &options);
	agent_services_turn_soon(own);
}

int
agent_services_new(struct host_agent *agent, struct agent_services **ret)
{
	const struct services_options options = options_of(&agent->config);
	struct agent_services *own;
	int r = -ENOMEM;

	*ret = NULL;
	if (!agent->config.services_enabled)
		return 0;
	own = calloc(1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	if (options.pids_elsewhere)
		rm_log_warn(0,
		    "services: process ids not used: the agent is in a pid namespace "
		    "of its own, processes are named by cgroup and command alone; run "
		    "the agent in the host's namespace (hostPID: true)");
	own->agent = agent;
	own->flows = calloc(SERVICES_MAX_FLOWS, sizeof(*own->flows));
	own->served = calloc(SERVICES_MAX_FLOWS, sizeof(*own->served));
	own->targets = calloc(AGENT_SERVICES_MAX_TARGETS, sizeof(*own->targets));
	own->ports = calloc(AGENT_SERVICES_MAX_TARGETS, sizeof(*own->ports));
	if (own->flows != NULL && own->served != NULL && own->targets != NULL &&
	    own->ports != NULL)
		r = services_new(&options, &own->services);
	if (r == 0)
		r = rm_timer_new(agent->loop, on_turn, own, &own->turn);
	if (r == 0)
		r = ask_kubelet(own);
	if (r < 0) {
		kubelet_free(own->kubelet);
		agent_services_free(own);
		return r;
	}
	*ret = own;
	return 0;
}

void
agent_services_stop(struct agent_services *own)
{
	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	own->turn = NULL;
	kubelet_free(own->kubelet);
	own->kubelet = NULL;
	own->pods.kubelet = NULL;
	own->soon = true; /* the timer has stopped, so no turn is pending */
}

void
agent_services_free(struct agent_services *own)
{
	if (own == NULL)
		return;
	rm_timer_free(own->turn);
	qp_tracer_free(own->hooks);
	services_free(own->services);
	qp_list_clear(&own->list.list);
	free(own->flows);
	free(own->served);
	free(own->targets);
	free(own->ports);
	free(own);
}

const struct services *
agent_services_table(const struct agent_services *own)
{
	return own->services;
}

const struct agent_pods *
agent_services_pods(const struct agent_services *own)
{
	return &own->pods;
}

const struct qp_tracer *
agent_services_hooks(const struct agent_services *own)
{
	return own->hooks;
}

const struct agent_services_counts *
agent_services_counts(const struct agent_services *own)
{
	return &own->counts;
}
