#include "tor-aggregator/api/aggregator_api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire/text.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/pinglist_sender.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/api/diagnosis_answer.h"
#include "tor-aggregator/api/drift_answer.h"
#include "tor-aggregator/api/drill.h"
#include "tor-aggregator/api/hypervisor_answer.h"
#include "tor-aggregator/api/mesh_answer.h"
#include "tor-aggregator/api/proof_answer.h"
#include "tor-aggregator/api/switch_answer.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/plan/pinglist_builder.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

struct rm_http_server;
struct tor_aggregator;

#define LIMIT 1000
#define MAX_LIMIT 10000

static bool wanted(const struct rm_http_request *request, const struct tor_rack *rack);

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

static json_t *
show_address(const struct wire_address *address)
{
	struct wire_address bare = *address;
	char text[WIRE_ADDRESS_TEXT];

	bare.port = 0; /* the port does not matter */
	wire_address_format(&bare, text);
	return json_string(text);
}

/* Returns "host/device" of an RNIC if it is known, else the RNIC's id. */
static json_t *
show_name(const struct tor_rack *rack, struct wire_rnic_id id)
{
	const struct roster_rnic *rnic =
	    rack == NULL ? NULL : roster_find(tor_rack_roster(rack), id);
	char name[2 * RM_NAME_BYTES];

	if (rnic == NULL)
		return show_id(id);
	snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
	return json_string(name);
}

static json_t *
show_direction(
    const struct tor_rack *rack, const struct service_flow *flow, rm_mono_t now)
{
	uint32_t path;

	if (rack == NULL || flow->probe_port == 0 || flow->dst.guid == 0)
		return json_null();
	path = path_table_find(
	    tor_rack_paths(rack), flow->src, flow->dst, flow->probe_port, now);
	return path == PATH_UNTRACED
		   ? json_null()
		   : json_string(path_table_text(tor_rack_paths(rack), path));
}

static json_t *
show_flow(const struct tor_aggregator *aggregator, const struct service_host *host,
    const struct service_flow *flow, rm_mono_t now)
{
	const struct agent *agent = agents_find(aggregator->agents, host->host);
	const struct agent_rnic *own = NULL;
	const struct tor_rack *rack;
	json_t *object = json_object();
	size_t hint = 0;

	if (agent != NULL)
		own = agent_owns(agent, flow->src, &hint);
	rack = own == NULL ? NULL : own->rack;
	set(object, "service", json_string(flow->service));
	set(object, "host", json_string(host->host));
	set(object, "pod", flow->pod[0] == '\0' ? json_null() : json_string(flow->pod));
	set(object, "comm", json_string(flow->comm));
	set_u64(object, "pid", flow->pid);
	set(object, "rnic", show_name(rack, flow->src));
	set(object, "rnic_id", show_id(flow->src));
	set(object, "peer",
	    flow->dst.guid == 0 ? show_address(&flow->peer)
				: show_name(rack, flow->dst));
	set(object, "peer_id", flow->dst.guid == 0 ? json_null() : show_id(flow->dst));
	set(object, "peer_address", show_address(&flow->peer));
	set_u64(object, "src_port", flow->src_port);
	set_u64(object, "dscp", flow->dscp);
	set(object, "qp_type", json_string(wire_qp_type_str(flow->qp_type)));
	set_u64(object, "src_qpn", flow->src_qpn);
	set_u64(object, "dst_qpn", flow->dst_qpn);
	set_u64(object, "qps", flow->qps);
	set(object, "predates_agent", json_boolean(flow->older));
	set(object, "state", json_string(wire_service_state_str(flow->state)));
	set(object, "probe_port",
	    flow->probe_port == 0 ? json_null() : json_integer(flow->probe_port));
	set(object, "path", show_direction(rack, flow, now));
	return object;
}

static json_t *
show_host_services(const struct service_host *host, rm_mono_t now)
{
	json_t *object = json_object();

	set(object, "host", json_string(host->host));
	set(object, "connected", json_boolean(host->gone.ns == 0));
	set(object, "tracing", json_boolean(host->tracing));
	set(object, "missing", json_string(host->missing));
	set_u64(object, "flows", host->flow_count);
	set_u64(object, "unresolved_qps", host->unresolved);
	set_u64(object, "waiting_flows", host->over_cap);
	set_u64(object, "events_dropped", host->events_dropped);
	set_u64(object, "age_ms",
	    (uint64_t)(rm_mono_since(now, host->reported_at) / RM_NS_PER_MS));
	return object;
}

static bool
is_wanted(const char *wanted, const char *name)
{
	return wanted == NULL || strcmp(wanted, name) == 0;
}

