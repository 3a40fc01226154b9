#include "host-agent/api/agent_api_services.h"

#include <stdlib.h>

#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_metrics.h"
#include "host-agent/api/agent_show.h"
#include "host-agent/host_agent_services.h"
#include "host-agent/kubernetes/kubelet.h"
#include "host-agent/services/cgroup_name.h"
#include "rackmesh/http/http_server.h"
#include "schemas/wire/text.h"

#define SERVICES_PAGE 1000

static json_t *
show_id(struct wire_rnic_id id)
{
	return id.guid == 0 ? json_null() : agent_show_id(id);
}

static json_t *
show_address(const struct wire_address *address)
{
	struct wire_address bare = *address;

	bare.port = 0;
	return bare.family == 0 ? json_null() : agent_show_address(&bare);
}

static json_t *
number_or_null(uint64_t value)
{
	return value == 0 ? json_null() : json_integer((json_int_t)value);
}

static void
show_pod(const struct kubelet *kubelet, const char *service, json_t *object)
{
	const char *uid = cgroup_name_uid(service);
	const struct pod *pod = uid == NULL ? NULL : kubelet_pod(kubelet, uid);

	json_object_set_new(
	    object, "pod", pod == NULL ? json_null() : json_string(pod->full_name));
	json_object_set_new(object, "owner",
	    pod == NULL || pod->owner_kind[0] == '\0'
		? json_null()
		: json_sprintf("%s/%s", pod->owner_kind, pod->owner_name));
}

static json_t *
show_flow(const struct wire_service_flow *flow, const struct kubelet *kubelet)
{
	json_t *object = json_object();

	json_object_set_new(object, "service", json_string(flow->service));
	show_pod(kubelet, flow->service, object);
	json_object_set_new(object, "comm", json_string(flow->comm));
	json_object_set_new(object, "pid", json_integer(flow->pid));
	json_object_set_new(object, "src", show_id(flow->src));
	json_object_set_new(object, "dst", show_id(flow->dst));
	json_object_set_new(object, "peer", show_address(&flow->peer));
	json_object_set_new(
	    object, "qp_type", json_string(wire_qp_type_str(flow->qp_type)));
	json_object_set_new(object, "src_qpn", json_integer(flow->src_qpn));
	json_object_set_new(object, "dst_qpn", json_integer(flow->dst_qpn));
	json_object_set_new(object, "qps", json_integer(flow->qps));
	json_object_set_new(object, "src_port", number_or_null(flow->src_port));
	json_object_set_new(object, "dscp", json_integer(flow->dscp));
	json_object_set_new(object, "predates_agent", json_boolean(flow->older));
	json_object_set_new(
	    object, "state", json_string(wire_service_state_str(flow->state)));
	json_object_set_new(object, "probe_port", number_or_null(flow->probe_port));
	return object;
}

static json_t *
show_kubelet(const struct kubelet *kubelet)
{
	int64_t age = kubelet_age_ns(kubelet, rm_mono_now());
	const char *error = kubelet_error(kubelet);
	json_t *object;

	if (kubelet == NULL)
		return json_null();
	object = json_object();
	json_object_set_new(object, "up", json_boolean(kubelet_up(kubelet)));
	json_object_set_new(
	    object, "error", error[0] == '\0' ? json_null() : json_string(error));
	json_object_set_new(
	    object, "age_ms", age < 0 ? json_null() : json_integer(age / RM_NS_PER_MS));
	json_object_set_new(
	    object, "pods", json_integer((json_int_t)kubelet_pods(kubelet)));
	return object;
}

static void
show_head(const struct agent_services *services, json_t *all)
{
	const struct agent_services_counts *counts = agent_services_counts(services);
	const struct qp_tracer *hooks = agent_services_hooks(services);

	json_object_set_new(all, "tracing",
	    json_boolean(hooks != NULL && qp_tracer_is_attached(hooks)));
	json_object_set_new(
	    all, "by", json_string(hooks == NULL ? "" : qp_tracer_method(hooks)));
	json_object_set_new(all, "missing",
	    json_string(hooks == NULL ? "no RNIC that is probed over verbs"
				      : qp_tracer_missing(hooks)));
	json_object_set_new(
	    all, "kubelet", show_kubelet(agent_services_pods(services)->kubelet));
	json_object_set_new(
	    all, "unresolved_qps", json_integer((json_int_t)counts->table.unresolved));
	json_object_set_new(
	    all, "waiting_flows", json_integer((json_int_t)counts->table.waiting));
	json_object_set_new(
	    all, "events_dropped", json_integer((json_int_t)counts->hooks.dropped));
}

void
agent_api_services(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	uint64_t offset = 0, limit = SERVICES_PAGE;
	const struct kubelet *kubelet = NULL;
	struct wire_service_flow *flows;
	json_t *all, *list;
	size_t count = 0;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &offset) ||
	    !rm_http_query_number(request, "limit", 1, SERVICES_PAGE, &limit))
		return;
	all = json_object();
	list = json_array();
	flows = calloc(SERVICES_MAX_FLOWS, sizeof(*flows));
	json_object_set_new(all, "enabled", json_boolean(api->services != NULL));
	if (api->services != NULL) {
		show_head(api->services, all);
		kubelet = agent_services_pods(api->services)->kubelet;
	}
	if (api->services != NULL && flows != NULL)
		count = services_flows(
		    agent_services_table(api->services), flows, SERVICES_MAX_FLOWS);
	for (size_t i = (size_t)offset; i < count && limit > 0; i++, limit--)
		json_array_append_new(list, show_flow(&flows[i], kubelet));
	json_object_set_new(all, "flow_count", json_integer((json_int_t)count));
	json_object_set_new(all, "services", list);
	free(flows);
	rm_http_reply_json(request, 200, all);
}
