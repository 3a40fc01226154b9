/* The HTTP API; docs/region-controller.md describes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/api/api_context.h"
#include "region-controller/api/controller_show.h"
#include "region-controller/api/topology_json.h"
#include "region-controller/api/traced_json.h"
#include "region-controller/api/versions_json.h"
#include "region-controller/plan/plan_json.h"
#include "region-controller/plan/publish.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_status.h"

/* ---- racks -------------------------------------------------------------------- */

static json_t *
show_rack_aggregators(
    const struct api_context *context, const char *tor, const struct publish_tor *plan)
{
	const struct aggregators_session *session;
	json_t *list = json_array();

	for (size_t i = 0; (session = aggregators_get(context->aggregators, i)) != NULL;
	     i++) {
		for (size_t k = 0; session->is_welcome && k < session->tor_count; k++) {
			json_t *object;

			if (strcmp(session->tors[k].tor, tor) != 0)
				continue;
			object = json_object();
			json_object_set_new(object, "name", json_string(session->name));
			show_u64(object, "plan_version", session->tors[k].version);
			json_object_set_new(object, "has_plan",
			    json_boolean(plan != NULL &&
					 session->tors[k].digest == plan->digest));
			json_array_append_new(list, object);
		}
	}
	return list;
}

static json_t *
show_rack(const struct api_context *context, size_t index)
{
	const struct rm_topology *topology = store_topology(context->store);
	const struct rm_switch *tor = rm_topology_switch(topology, index);
	const struct publish_tor *plan = publish_find(context->publish, tor->name);
	json_t *object = json_object();

	json_object_set_new(object, "tor", json_string(tor->name));
	json_object_set_new(
	    object, "plane", json_string(rm_topology_plane(topology, tor->plane)));
	show_u64(object, "members", registry_members(context->registry, index));
	json_object_set_new(object, "expected_rnics",
	    tor->expected_rnics > 0 ? json_integer(tor->expected_rnics) : json_null());
	json_object_set_new(object, "expected_hosts",
	    tor->expected_hosts > 0 ? json_integer(tor->expected_hosts) : json_null());
	json_object_set_new(
	    object, "aggregators", show_rack_aggregators(context, tor->name, plan));
	json_object_set_new(object, "plan_version",
	    plan != NULL ? json_integer((json_int_t)plan->version) : json_null());
	json_object_set_new(object, "plan_digest",
	    plan != NULL ? plan_json_digest(plan->digest) : json_null());
	json_object_set_new(object, "plan_bytes",
	    plan != NULL ? json_integer((json_int_t)plan->len) : json_null());
	json_object_set_new(object, "published",
	    plan != NULL ? show_wall(plan->published) : json_null());
	return object;
}

static void
get_racks(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct rm_topology *topology = show_topology(request, context);
	json_t *all, *list;

	if (topology == NULL)
		return;
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < rm_topology_switches(topology); i++) {
		if (rm_topology_switch(topology, i)->role == RM_SWITCH_TOR)
			json_array_append_new(list, show_rack(context, i));
	}
	json_object_set_new(all, "controller", json_string(context->name));
	json_object_set_new(all, "region", json_string(context->region));
	json_object_set_new(all, "settled", json_boolean(*context->settled));
	json_object_set_new(all, "racks", list);
	rm_http_reply_json(request, 200, all);
}

/* ---- RNICs --------------------------------------------------------------------- */

static void
get_rnics(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct registry_rnic **all = NULL;
	json_t *object, *list;
	size_t count = 0;

	if (registry_sorted(context->registry, &all, &count) < 0) {
		rm_http_reply_error(request, 500, "out of memory");
		return;
	}
	object = json_object();
	list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    list, show_rnic(store_topology(context->store), all[i]));
	free(all);
	json_object_set_new(object, "rnics", list);
	rm_http_reply_json(request, 200, object);
}

/* ---- RNICs and hosts that are in no plan ---- */

static void
set_reason(json_t *object, enum registry_refusal refusal)
{
	json_object_set_new(
	    object, "reason", json_string(registry_refusal_str(refusal)));
	json_object_set_new(
	    object, "sentence", json_string(registry_refusal_sentence(refusal)));
}

