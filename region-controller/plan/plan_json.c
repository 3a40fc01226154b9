#include "region-controller/plan/plan_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire/text.h"

json_t *
plan_json_id(struct wire_rnic_id id)
{
	char text[RM_RNIC_ID_TEXT];

	rm_rnic_id_format((struct rm_rnic_id){ id.guid, id.port }, text);
	return json_string(text);
}

json_t *
plan_json_address(const struct wire_address *address)
{
	char text[WIRE_ADDRESS_TEXT];

	wire_address_format(address, text);
	return json_string(text);
}

json_t *
plan_json_digest(uint64_t digest)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, digest);
	return json_string(text);
}

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Shows flows, dscps and sizes of a mesh or of an entry. */
static void
set_mix(json_t *object, const uint16_t *flows, size_t flow_count, const uint8_t *dscps,
    size_t dscp_count, const uint16_t *sizes, size_t size_count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < flow_count; i++)
		json_array_append_new(list, json_integer(flows[i]));
	json_object_set_new(object, "source_ports", list);
	list = json_array();
	for (size_t i = 0; i < dscp_count; i++)
		json_array_append_new(list, json_integer(dscps[i]));
	json_object_set_new(object, "dscps", list);
	list = json_array();
	for (size_t i = 0; i < size_count; i++)
		json_array_append_new(list, json_integer(sizes[i]));
	json_object_set_new(object, "sizes_bytes", list);
}

static json_t *
show_rnic(const struct wire_rnic *rnic)
{
	json_t *object = json_object(), *list = json_array();

	json_object_set_new(object, "id", plan_json_id(rnic->id));
	json_object_set_new(object, "host", json_string(rnic->host));
	json_object_set_new(object, "device", json_string(rnic->device));
	for (size_t i = 0; i < rnic->tor_count; i++)
		json_array_append_new(list, json_string(rnic->tors[i]));
	json_object_set_new(object, "tors", list);
	list = json_array();
	for (size_t i = 0; i < rnic->address_count; i++)
		json_array_append_new(list, plan_json_address(&rnic->addresses[i]));
	json_object_set_new(object, "addresses", list);
	set_u64(object, "qpn", rnic->qpn);
	set_u64(object, "large_qpn", rnic->large_qpn);
	set_u64(object, "lid", rnic->lid);
	set_u64(object, "mtu_bytes", rnic->mtu_bytes);
	json_object_set_new(object, "authenticates", json_boolean(rnic->authenticates));
	return object;
}

static json_t *
show_mesh(const struct wire_mesh *mesh)
{
	json_t *object = json_object();

	set_u64(object, "peers", mesh->peers);
	set_u64(object, "interval_us", mesh->interval_us);
	set_u64(object, "rotation_s", mesh->rotation_s);
	set_u64(object, "sl", mesh->sl);
	set_mix(object, mesh->flows, mesh->flow_count, mesh->dscps, mesh->dscp_count,
	    mesh->sizes, mesh->size_count);
	return object;
}

static json_t *
show_entry(const struct wire_plan_view *view, size_t i)
{
	json_t *object = json_object();
	struct wire_plan_entry entry;
	struct wire_rnic rnic;
	char name[2 * RM_NAME_BYTES + 2];

	wire_plan_entry(view, i, &entry);
	json_object_set_new(
	    object, "kind", json_string(wire_probe_kind_str(entry.kind)));
	wire_plan_member(view, entry.src, &rnic);
	snprintf(name, sizeof(name), "%s/%s", rnic.host, rnic.device);
	json_object_set_new(object, "from", json_string(name));
	json_object_set_new(object, "from_id", plan_json_id(rnic.id));
	wire_plan_remote(view, entry.dst, &rnic);
	snprintf(name, sizeof(name), "%s/%s", rnic.host, rnic.device);
	json_object_set_new(object, "to", json_string(name));
	json_object_set_new(object, "to_id", plan_json_id(rnic.id));
	json_object_set_new(
	    object, "to_tor", json_string(rnic.tor_count > 0 ? rnic.tors[0] : ""));
	set_u64(object, "interval_us", entry.interval_us);
	json_object_set_new(object, "paired", json_boolean(entry.paired));
	set_u64(object, "sl", entry.sl);
	set_mix(object, entry.flows, entry.flow_count, entry.dscps, entry.dscp_count,
	    entry.sizes, entry.size_count);
	return object;
}

static json_t *
show_aliases(const struct wire_plan_view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < view->plan.alias_count; i++) {
		json_t *object = json_object();
		struct wire_alias alias;

		wire_plan_alias(view, i, &alias);
		json_object_set_new(object, "switch", json_string(alias.switch_name));
		json_object_set_new(
		    object, "address", plan_json_address(&alias.address));
		json_array_append_new(list, object);
	}
	return list;
}

json_t *
plan_json(const struct wire_plan_view *view)
{
	const struct wire_plan *plan = &view->plan;
	json_t *object = json_object(), *list = json_array();
	struct wire_rnic rnic;

	json_object_set_new(object, "region", json_string(plan->region));
	json_object_set_new(object, "tor", json_string(plan->tor));
	json_object_set_new(object, "plane", json_string(plan->plane));
	set_u64(object, "version", plan->version);
	json_object_set_new(object, "digest", plan_json_digest(plan->digest));
	json_object_set_new(object, "probe_timeout_ms",
	    plan->probe_timeout_ms != 0 ? json_integer(plan->probe_timeout_ms)
					: json_null());
	json_object_set_new(object, "mesh", show_mesh(&plan->mesh));
	for (size_t i = 0; i < plan->member_count; i++) {
		wire_plan_member(view, i, &rnic);
		json_array_append_new(list, show_rnic(&rnic));
	}
	json_object_set_new(object, "members", list);
	list = json_array();
	for (size_t i = 0; i < plan->remote_count; i++) {
		wire_plan_remote(view, i, &rnic);
		json_array_append_new(list, show_rnic(&rnic));
	}
	json_object_set_new(object, "remote_rnics", list);
	list = json_array();
	for (size_t i = 0; i < plan->entry_count; i++)
		json_array_append_new(list, show_entry(view, i));
	json_object_set_new(object, "entries", list);
	json_object_set_new(object, "aliases", show_aliases(view));
	return object;
}