static void
get_services(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	const char *only_host = rm_http_query(request, "host");
	const char *only_service = rm_http_query(request, "service");
	uint64_t offset = 0, limit = LIMIT, count = 0;
	const struct service_host *host = NULL;
	rm_mono_t now = rm_mono_now();
	json_t *all, *hosts, *flows;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &offset) ||
	    !rm_http_query_number(request, "limit", 1, MAX_LIMIT, &limit))
		return;
	all = json_object();
	hosts = json_array();
	flows = json_array();
	while ((host = service_table_next(aggregator->services, host)) != NULL) {
		if (!is_wanted(only_host, host->host))
			continue;
		json_array_append_new(hosts, show_host_services(host, now));
		for (size_t i = 0; i < host->flow_count; i++) {
			if (!is_wanted(only_service, host->flows[i].service))
				continue;
			if (count++ >= offset && json_array_size(flows) < limit)
				json_array_append_new(flows,
				    show_flow(aggregator, host, &host->flows[i], now));
		}
	}
	set(all, "flow_count", json_integer((json_int_t)count));
	set(all, "hosts", hosts);
	set(all, "services", flows);
	rm_http_reply_json(request, 200, all);
}

static int
aggregator_api_serve_services(
    struct tor_aggregator *aggregator, struct rm_http_server *server)
{
	return rm_http_route(
	    server, RM_HTTP_READ, "/v1/services", get_services, aggregator);
}

#define PATHS_LIMIT 1000
#define PATHS_MAX_LIMIT 10000

static struct show_now
show_now(void)
{
	return (struct show_now){ rm_mono_now(), rm_wall_now() };
}

static void
reply_list(struct rm_http_request *request, const char *key, json_t *list)
{
	json_t *all = json_object();

	json_object_set_new(all, key, list);
	rm_http_reply_json(request, 200, all);
}

static void
get_racks(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct show_now now = show_now();
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->rack_count; i++)
		json_array_append_new(
		    list, show_rack(aggregator, aggregator->racks[i], &now));
	reply_list(request, "racks", list);
}

/* True: the request asks for this rack. */
static bool
wanted(const struct rm_http_request *request, const struct tor_rack *rack)
{
	const char *tor = rm_http_query(request, "tor");

	return tor == NULL || strcmp(tor, tor_rack_tor(rack)) == 0;
}

static void
get_rnics(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		size_t members = roster_members(tor_rack_roster(rack));

		for (size_t m = 0; wanted(request, rack) && m < members; m++)
			json_array_append_new(list, show_rnic(rack, m));
	}
	reply_list(request, "rnics", list);
}

static void
get_hosts(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	struct show_now now = show_now();
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		size_t hosts = roster_hosts(tor_rack_roster(rack));

		for (size_t h = 0; wanted(request, rack) && h < hosts; h++)
			json_array_append_new(
			    list, show_host(aggregator, rack, h, &now));
	}
	reply_list(request, "hosts", list);
}

static void
get_incidents(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	bool open_only = rm_http_query(request, "open") != NULL;
	json_t *list = json_array();

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		const struct rm_incidents *incidents = tor_rack_incidents(rack);
		const struct rm_incident *incident;

		for (size_t n = 0; wanted(request, rack) &&
				   (incident = rm_incidents_get(incidents, n)) != NULL;
		     n++) {
			json_t *object;

			if (open_only && incident->resolved.ns != 0)
				continue;
			object = rm_incident_json(incident);
			json_object_set_new(
			    object, "tor", json_string(tor_rack_tor(rack)));
			json_array_append_new(list, object);
		}
	}
	reply_list(request, "incidents", list);
}

static void
get_drill(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	uint64_t seconds = DRILL_SECONDS, limit = DRILL_LIMIT;
	json_t *all;
	int status;

	if (!rm_http_query_number(request, "seconds", 1, DRILL_MAX_SECONDS, &seconds) ||
	    !rm_http_query_number(request, "limit", 1, DRILL_MAX_LIMIT, &limit))
		return;
	all = drill_results(
	    aggregator, rm_http_path_rest(request), seconds, limit, &status);
	rm_http_reply_json(request, status, all);
}

/* True: the flow's destination is dst: a ToR, an RNIC's id, or host/device; NULL:
 * any. */
static bool
leads_to(const struct roster *roster, const struct path_flow *flow, const char *dst)
{
	const struct roster_rnic *rnic = roster_find(roster, flow->dst);
	char name[2 * RM_NAME_BYTES], id[RM_RNIC_ID_TEXT];

	if (dst == NULL)
		return true;
	rm_rnic_id_format((struct rm_rnic_id){ flow->dst.guid, flow->dst.port }, id);
	if (strcmp(dst, id) == 0)
		return true;
	if (rnic == NULL)
		return false;
	snprintf(name, sizeof(name), "%s/%s", rnic->host, rnic->device);
	return strcmp(dst, rnic->tor) == 0 || strcmp(dst, name) == 0;
}

