#include "host-agent/api/agent_api_paths.h"

#include <string.h>

#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_show.h"
#include "host-agent/trace/tracer.h"
#include "rackmesh/http/http_server.h"
#include "schemas/wire/text.h"

/* Flows in one answer, and flows fetched at a time. */
#define PATHS_PAGE 1000
#define PATHS_CHUNK 50

static json_t *
show_hop(const struct wire_path *path, unsigned i)
{
	static const uint8_t silent[16];
	struct wire_address hop = { .family = path->family };
	char text[WIRE_ADDRESS_TEXT];

	if (memcmp(path->hops[i], silent, sizeof(silent)) == 0)
		return json_null();
	memcpy(hop.bytes, path->hops[i], sizeof(hop.bytes));
	wire_address_format(&hop, text);
	return json_string(text);
}

static json_t *
show_path(const struct tracer_view *view)
{
	const struct wire_path *path = &view->path;
	json_t *object = json_object(), *hops = json_array();
	char text[WIRE_ADDRESS_TEXT];

	wire_address_format(&view->dst, text);
	json_object_set_new(object, "src",
	    agent_show_id((struct wire_rnic_id){ path->src_guid, path->src_port_num }));
	json_object_set_new(object, "dst",
	    agent_show_id((struct wire_rnic_id){ path->dst_guid, path->dst_port_num }));
	json_object_set_new(object, "address", json_string(text));
	json_object_set_new(object, "src_port", json_integer(path->src_port));
	json_object_set_new(object, "dscp", json_integer(path->dscp));
	json_object_set_new(object, "traced", json_boolean(path->hop_count > 0));
	json_object_set_new(
	    object, "complete", json_boolean((path->flags & WIRE_PATH_COMPLETE) != 0));
	json_object_set_new(object, "multipath",
	    json_boolean((path->flags & WIRE_PATH_MULTIPATH) != 0));
	json_object_set_new(object, "age_ms",
	    json_integer((json_int_t)(path->age_ns / (uint64_t)RM_NS_PER_MS)));
	for (unsigned i = 0; i < path->hop_count; i++)
		json_array_append_new(hops, show_hop(path, i));
	json_object_set_new(object, "hops", hops);
	return object;
}

void
agent_api_paths(struct rm_http_request *request, void *arg)
{
	const struct agent_api *api = arg;
	uint64_t offset = 0, limit = PATHS_PAGE;
	json_t *all, *list;
	size_t count;

	if (!rm_http_query_number(request, "offset", 0, UINT32_MAX, &offset) ||
	    !rm_http_query_number(request, "limit", 1, PATHS_PAGE, &limit))
		return;
	all = json_object();
	list = json_array();
	do {
		struct tracer_view views[PATHS_CHUNK];

		count = tracer_list(api->tracer, (size_t)offset, rm_mono_now(), views,
		    limit < PATHS_CHUNK ? (size_t)limit : PATHS_CHUNK);
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, show_path(&views[i]));
		offset += count;
		limit -= count;
	} while (count > 0 && limit > 0);
	json_object_set_new(
	    all, "flow_count", json_integer((json_int_t)tracer_flows(api->tracer)));
	json_object_set_new(all, "paths", list);
	rm_http_reply_json(request, 200, all);
}
