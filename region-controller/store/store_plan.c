#include "region-controller/store/store_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/store/plan_copy.h"
#include "region-controller/store/store_json.h"
#include "schemas/wire/text.h"

#define MIXES_COMPARED 8 /* an entry's mix is nearly always one of the last */

static json_t *
list_of_u16(const uint16_t *numbers, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(numbers[i]));
	return list;
}

static json_t *
mix_of(const uint8_t *dscps, size_t dscp_count, const uint16_t *sizes, size_t count)
{
	json_t *object = json_object(), *list = json_array();

	for (size_t i = 0; i < dscp_count; i++)
		json_array_append_new(list, json_integer(dscps[i]));
	json_object_set_new(object, "dscps", list);
	json_object_set_new(object, "sizes_bytes", list_of_u16(sizes, count));
	return object;
}

static json_t *
mesh_of(const struct wire_mesh *mesh)
{
	json_t *object =
	    mix_of(mesh->dscps, mesh->dscp_count, mesh->sizes, mesh->size_count);

	json_object_set_new(object, "peers", json_integer(mesh->peers));
	json_object_set_new(object, "interval_us", json_integer(mesh->interval_us));
	json_object_set_new(object, "rotation_s", json_integer(mesh->rotation_s));
	if (mesh->sl != 0)
		json_object_set_new(object, "sl", json_integer(mesh->sl));
	json_object_set_new(
	    object, "source_ports", list_of_u16(mesh->flows, mesh->flow_count));
	return object;
}

/* Its place in mixes, at the end if it is a new one. */
static size_t
place_of_mix(json_t *mixes, const struct wire_plan_entry *entry)
{
	json_t *mix =
	    mix_of(entry->dscps, entry->dscp_count, entry->sizes, entry->size_count);
	size_t count = json_array_size(mixes), i = count;

	while (i > 0 && count - i < MIXES_COMPARED) {
		if (json_equal(json_array_get(mixes, --i), mix)) {
			json_decref(mix);
			return i;
		}
	}
	json_array_append_new(mixes, mix);
	return count;
}

static json_t *
entry_of(const struct wire_plan_entry *entry, json_t *mixes)
{
	json_t *object = json_object();

	json_object_set_new(object, "from", json_integer(entry->src));
	json_object_set_new(object, "to", json_integer(entry->dst));
	json_object_set_new(
	    object, "kind", json_string(wire_probe_kind_word(entry->kind)));
	json_object_set_new(object, "interval_us", json_integer(entry->interval_us));
	if (entry->paired)
		json_object_set_new(object, "paired", json_true());
	if (entry->sl != 0)
		json_object_set_new(object, "sl", json_integer(entry->sl));
	json_object_set_new(
	    object, "source_ports", list_of_u16(entry->flows, entry->flow_count));
	json_object_set_new(
	    object, "mix", json_integer((json_int_t)place_of_mix(mixes, entry)));
	return object;
}

/* One switch's aliases after the other. */
static json_t *
aliases_of(const struct wire_plan *plan)
{
	json_t *all = json_array(), *addresses = NULL;

	for (size_t i = 0; i < plan->alias_count; i++) {
		const struct wire_alias *alias = &plan->aliases[i];
		char text[WIRE_ADDRESS_TEXT];

		if (i == 0 || strcmp(alias[-1].switch_name, alias->switch_name) != 0) {
			json_t *object = json_object();

			addresses = json_array();
			json_object_set_new(
			    object, "switch", json_string(alias->switch_name));
			json_object_set_new(object, "addresses", addresses);
			json_array_append_new(all, object);
		}
		wire_address_format(&alias->address, text);
		json_array_append_new(addresses, json_string(text));
	}
	return all;
}

/* What many RNICs have in common stands once, in order of its first use. */
struct shares {
	json_t *list;
	json_t *places; /* its text -> its place */
};

static json_t *
place_of_share(struct shares *shares, const struct wire_rnic *rnic)
{
	json_t *share = json_object(), *place;
	char *text;

	store_json_set_shared(share, rnic);
	text = json_dumps(share, JSON_COMPACT);
	place = text == NULL ? NULL : json_object_get(shares->places, text);
	if (place != NULL || text == NULL) {
		json_decref(share);
		json_incref(place);
	} else {
		place = json_integer((json_int_t)json_array_size(shares->list));
		json_object_set(shares->places, text, place);
		json_array_append_new(shares->list, share);
	}
	free(text);
	return place;
}

static json_t *
rnics_of(const struct wire_rnic *rnics, size_t count, struct shares *shares)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_object();

		store_json_set_rnic(object, &rnics[i]);
		json_object_set_new(object, "of", place_of_share(shares, &rnics[i]));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
object_of(const struct wire_plan *plan, uint64_t digest, uint64_t base)
{
	json_t *object = json_object(), *entries = json_array(), *mixes = json_array();
	struct shares shares = { json_array(), json_object() };

	json_object_set_new(object, "region", json_string(plan->region));
	json_object_set_new(object, "tor", json_string(plan->tor));
	json_object_set_new(object, "plane", json_string(plan->plane));
	json_object_set_new(object, "digest", store_json_of_hex(digest));
	json_object_set_new(object, "base", json_integer((json_int_t)base));
	json_object_set_new(object, "mesh", mesh_of(&plan->mesh));
	json_object_set_new(
	    object, "members", rnics_of(plan->members, plan->member_count, &shares));
	json_object_set_new(object, "foreigners",
	    rnics_of(plan->foreigners, plan->foreigner_count, &shares));
	json_object_set_new(object, "shared", shares.list);
	json_decref(shares.places);
	for (size_t i = 0; i < plan->entry_count; i++)
		json_array_append_new(entries, entry_of(&plan->entries[i], mixes));
	json_object_set_new(object, "mixes", mixes);
	json_object_set_new(object, "entries", entries);
	json_object_set_new(object, "aliases", aliases_of(plan));
	return object;
}

int
store_plan_write(const struct wire_bytes *plan, uint64_t digest, uint64_t base,
    char **text, size_t *len)
{
	struct wire_plan_view view;
	struct plan_copy copy;
	json_t *object;
	int r;

	r = wire_open_plan(&view, plan->data, plan->len);
	if (r == 0)
		r = plan_copy_view(&copy, &view);
	if (r < 0)
		return r;
	object = object_of(&copy.plan, digest, base);
	plan_copy_clear(&copy);
	*text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (*text == NULL)
		return -ENOMEM;
	*len = strlen(*text);
	return 0;
}
