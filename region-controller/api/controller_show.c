#include "region-controller/api/controller_show.h"

#include <stdio.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/api/api_context.h"
#include "region-controller/plan/plan_json.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_status.h"
#include "schemas/wire/text.h"

void
show_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

json_t *
show_wall(rm_wall_t wall)
{
	char text[RM_WALL_TEXT];

	if (wall.ns == 0)
		return json_null();
	rm_wall_format(wall, text);
	return json_string(text);
}

json_t *
show_rnic(const struct rm_topology *topology, const struct registry_rnic *rnic)
{
	bool placed = rnic->refusal == REGISTRY_PLACED && topology != NULL;
	json_t *object = json_object(), *tors = json_array(), *addresses = json_array();

	json_object_set_new(object, "id",
	    plan_json_id((struct wire_rnic_id){ rnic->id.guid, rnic->id.port }));
	json_object_set_new(object, "host", json_string(rnic->host));
	json_object_set_new(object, "device", json_string(rnic->device));
	json_object_set_new(object, "driver", json_string(rnic->driver));
	for (size_t i = 0; i < rnic->tor_count; i++)
		json_array_append_new(tors, json_string(rnic->tors[i]));
	json_object_set_new(object, "tors", tors);
	json_object_set_new(object, "plane",
	    placed ? json_string(rm_topology_plane(topology, rnic->plane))
		   : json_null());
	for (size_t i = 0; i < rnic->address_count; i++)
		json_array_append_new(
		    addresses, plan_json_address(&rnic->addresses[i]));
	json_object_set_new(object, "addresses", addresses);
	json_object_set_new(
	    object, "transport", json_string(wire_transport_str(rnic->qpn, rnic->lid)));
	show_u64(object, "qpn", rnic->qpn);
	show_u64(object, "large_qpn", rnic->large_qpn);
	show_u64(object, "lid", rnic->lid);
	json_object_set_new(object, "link", json_string(wire_link_str(rnic->link)));
	show_u64(object, "mtu_bytes", rnic->mtu_bytes);
	json_object_set_new(object, "authenticates", json_boolean(rnic->authenticates));
	json_object_set_new(object, "incarnation", plan_json_digest(rnic->incarnation));
	json_object_set_new(object, "planned", json_boolean(placed));
	json_object_set_new(object, "aggregator", json_string(rnic->aggregator));
	json_object_set_new(object, "registered", show_wall(rnic->registered));
	show_u64(object, "moves", rnic->moves);
	return object;
}

const struct rm_topology *
show_topology(struct rm_http_request *request, const struct api_context *context)
{
	const struct rm_topology *topology = store_topology(context->store);

	if (topology == NULL)
		rm_http_reply_error(request, 503,
		    "there is no topology yet; /readyz says what is missing");
	return topology;
}

const char *
show_standby(const struct store_status *status, char text[SHOW_STANDBY_TEXT])
{
	if (status->leader[0] == '\0')
		snprintf(text, SHOW_STANDBY_TEXT, "standby: no leader yet");
	else
		snprintf(text, SHOW_STANDBY_TEXT, "standby: %s leads", status->leader);
	return text;
}

bool
show_leads(struct rm_http_request *request, const struct api_context *context)
{
	struct store_status status;
	char text[SHOW_STANDBY_TEXT];

	store_status(context->store, rm_mono_now(), &status);
	if (status.leads)
		return true;
	rm_http_reply_error(request, 409, "%s", show_standby(&status, text));
	return false;
}
