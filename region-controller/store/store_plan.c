#include "region-controller/store/store_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"
#include "region-controller/store/plan_copy.h"
#include "region-controller/store/store_json.h"
#include "region-controller/topology/rnic_address.h"
#include "schemas/wire/text.h"

/* An entry's mix (classes and sizes) is compared with this many of the last mixes:
 * nearly always it is one of these. */
#define MIXES_COMPARED 8

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

/* Returns the index of the entry's mix in mixes; a new mix is appended. */
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
	    object, "kind", json_string(wire_probe_kind_str(entry->kind)));
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

/* Makes the list of aliases, switch by switch. */
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

/* Values that many RNICs have in common, written once each, in the order of their first
 * use. */
struct shares {
	json_t *list;
	json_t *places; /* a value as text -> its index in list */
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
	if (plan->probe_timeout_ms != 0) /* older controllers do not write it */
		json_object_set_new(
		    object, "probe_timeout_ms", json_integer(plan->probe_timeout_ms));
	json_object_set_new(object, "mesh", mesh_of(&plan->mesh));
	json_object_set_new(
	    object, "members", rnics_of(plan->members, plan->member_count, &shares));
	json_object_set_new(
	    object, "foreigners", rnics_of(plan->remotes, plan->remote_count, &shares));
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

#define MAX_SHARES (WIRE_MAX_MEMBERS + WIRE_MAX_REMOTES)

static size_t
read_u16s(struct store_json *in, const json_t *object, const char *key, uint16_t *ret,
    size_t max)
{
	size_t count;
	const json_t *list = store_json_list(in, object, key, max, &count);

	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t number = json_integer_value(item);

		if (!json_is_integer(item) || number < 0 || number > UINT16_MAX)
			store_json_refuse(in, key, "expected numbers up to 65535");
		else
			ret[i] = (uint16_t)number;
	}
	return count;
}

static size_t
read_dscps(struct store_json *in, const json_t *object, uint8_t *ret)
{
	uint16_t wide[WIRE_MAX_CLASSES] = { 0 };
	size_t count = read_u16s(in, object, "dscps", wide, WIRE_MAX_CLASSES);

	for (size_t i = 0; i < count; i++) {
		if (wide[i] > UINT8_MAX)
			store_json_refuse(in, "dscps", "expected numbers up to 255");
		ret[i] = (uint8_t)wide[i];
	}
	return count;
}

static void
read_mesh(struct store_json *in, const json_t *object, struct plan_copy_mix *mix,
    struct wire_mesh *ret)
{
	static const char *const keys[] = { "dscps", "sizes_bytes", "peers",
		"interval_us", "rotation_s", "source_ports", "sl", NULL };

	if (!json_is_object(object)) {
		store_json_refuse(in, "mesh", "expected an object");
		return;
	}
	store_json_only(in, object, keys);
	*ret = (struct wire_mesh){
		.peers = (uint32_t)store_json_number(in, object, "peers", UINT32_MAX),
		.interval_us =
		    (uint32_t)store_json_number(in, object, "interval_us", UINT32_MAX),
		.rotation_s =
		    (uint32_t)store_json_number(in, object, "rotation_s", UINT32_MAX),
		.sl = (uint8_t)store_json_number(in, object, "sl", WIRE_MAX_SL),
		.flows = mix->flows,
		.dscps = mix->dscps,
		.sizes = mix->sizes,
	};
	ret->flow_count =
	    read_u16s(in, object, "source_ports", mix->flows, WIRE_MAX_FLOWS);
	ret->dscp_count = read_dscps(in, object, mix->dscps);
	ret->size_count =
	    read_u16s(in, object, "sizes_bytes", mix->sizes, WIRE_MAX_SIZES);
}

static enum wire_probe_kind
read_kind(struct store_json *in, const json_t *object)
{
	const char *name = store_json_text(in, object, "kind", NULL);

	for (unsigned i = 0; i < WIRE_PROBE_KINDS; i++) {
		if (strcmp(name, wire_probe_kind_str(i)) == 0)
			return (enum wire_probe_kind)i;
	}
	store_json_refuse(in, "kind", "expected a kind of probe");
	return WIRE_TOR_MESH;
}

