#include "tor-aggregator/api/aggregator_api_services.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "schemas/wire/text.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

#define LIMIT 1000
#define MAX_LIMIT 10000

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

	bare.port = 0; /* of no meaning here */
	wire_address_format(&bare, text);
	return json_string(text);
}

/* "host/device" where it is known, else its id. */
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
show_way(const struct tor_rack *rack, const struct service_flow *flow, rm_mono_t now)
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
	set(object, "qp_type", json_string(wire_qp_type_word(flow->qp_type)));
	set_u64(object, "src_qpn", flow->src_qpn);
	set_u64(object, "dst_qpn", flow->dst_qpn);
	set_u64(object, "qps", flow->qps);
	set(object, "older", json_boolean(flow->older));
	set(object, "state", json_string(wire_service_state_word(flow->state)));
	set(object, "probe_port",
	    flow->probe_port == 0 ? json_null() : json_integer(flow->probe_port));
	set(object, "path", show_way(rack, flow, now));
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
	    (uint64_t)(rm_mono_since(now, host->told) / RM_NS_PER_MS));
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

int
aggregator_api_serve_services(
    struct tor_aggregator *aggregator, struct rm_http_server *server)
{
	return rm_http_route(
	    server, RM_HTTP_READ, "/v1/services", get_services, aggregator);
}