static json_t *
show_unplaced(const struct api_context *context)
{
	const struct registry_rnic **all = NULL;
	json_t *list = json_array();
	size_t count = 0;

	if (registry_sorted(context->registry, &all, &count) < 0)
		return list;
	for (size_t i = 0; i < count; i++) {
		json_t *object;

		if (all[i]->refusal == REGISTRY_PLACED)
			continue;
		object = show_rnic(store_topology(context->store), all[i]);
		set_reason(object, all[i]->refusal);
		json_array_append_new(list, object);
	}
	free(all);
	return list;
}

static json_t *
show_ambiguous(const struct api_context *context)
{
	struct registry_shared shared;
	json_t *list = json_array();

	for (size_t i = 0; i < REGISTRY_MAX_REFUSED &&
			   registry_shared_address(context->registry, i, &shared);
	     i++) {
		json_t *object = json_object(), *rnics = json_array();

		shared.address.port = 0;
		json_object_set_new(
		    object, "address", plan_json_address(&shared.address));
		for (size_t k = 0; k < shared.count; k++) {
			const struct registry_rnic *rnic = shared.rnics[k];
			json_t *item = json_object();

			json_object_set_new(item, "id",
			    plan_json_id(
				(struct wire_rnic_id){ rnic->id.guid, rnic->id.port }));
			json_object_set_new(item, "host", json_string(rnic->host));
			json_object_set_new(item, "device", json_string(rnic->device));
			json_array_append_new(rnics, item);
		}
		json_object_set_new(object, "rnics", rnics);
		json_array_append_new(list, object);
	}
	return list;
}

static void
get_refused(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	json_t *object = json_object(), *list = json_array();

	for (size_t i = 0; i < registry_refused_count(context->registry); i++) {
		const struct registry_refused *entry =
		    registry_refused(context->registry, i);
		json_t *item = json_object();

		json_object_set_new(item, "id", json_string(entry->id));
		json_object_set_new(item, "host", json_string(entry->host));
		json_object_set_new(item, "device", json_string(entry->device));
		json_object_set_new(item, "tor", json_string(entry->tor));
		json_object_set_new(item, "aggregator", json_string(entry->aggregator));
		if (entry->name[0] != '\0')
			json_object_set_new(item, "name", json_string(entry->name));
		set_reason(item, entry->refusal);
		show_u64(item, "times", entry->times);
		json_object_set_new(item, "last", show_wall(entry->last));
		json_array_append_new(list, item);
	}
	json_object_set_new(object, "unplaced", show_unplaced(context));
	json_object_set_new(object, "malformed", list);
	json_object_set_new(object, "ambiguous", show_ambiguous(context));
	rm_http_reply_json(request, 200, object);
}

/* ---- topology, plans, aggregators ---- */

static void
get_topology(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct rm_topology *topology = show_topology(request, context);
	json_t *object;

	if (topology == NULL)
		return;
	object = topology_json(topology);
	if (traced_json_merge(object, context->traced) < 0) {
		json_decref(object);
		rm_http_reply_error(request, 500, "out of memory");
		return;
	}
	rm_http_reply_json(request, 200, object);
}

static void
post_reload(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	struct rm_error error = { 0 };
	json_t *object;

	if (context->reload_topology(context->arg, &error) < 0) {
		rm_http_reply_error(request, 422, "%s", error.text);
		return;
	}
	object = json_object();
	if (store_topology(context->store) != NULL)
		json_object_set_new(object, "warnings",
		    topology_json_warnings(store_topology(context->store)));
	rm_http_reply_json(request, 200, object);
}

static void
get_plan(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const char *tor = rm_http_path_rest(request);
	const struct publish_tor *plan = publish_find(context->publish, tor);
	const struct rm_topology *topology = show_topology(request, context);
	size_t index;

	if (topology == NULL)
		return;
	if (plan == NULL) {
		rm_http_reply_error(request, 404,
		    rm_topology_find(topology, tor, &index)
			? "no plan is published for this ToR yet"
			: "the topology has no such ToR; /v1/racks lists all");
		return;
	}
	rm_http_reply_json(request, 200, plan_json(&plan->view));
}

