#include "tor-aggregator/api/aggregator_show.h"

#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/core/address.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire/text.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller_requests.h"
#include "tor-aggregator/judge/evidence_samples.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_sums.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

/* services of one rack that are shown: those with the most flows */
#define SERVICES_SHOWN 50

static void
set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	set(object, key, json_integer((json_int_t)value));
}

json_t *
show_id(struct wire_rnic_id id)
{
	char text[RM_RNIC_ID_TEXT];

	rm_rnic_id_format((struct rm_rnic_id){ id.guid, id.port }, text);
	return json_string(text);
}

/* A time as text (RFC 3339); null: never. */
static json_t *
show_time(const struct show_now *now, rm_mono_t t)
{
	char text[RM_WALL_TEXT];

	if (t.ns == 0)
		return json_null();
	rm_wall_format((rm_wall_t){ now->wall.ns - rm_mono_since(now->mono, t) }, text);
	return json_string(text);
}

static json_t *
show_address(const struct wire_address *address)
{
	char text[WIRE_ADDRESS_TEXT];

	wire_address_format(address, text);
	return json_string(text);
}

static bool
connected(const struct tor_aggregator *aggregator, const char *host)
{
	const struct agent *agent = agents_find(aggregator->agents, host);

	return agent != NULL && agent->link != NULL;
}

static size_t
rack_number(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	size_t i = 0;

	while (aggregator->racks[i] != rack)
		i++;
	return i;
}

json_t *
show_rack(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    const struct show_now *now)
{
	const struct roster *roster = tor_rack_roster(rack);
	const struct wire_plan_view *view = tor_rack_plan_view(rack);
	json_t *object = json_object();
	size_t agents = 0;

	for (size_t i = 0; i < roster_hosts(roster); i++)
		agents += connected(aggregator, roster_host(roster, i));
	set(object, "tor", json_string(tor_rack_tor(rack)));
	set(object, "active", json_boolean(tor_rack_is_active(rack)));
	set(object, "peer",
	    pairs_show(aggregator->pairs, rack_number(aggregator, rack), now->mono));
	set_u64(object, "members", roster_members(roster));
	set_u64(object, "remote_rnics", roster_remotes(roster));
	set_u64(object, "hosts", roster_hosts(roster));
	set_u64(object, "agents_connected", agents);
	set_u64(object, "plan_version", view == NULL ? 0 : view->plan.version);
	set(object, "plane",
	    view == NULL ? json_null() : json_string(view->plan.plane));
	set(object, "last_window_end", show_time(now, tor_rack_window_end(rack)));
	set_u64(object, "incidents_open", rm_incidents_open(tor_rack_incidents(rack)));
	set_u64(object, "ring_results", ring_count(tor_rack_ring(rack)));
	set_u64(object, "brake_permille",
	    brake_store_get(controller_requests_brake(aggregator->controller_requests))
		->rate_permille);
	return object;
}

static const char *
health_str(enum rm_health health)
{
	return health == RM_HEALTH_GOOD  ? "good"
	       : health == RM_HEALTH_BAD ? "bad"
					 : "unknown";
}

static json_t *
show_quantiles(const uint32_t values[WIRE_QUANTILES])
{
	json_t *object = json_object();

	set_u64(object, "p50", values[WIRE_P50]);
	set_u64(object, "p95", values[WIRE_P95]);
	set_u64(object, "p99", values[WIRE_P99]);
	set_u64(object, "max", values[WIRE_MAX]);
	return object;
}

json_t *
show_rnic(const struct tor_rack *rack, size_t i)
{
	const struct roster_rnic *rnic = roster_member(tor_rack_roster(rack), i);
	struct tor_rack_member_state state = tor_rack_member(rack, i);
	const struct wire_rnic_row *last =
	    summary_rnic_last(tor_rack_summary(rack), (uint32_t)i);
	json_t *object = json_object(), *addresses = json_array();

	for (size_t a = 0; a < rnic->address_count; a++)
		json_array_append_new(addresses, show_address(&rnic->addresses[a]));
	set(object, "id", show_id(rnic->id));
	set(object, "host", json_string(rnic->host));
	set(object, "device", json_string(rnic->device));
	set(object, "tor", json_string(tor_rack_tor(rack)));
	set(object, "addresses", addresses);
	set_u64(object, "mtu_bytes", rnic->mtu_bytes);
	set(object, "transport", json_string(wire_transport_str(rnic->qpn, rnic->lid)));
	set_u64(object, "qpn", rnic->qpn);
	set_u64(object, "large_qpn", rnic->large_qpn);
	set_u64(object, "lid", rnic->lid);
	set(object, "link", json_string(wire_link_str(rnic->link)));
	set(object, "planned", json_boolean(rnic->planned));
	set(object, "registered", json_boolean(rnic->registered));
	set(object, "health", json_string(health_str(state.health)));
	set_u64(object, "sent", state.sent);
	set_u64(object, "lost", state.lost);
	if (last == NULL)
		return object;
	set(object, "rtt_ns", show_quantiles(last->rtt_ns));
	set(object, "prober_delay_ns", show_quantiles(last->prober_delay_ns));
	set(object, "responder_delay_ns", show_quantiles(last->responder_delay_ns));
	return object;
}