static void
get_paths(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	const char *dst = rm_http_query(request, "dst");
	uint64_t offset = 0, limit = PATHS_LIMIT, count = 0;
	struct show_now now = show_now();
	json_t *all, *list;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &offset) ||
	    !rm_http_query_number(request, "limit", 1, PATHS_MAX_LIMIT, &limit))
		return;
	list = json_array();
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		const void *at = NULL;
		struct path_flow flow;

		while (wanted(request, rack) &&
		       path_table_next(tor_rack_paths(rack), &at, &flow)) {
			if (!leads_to(tor_rack_roster(rack), &flow, dst))
				continue;
			if (count++ >= offset && json_array_size(list) < limit)
				json_array_append_new(
				    list, show_path(rack, &flow, &now));
		}
	}
	all = json_object();
	json_object_set_new(all, "flow_count", json_integer((json_int_t)count));
	json_object_set_new(all, "flows", list);
	rm_http_reply_json(request, 200, all);
}

static void
get_pinglist(struct rm_http_request *request, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	const char *text = rm_http_query(request, "rnic");
	const struct tor_rack *rack = NULL;
	const struct wire_plan_view *view;
	const struct roster_rnic *rnic;
	struct wire_pinglist pinglist;
	json_t *all, *list;
	uint64_t refused = 0;

	rnic = text == NULL ? NULL : drill_find(aggregator, text, &rack);
	if (rnic == NULL) {
		rm_http_reply_error(request, text == NULL ? 400 : 404,
		    "?rnic= with the id or host/device of an RNIC of this aggregator, "
		    "see /v1/rnics");
		return;
	}
	view = tor_rack_plan_view(rack);
	if (view == NULL) {
		rm_http_reply_error(
		    request, 404, "there is no plan for %s yet", tor_rack_tor(rack));
		return;
	}
	pinglist_builder_pinglist(pinglist_sender_scratch(aggregator->pinglist_sender),
	    view,
	    pinglist_builder_rotation(&view->plan, rm_wall_now().ns / RM_NS_PER_S),
	    &rnic->id, 1, &pinglist, &refused);
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < pinglist.target_count; i++)
		json_array_append_new(
		    list, show_target(tor_rack_roster(rack), &pinglist.targets[i]));
	json_object_set_new(all, "tor", json_string(tor_rack_tor(rack)));
	json_object_set_new(all, "version", json_integer((json_int_t)pinglist.version));
	json_object_set_new(all, "rotation", json_integer(pinglist.rotation));
	json_object_set_new(all, "probe_timeout_ms",
	    json_integer(tor_rack_timeout_ns(rack) / RM_NS_PER_MS));
	json_object_set_new(
	    all, "roster", json_integer((json_int_t)pinglist.roster_count));
	json_object_set_new(all, "targets", list);
	rm_http_reply_json(request, 200, all);
}

/* True: every rack has a member, and has closed a window. */
static bool
ready(char *sentence, size_t len, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	const char *quarrel = pairs_quarrel(aggregator->pairs);
	const char *trouble = rm_alerts_trouble(aggregator->alerts);

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];

		if (roster_members(tor_rack_roster(rack)) > 0 &&
		    tor_rack_window_end(rack).ns != 0)
			continue;
		snprintf(sentence, len, "%s: %s", tor_rack_tor(rack),
		    tor_rack_plan_view(rack) == NULL
			? "there is neither a plan nor an agent yet"
			: "no window judged yet");
		return false;
	}
	/* Readiness does not depend on the receivers of alerts: the racks are monitored
	 * without them, and a rollout that waits for readiness may be what repairs a
	 * receiver. */
	snprintf(sentence, len, "watching %zu racks%s%s%s%s", aggregator->rack_count,
	    quarrel != NULL ? "; primary is the same at both aggregators of " : "",
	    quarrel != NULL ? quarrel : "",
	    trouble[0] != '\0' ? "; alerts are not delivered: " : "", trouble);
	return true;
}

int
aggregator_api_serve(struct tor_aggregator *aggregator, struct rm_http_server *server)
{
	const struct {
		const char *path;
		rm_http_handler *handler;
	} routes[] = {
		{ "/v1/racks", get_racks },
		{ "/v1/rnics", get_rnics },
		{ "/v1/hosts", get_hosts },
		{ "/v1/incidents", get_incidents },
		{ "/v1/drill/", get_drill },
		{ "/v1/mesh/", mesh_answer_get },
		{ "/v1/pinglist", get_pinglist },
		{ "/v1/paths", get_paths },
		{ "/v1/switches", switch_answer_get },
		{ "/v1/hypervisors", hypervisor_answer_get },
		{ "/v1/diagnosis", diagnosis_answer_get },
		{ "/v1/drift", drift_answer_get },
		{ "/v1/proof", proof_answer_get },
	};
	int r = rm_http_serve_health(server, aggregator->metrics, ready, aggregator);

	for (size_t i = 0; r == 0 && i < sizeof(routes) / sizeof(routes[0]); i++)
		r = rm_http_route(server, RM_HTTP_READ, routes[i].path,
		    routes[i].handler, aggregator);
	return r < 0 ? r : aggregator_api_serve_services(aggregator, server);
}