static void
get_aggregators(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	const struct aggregators_session *session;
	json_t *object = json_object(), *list = json_array();

	for (size_t i = 0; (session = aggregators_get(context->aggregators, i)) != NULL;
	     i++) {
		json_t *item = json_object(), *tors = json_array();
		char peer[RM_ADDRESS_TEXT];

		rm_address_format(&session->peer, peer);
		json_object_set_new(item, "name",
		    session->is_welcome ? json_string(session->name) : json_null());
		json_object_set_new(item, "address", json_string(peer));
		json_object_set_new(item, "since", show_wall(session->since));
		json_object_set_new(
		    item, "version", versions_json_text(session->software));
		show_u64(item, "registrations", session->registrations);
		for (size_t k = 0; k < session->tor_count; k++)
			json_array_append_new(tors, json_string(session->tors[k].tor));
		json_object_set_new(item, "tors", tors);
		json_array_append_new(list, item);
	}
	json_object_set_new(object, "aggregators", list);
	rm_http_reply_json(request, 200, object);
}

static void
get_versions(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	json_t *object;

	if (!show_leads(request, context))
		return;
	object = versions_json(context);
	if (object == NULL)
		rm_http_reply_error(request, 500, "out of memory");
	else
		rm_http_reply_json(request, 200, object);
}

static void
post_forget(struct rm_http_request *request, void *arg)
{
	const struct api_context *context = arg;
	struct rm_rnic_id id;

	if (rm_rnic_id_parse(rm_http_path_rest(request), &id) < 0)
		rm_http_reply_error(request, 400,
		    "expected the id of an RNIC, as /v1/rnics shows it, behind "
		    "/v1/forget/");
	else if (!show_leads(request, context))
		return;
	else if (context->forget(context->arg, id) < 0)
		rm_http_reply_error(request, 404, "no such RNIC; /v1/rnics lists all");
	else
		rm_http_reply_json(request, 200, json_object());
}

/* ---- routes -------------------------------------------------------------------- */

static bool
is_ready(char *sentence, size_t len, void *arg)
{
	const struct api_context *context = arg;
	struct store_status status;
	char standby[SHOW_STANDBY_TEXT];

	store_status(context->store, rm_mono_now(), &status);
	if (status.trouble[0] != '\0') {
		snprintf(sentence, len, "%s", status.trouble);
		return false;
	}
	if (!status.leads) {
		snprintf(sentence, len, "%s", show_standby(&status, standby));
		return status.leader[0] != '\0';
	}
	snprintf(sentence, len, "%s",
	    *context->settled ? "plans are published"
			      : "waiting for the aggregators of all ToRs");
	return *context->settled;
}

int
controller_api_serve(struct rm_http_server *server, const struct rm_metrics *metrics,
    const struct api_context *context)
{
	static const struct {
		enum rm_http_verb verb;
		const char *path;
		rm_http_handler *handler;
	} routes[] = {
		{ RM_HTTP_READ, "/v1/topology", get_topology },
		{ RM_HTTP_READ, "/v1/racks", get_racks },
		{ RM_HTTP_READ, "/v1/rnics", get_rnics },
		{ RM_HTTP_READ, "/v1/refused", get_refused },
		{ RM_HTTP_READ, "/v1/aggregators", get_aggregators },
		{ RM_HTTP_READ, "/v1/plan/", get_plan },
		{ RM_HTTP_READ, "/v1/versions", get_versions },
		{ RM_HTTP_CHANGE, "/v1/topology/reload", post_reload },
		{ RM_HTTP_CHANGE, "/v1/forget/", post_forget },
	};
	int r;

	r = rm_http_serve_health(server, metrics, is_ready, (void *)context);
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]) && r == 0; i++)
		r = rm_http_route(server, routes[i].verb, routes[i].path,
		    routes[i].handler, (void *)context);
	return r < 0 ? r : controller_api_serve_region(server, context);
}