static const char *
host_state_str(enum host_state state)
{
	static const char *const names[] = {
		[HOST_OK] = "ok",
		[HOST_STALLED] = "stalled",
		[HOST_STUTTERED] = "stuttered",
		[HOST_AGENT_DOWN] = "agent-down",
		[HOST_AGENT_FROZEN] = "agent-frozen",
		[HOST_UNREACHABLE] = "unreachable",
		[HOST_RESTARTING] = "restarting",
		[HOST_PAUSED] = "paused",
		[HOST_UNKNOWN] = "unknown",
	};

	return names[state];
}

json_t *
show_host(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    size_t i, const struct show_now *now)
{
	const char *name = roster_host(tor_rack_roster(rack), i);
	const struct agent *agent = agents_find(aggregator->agents, name);
	json_t *object = json_object();
	char peer[RM_ADDRESS_TEXT];
	struct host_silence silence;

	set(object, "host", json_string(name));
	set(object, "tor", json_string(tor_rack_tor(rack)));
	set(object, "state", json_string(host_state_str(tor_rack_host(rack, i))));
	set(object, "connected", json_boolean(connected(aggregator, name)));
	if (agent == NULL)
		return object;
	agent_health_state(agent->watch, now->mono, now->mono, now->mono, 0, &silence);
	set(object, "address",
	    json_string(agent_server_peer(agent, peer, sizeof(peer))));
	set(object, "version",
	    agent->software[0] != '\0' ? json_string(agent->software) : json_null());
	set_u64(object, "rnics", agent->rnic_count);
	set(object, "paused", json_boolean(agent->paused));
	set(object, "slowed",
	    json_string(wire_slow_str(
		agent->slowed_permille == 0 ? WIRE_SLOW_NOT : agent->slowed_reason)));
	set_u64(object, "slowed_permille",
	    agent->slowed_permille == 0 ? 1000 : agent->slowed_permille);
	set_u64(object, "silent_ms", (uint64_t)(silence.ns / RM_NS_PER_MS));
	set_u64(object, "dropped_results", agent->dropped_results);
	return object;
}

struct of_rack {
	const struct tor_aggregator *aggregator;
	const struct tor_rack *rack;
};

static bool
is_of_rack(const char *host, struct wire_rnic_id id, size_t *at, void *arg)
{
	const struct of_rack *of = arg;
	const struct agent *agent = agents_find(of->aggregator->agents, host);
	const struct agent_rnic *own = agent != NULL ? agent_owns(agent, id, at) : NULL;

	return own != NULL && own->rack == of->rack;
}

static json_t *
show_sum(const struct service_sum *sum)
{
	json_t *object = json_object();

	set(object, "service", json_string(sum->service));
	set_u64(object, "hosts", sum->hosts);
	set_u64(object, "rnics", sum->rnics);
	set_u64(object, "flows", sum->flows);
	set_u64(object, "flows_probed", sum->probed);
	set_u64(object, "qps", sum->qps);
	return object;
}

/* Sets the number of hosts of the rack on which services are traced, and why the others
 * do not trace. */
static void
set_tracing(json_t *object, const struct of_rack *of)
{
	const struct roster *roster = tor_rack_roster(of->rack);
	const char *missing = "";
	size_t tracing = 0;

	for (size_t i = 0; i < roster_hosts(roster); i++) {
		const struct service_host *host = service_table_find(
		    of->aggregator->services, roster_host(roster, i));

		if (host != NULL && host->tracing)
			tracing++;
		else if (host != NULL && missing[0] == '\0')
			missing = host->missing;
	}
	set_u64(object, "hosts", roster_hosts(roster));
	set_u64(object, "hosts_tracing", tracing);
	set(object, "missing", json_string(missing));
}

json_t *
show_services(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	struct of_rack of = { aggregator, rack };
	struct service_sum *sums = NULL;
	json_t *object, *list;
	size_t count = 0;

	if (service_sums(aggregator->services, is_of_rack, &of, &sums, &count) < 0)
		return NULL;
	object = json_object();
	list = json_array();
	for (size_t i = 0; i < count && i < SERVICES_SHOWN; i++)
		json_array_append_new(list, show_sum(&sums[i]));
	free(sums);
	set_tracing(object, &of);
	set_u64(object, "service_count", count);
	set(object, "services", list);
	return object;
}

