#include "region-controller/api/topology_json.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/topology/topology.h"

static json_t *
show_address(const struct rm_address *address)
{
	char text[RM_ADDRESS_TEXT];

	rm_address_format(address, text);
	return json_string(text);
}

/* An address without a port. */
static json_t *
show_bare_address(const struct rm_address *address)
{
	char text[RM_ADDRESS_TEXT];

	rm_address_format(address, text);
	text[strlen(text) - strlen(":0")] = '\0';
	if (text[0] != '[')
		return json_string(text);
	text[strlen(text) - 1] = '\0';
	return json_string(text + 1);
}

static json_t *
show_switch(const struct rm_topology *topology, const struct rm_switch *sw)
{
	json_t *object = json_object(), *aliases = json_array();

	json_object_set_new(object, "name", json_string(sw->name));
	json_object_set_new(object, "role", json_string(rm_switch_role_str(sw->role)));
	json_object_set_new(
	    object, "plane", json_string(rm_topology_plane(topology, sw->plane)));
	json_object_set_new(object, "reflector",
	    sw->has_reflector ? show_address(&sw->reflector) : json_null());
	for (size_t i = 0; i < sw->alias_count; i++)
		json_array_append_new(aliases, show_bare_address(&sw->aliases[i]));
	json_object_set_new(object, "aliases", aliases);
	return object;
}

static json_t *
show_link(const struct rm_topology *topology, const struct rm_topology_link *link)
{
	json_t *object = json_object();

	json_object_set_new(
	    object, "a", json_string(rm_topology_switch(topology, link->a)->name));
	json_object_set_new(
	    object, "b", json_string(rm_topology_switch(topology, link->b)->name));
	json_object_set_new(object, "count", json_integer(link->count));
	json_object_set_new(object, "speed_gbps",
	    link->speed_gbps > 0 ? json_integer(link->speed_gbps) : json_null());
	return object;
}

static json_t *
show_members(const struct rm_switch *tor)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tor->member_count; i++) {
		const struct rm_topology_member *member = &tor->members[i];
		char text[2 * RM_NAME_BYTES + 1];

		snprintf(text, sizeof(text), "%s%s%s", member->host,
		    member->device[0] != '\0' ? "/" : "", member->device);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static json_t *
show_rack(const struct rm_topology *topology, const struct rm_switch *tor)
{
	json_t *object = json_object(), *list = json_array();

	json_object_set_new(object, "tor", json_string(tor->name));
	json_object_set_new(
	    object, "plane", json_string(rm_topology_plane(topology, tor->plane)));
	for (size_t i = 0; i < tor->aggregator_count; i++) {
		char text[RM_ENDPOINT_TEXT];

		rm_endpoint_format(&tor->aggregators[i], text);
		json_array_append_new(list, json_string(text));
	}
	json_object_set_new(object, "aggregators", list);
	json_object_set_new(object, "members", show_members(tor));
	json_object_set_new(object, "hosts",
	    tor->expected_hosts > 0 ? json_integer(tor->expected_hosts) : json_null());
	json_object_set_new(object, "rnics",
	    tor->expected_rnics > 0 ? json_integer(tor->expected_rnics) : json_null());
	return object;
}

json_t *
topology_json_warnings(const struct rm_topology *topology)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		json_array_append_new(
		    list, json_string(rm_topology_warning(topology, i)));
	return list;
}

json_t *
topology_json(const struct rm_topology *topology)
{
	json_t *object = json_object(), *planes = json_array(), *links = json_array();
	json_t *switches = json_array(), *racks = json_array();

	for (size_t i = 0; i < rm_topology_planes(topology); i++)
		json_array_append_new(
		    planes, json_string(rm_topology_plane(topology, i)));
	for (size_t i = 0; i < rm_topology_switches(topology); i++) {
		const struct rm_switch *sw = rm_topology_switch(topology, i);

		json_array_append_new(switches, show_switch(topology, sw));
		if (sw->role == RM_SWITCH_TOR)
			json_array_append_new(racks, show_rack(topology, sw));
	}
	for (size_t i = 0; i < rm_topology_links(topology); i++)
		json_array_append_new(
		    links, show_link(topology, rm_topology_link(topology, i)));
	json_object_set_new(
	    object, "region", json_string(rm_topology_region(topology)));
	json_object_set_new(object, "planes", planes);
	json_object_set_new(object, "switches", switches);
	json_object_set_new(object, "links", links);
	json_object_set_new(object, "racks", racks);
	json_object_set_new(object, "warnings", topology_json_warnings(topology));
	return object;
}