static void
read_entry(struct store_json *in, const json_t *object, const json_t *mixes,
    struct plan_copy_mix *room, struct wire_plan_entry *ret)
{
	static const char *const keys[] = { "from", "to", "kind", "interval_us",
		"paired", "source_ports", "mix", "sl", NULL };
	const json_t *mix;

	if (!json_is_object(object)) {
		store_json_refuse(in, "entries", "expected objects");
		return;
	}
	store_json_only(in, object, keys);
	*ret = (struct wire_plan_entry){
		.src = (uint32_t)store_json_number(in, object, "from", UINT32_MAX),
		.dst = (uint32_t)store_json_number(in, object, "to", UINT32_MAX),
		.kind = read_kind(in, object),
		.interval_us =
		    (uint32_t)store_json_number(in, object, "interval_us", UINT32_MAX),
		.paired = store_json_flag(in, object, "paired"),
		.sl = (uint8_t)store_json_number(in, object, "sl", WIRE_MAX_SL),
		.flows = room->flows,
		.dscps = room->dscps,
		.sizes = room->sizes,
	};
	ret->flow_count =
	    read_u16s(in, object, "source_ports", room->flows, WIRE_MAX_FLOWS);
	mix = json_array_get(
	    mixes, store_json_number(in, object, "mix", WIRE_MAX_ENTRIES));
	if (!json_is_object(mix)) {
		store_json_refuse(in, "mix", "expected the index of a mix");
		return;
	}
	ret->dscp_count = read_dscps(in, mix, room->dscps);
	ret->size_count =
	    read_u16s(in, mix, "sizes_bytes", room->sizes, WIRE_MAX_SIZES);
}

/* Returns the number of aliases of all switches. */
static size_t
count_aliases(struct store_json *in, const json_t *object)
{
	size_t switches, total = 0;
	const json_t *list =
	    store_json_list(in, object, "aliases", WIRE_MAX_ALIASES, &switches);

	for (size_t i = 0; i < switches; i++)
		total += json_array_size(
		    json_object_get(json_array_get(list, i), "addresses"));
	if (total > WIRE_MAX_ALIASES)
		store_json_refuse(in, "aliases", "too many");
	return total;
}

static void
read_aliases(struct store_json *in, const json_t *object, struct plan_copy *copy)
{
	const json_t *list = json_object_get(object, "aliases");
	size_t done = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *sw = json_array_get(list, i);
		const char *name = store_json_text(in, sw, "switch", NULL);
		const json_t *addresses = json_object_get(sw, "addresses");

		for (size_t k = 0; k < json_array_size(addresses); k++) {
			const char *text =
			    json_string_value(json_array_get(addresses, k));
			struct wire_alias *alias = &copy->aliases[done++];

			alias->switch_name = name;
			if (text == NULL ||
			    rnic_address_parse(text, &alias->address) < 0)
				store_json_refuse(in, "aliases", "expected addresses");
		}
	}
}

static void
read_rnics(struct store_json *in, const json_t *list, const json_t *shares,
    struct wire_rnic *ret)
{
	static const char *const keys[] = { "id", "host", "device", "addresses", "qpn",
		"large_qpn", "lid", "link", "authenticates", "incarnation", "of",
		NULL };

	for (size_t i = 0; i < json_array_size(list) && in->r == 0; i++) {
		const json_t *object = json_array_get(list, i);
		uint64_t place = store_json_number(in, object, "of", MAX_SHARES);

		store_json_only(in, object, keys);
		store_json_rnic(in, object, json_array_get(shares, place), &ret[i]);
	}
}

/* Reads everything except version and digest. *copy borrows from object and from *mesh,
 * and the caller clears it. */