static void
set_end(json_t *object, const char *key, const struct roster *roster,
    struct wire_rnic_id id)
{
	const struct roster_rnic *rnic = roster_find(roster, id);
	char name[2 * RM_NAME_BYTES];

	if (rnic == NULL) {
		set(object, key, show_id(id));
		return;
	}
	snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
	set(object, key, json_string(name));
}

json_t *
show_result(const struct roster *roster, const struct ring_result *result,
    const struct show_now *now)
{
	json_t *object = json_object();

	set(object, "sent", show_time(now, result->sent));
	set_end(object, "from", roster,
	    (struct wire_rnic_id){ result->src_guid, result->src_port_num });
	set_end(object, "to", roster,
	    (struct wire_rnic_id){ result->dst_guid, result->dst_port_num });
	set(object, "outcome", json_string(wire_outcome_str(result->outcome)));
	set(object, "kind", json_string(wire_probe_kind_str(result->kind)));
	set_u64(object, "seq", result->seq);
	set_u64(object, "src_port", result->src_port);
	set_u64(object, "dscp", result->dscp);
	set_u64(object, "size_bytes", result->size_bytes);
	if (result->outcome == WIRE_OK || result->outcome == WIRE_LATE_REPLY)
		set_u64(object, "round_trip_ns", result->round_trip_ns);
	if (result->flags & WIRE_SPLIT) {
		set_u64(object, "rtt_ns", result->rtt_ns);
		set_u64(object, "prober_delay_ns", result->prober_delay_ns);
		set_u64(object, "responder_delay_ns", result->responder_delay_ns);
	}
	if (result->flags & WIRE_ARRIVAL) {
		set_u64(object, "arrived_dscp", result->arrived_dscp);
		set_u64(object, "arrived_ecn", result->arrived_ecn);
		set_u64(object, "arrived_ttl", result->arrived_ttl);
	}
	if (result->late)
		set(object, "late", json_true());
	return object;
}

json_t *
show_path(const struct tor_rack *rack, const struct path_flow *flow,
    const struct show_now *now)
{
	const struct roster *roster = tor_rack_roster(rack);
	const struct roster_rnic *dst = roster_find(roster, flow->dst);
	json_t *object = json_object();

	set_end(object, "from", roster, flow->src);
	set_end(object, "to", roster, flow->dst);
	set(object, "tor", json_string(tor_rack_tor(rack)));
	set(object, "to_tor", dst == NULL ? json_null() : json_string(dst->tor));
	set_u64(object, "src_port", flow->src_port);
	set(object, "planned", json_boolean(flow->planned));
	set(object, "path",
	    flow->traced
		? json_string(path_table_text(tor_rack_paths(rack), flow->path))
		: json_null());
	set(object, "since",
	    flow->traced ? show_time(now, flow->traced_at) : json_null());
	if (flow->traced)
		set_u64(object, "age_ms",
		    (uint64_t)(rm_mono_since(now->mono, flow->traced_at) /
			       RM_NS_PER_MS));
	return object;
}

json_t *
show_target(const struct roster *roster, const struct wire_target *target)
{
	json_t *object = json_object(), *flows = json_array();
	json_t *dscps = json_array(), *sizes = json_array();

	for (size_t i = 0; i < target->flow_count; i++)
		json_array_append_new(flows, json_integer(target->flows[i]));
	for (size_t i = 0; i < target->dscp_count; i++)
		json_array_append_new(dscps, json_integer(target->dscps[i]));
	for (size_t i = 0; i < target->size_count; i++)
		json_array_append_new(sizes, json_integer(target->sizes[i]));
	set_end(object, "from", roster, target->src);
	set_end(object, "to", roster, target->dst);
	set(object, "kind", json_string(wire_probe_kind_str(target->kind)));
	set(object, "address", show_address(&target->address));
	set_u64(object, "qpn", target->dst_qpn);
	set_u64(object, "large_qpn", target->dst_large_qpn);
	set_u64(object, "lid", target->dst_lid);
	set_u64(object, "sl", target->sl);
	set_u64(object, "interval_us", target->interval_us);
	set(object, "flows", flows);
	set(object, "dscps", dscps);
	set(object, "sizes", sizes);
	return object;
}

void
show_sums(json_t *object, const struct show_sum *sums, size_t count, show_add add,
    const void *of)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t sum = 0;
		bool known = false;

		if (json_is_integer(json_object_get(object, sums[i].key)))
			continue;
		for (size_t c = 0; c < 2 && sums[i].counters[c] != NULL; c++)
			known |= add(of, sums[i].counters[c], &sum);
		json_object_set_new(object, sums[i].key,
		    known ? json_integer((json_int_t)sum) : json_null());
	}
}