static void
read_plan(struct store_json *in, const json_t *object, struct plan_copy_mix *mesh,
    struct plan_copy *copy)
{
	const json_t *members, *remotes, *shares, *entries, *mixes;
	struct wire_plan *plan = &copy->plan;
	size_t mix_count, share_count;

	plan->region = store_json_text(in, object, "region", NULL);
	plan->tor = store_json_text(in, object, "tor", NULL);
	plan->plane = store_json_text(in, object, "plane", "");
	read_mesh(in, json_object_get(object, "mesh"), mesh, &plan->mesh);
	if (json_object_get(object, "probe_timeout_ms") != NULL)
		plan->probe_timeout_ms = (uint32_t)store_json_number(
		    in, object, "probe_timeout_ms", WIRE_MAX_PROBE_TIMEOUT_MS);
	members = store_json_list(
	    in, object, "members", WIRE_MAX_MEMBERS, &plan->member_count);
	remotes = store_json_list(
	    in, object, "foreigners", WIRE_MAX_REMOTES, &plan->remote_count);
	entries = store_json_list(
	    in, object, "entries", WIRE_MAX_ENTRIES, &plan->entry_count);
	mixes = store_json_list(in, object, "mixes", WIRE_MAX_ENTRIES, &mix_count);
	shares = store_json_list(in, object, "shared", MAX_SHARES, &share_count);
	plan->alias_count = count_aliases(in, object);
	if (in->r == 0 && plan_copy_make(copy, true) < 0)
		in->r = rm_error_set(in->error, -ENOMEM, "out of memory");
	if (in->r < 0)
		return;
	read_rnics(in, members, shares, copy->members);
	read_rnics(in, remotes, shares, copy->remotes);
	for (size_t i = 0; i < plan->entry_count && in->r == 0; i++)
		read_entry(in, json_array_get(entries, i), mixes, &copy->mixes[i],
		    &copy->entries[i]);
	read_aliases(in, object, copy);
}

static int
stamp_plan(struct store_json *in, struct plan_copy *copy, struct wire_writer *writer,
    struct wire_bytes *out)
{
	uint64_t found = 0;
	int r;

	r = plan_copy_digest(copy, writer, &found);
	if (r == 0 && found != copy->plan.digest)
		return rm_error_set(in->error, -EBADMSG,
		    "digest: it does not match this plan; was the plan changed by "
		    "hand?");
	if (r == 0)
		r = wire_write_plan(writer, &copy->plan, out);
	return r == -EINVAL || r == -EMSGSIZE
		   ? rm_error_set(in->error, -EBADMSG, "entries: out of bounds")
		   : r;
}

int
store_plan_read(const char *text, size_t len, uint64_t revision,
    struct wire_writer *writer, struct store_plan_read *ret, struct wire_bytes *out,
    struct rm_error *error)
{
	static const char *const keys[] = { "region", "tor", "plane", "digest", "base",
		"mesh", "members", "foreigners", "shared", "mixes", "entries",
		"aliases", "probe_timeout_ms", NULL };
	struct store_json in = { .error = error };
	json_t *object = store_json_open(&in, text, len);
	struct plan_copy copy = { 0 };
	struct plan_copy_mix mesh;

	if (object == NULL)
		return in.r;
	store_json_only(&in, object, keys);
	read_plan(&in, object, &mesh, &copy);
	copy.plan.digest = store_json_hex(&in, object, "digest");
	copy.plan.version =
	    store_json_number(&in, object, "base", INT64_MAX / 2) + revision;
	if (!rm_name_valid(copy.plan.tor))
		store_json_refuse(&in, "tor", RM_NAME_EXPECTED);
	if (in.r == 0)
		in.r = stamp_plan(&in, &copy, writer, out);
	if (in.r == 0) {
		*ret = (struct store_plan_read){ .version = copy.plan.version,
			.digest = copy.plan.digest };
		strcpy(ret->tor, copy.plan.tor);
	}
	plan_copy_clear(&copy);
	json_decref(object);
	return in.r;
}
