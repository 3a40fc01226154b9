#include "region-controller/store/store_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"
#include "region-controller/topology/rnic_address.h"
#include "schemas/wire/text.h"

#define SHOWN_BYTES 48 /* number of characters of a value that an error shows */
/* Limits of a time: seconds since the epoch that fit into nanoseconds. */
#define FIRST_YEAR (1970 - 1900)
#define LAST_YEAR (2261 - 1900)

/* ---- kinds ---------------------------------------------------------------------- */

void
store_json_refuse(struct store_json *in, const char *key, const char *expected)
{
	if (in->r == 0)
		in->r = rm_error_set(in->error, -EBADMSG, "%s: %s", key, expected);
}

json_t *
store_json_open(struct store_json *in, const char *text, size_t len)
{
	json_error_t error;
	json_t *object;

	object = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(object))
		return object;
	if (in->r == 0 && object == NULL)
		in->r = rm_error_set(in->error, -EBADMSG,
		    "line %d, column %d: not JSON: %s", error.line, error.column,
		    error.text);
	json_decref(object);
	store_json_refuse(in, "value", "expected a JSON object");
	return NULL;
}

void
store_json_only(struct store_json *in, const json_t *object, const char *const *keys)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		size_t i = 0;
		char shown[SHOWN_BYTES];

		while (keys[i] != NULL && strcmp(keys[i], key) != 0)
			i++;
		if (keys[i] != NULL)
			continue;
		snprintf(shown, sizeof(shown), "%s", key);
		store_json_refuse(in, shown, "unknown key");
		return;
	}
}

const char *
store_json_text(
    struct store_json *in, const json_t *object, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(object, key);

	if (value == NULL && fallback != NULL)
		return fallback;
	if (json_is_string(value) && json_string_length(value) < WIRE_MAX_STRING)
		return json_string_value(value);
	store_json_refuse(in, key, "expected a text");
	return "";
}

uint64_t
store_json_number(
    struct store_json *in, const json_t *object, const char *key, uint64_t max)
{
	const json_t *value = json_object_get(object, key);
	json_int_t number = json_integer_value(value);

	if (value == NULL)
		return 0;
	if (json_is_integer(value) && number >= 0 && (uint64_t)number <= max)
		return (uint64_t)number;
	store_json_refuse(in, key, "expected a whole number in range");
	return 0;
}

bool
store_json_flag(struct store_json *in, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (value != NULL && !json_is_boolean(value))
		store_json_refuse(in, key, "expected true or false");
	return json_is_true(value);
}

uint64_t
store_json_hex(struct store_json *in, const json_t *object, const char *key)
{
	const char *text = store_json_text(in, object, key, "0000000000000000");

	if (strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16)
		return strtoull(text, NULL, 16);
	store_json_refuse(in, key, "expected 16 hex digits");
	return 0;
}

rm_wall_t
store_json_wall(struct store_json *in, const json_t *object, const char *key)
{
	const char *text = store_json_text(in, object, key, ""), *rest;
	struct tm tm = { 0 };
	char again[RM_WALL_TEXT];
	rm_wall_t wall;

	if (text[0] == '\0')
		return (rm_wall_t){ 0 };
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S.", &tm);
	if (rest != NULL && strlen(rest) == 4 && tm.tm_year >= FIRST_YEAR &&
	    tm.tm_year <= LAST_YEAR) {
		wall.ns = (int64_t)timegm(&tm) * RM_NS_PER_S +
			  strtol(rest, NULL, 10) * RM_NS_PER_MS;
		rm_wall_format(wall, again);
		if (strcmp(text, again) == 0)
			return wall;
	}
	store_json_refuse(in, key, "expected a time like 2026-01-31T12:00:00.000Z");
	return (rm_wall_t){ 0 };
}

const json_t *
store_json_list(struct store_json *in, const json_t *object, const char *key,
    size_t max, size_t *count)
{
	const json_t *value = json_object_get(object, key);

	*count = 0;
	if (value == NULL)
		return NULL;
	if (json_is_array(value) && json_array_size(value) <= max) {
		*count = json_array_size(value);
		return value;
	}
	store_json_refuse(in, key, "expected a list that is not too long");
	return NULL;
}

json_t *
store_json_of_hex(uint64_t value)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	return json_string(text);
}

json_t *
store_json_of_wall(rm_wall_t wall)
{
	char text[RM_WALL_TEXT];

	rm_wall_format(wall, text);
	return json_string(text);
}

/* ---- an RNIC ---- */

static void
read_id(struct store_json *in, const json_t *object, struct wire_rnic_id *ret)
{
	struct rm_rnic_id id = { 0 };

	if (rm_rnic_id_parse(store_json_text(in, object, "id", NULL), &id) < 0)
		store_json_refuse(in, "id", "expected the id of an RNIC");
	*ret = (struct wire_rnic_id){ .guid = id.guid, .port = id.port };
}

static void
read_addresses(struct store_json *in, const json_t *object, struct wire_rnic *ret)
{
	const json_t *list = store_json_list(
	    in, object, "addresses", WIRE_MAX_ADDRESSES, &ret->address_count);

	for (size_t i = 0; i < ret->address_count; i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(item) ||
		    rnic_address_parse(json_string_value(item), &ret->addresses[i]) < 0)
			store_json_refuse(in, "addresses", "expected addresses");
	}
}

static uint8_t
read_link(struct store_json *in, const json_t *object)
{
	const char *name =
	    store_json_text(in, object, "link", wire_link_str(WIRE_LINK_UNKNOWN));

	for (unsigned i = WIRE_LINK_UNKNOWN; i <= WIRE_LINK_DOWN; i++) {
		if (strcmp(name, wire_link_str(i)) == 0)
			return (uint8_t)i;
	}
	store_json_refuse(in, "link", "expected up, down or unknown");
	return WIRE_LINK_UNKNOWN;
}

static void
read_shared(struct store_json *in, const json_t *shared, struct wire_rnic *ret)
{
	const json_t *list;

	ret->driver = store_json_text(in, shared, "driver", "");
	ret->plane = store_json_text(in, shared, "plane", "");
	ret->mtu_bytes =
	    (uint32_t)store_json_number(in, shared, "mtu_bytes", UINT32_MAX);
	list =
	    store_json_list(in, shared, "tors", WIRE_MAX_ATTACHMENTS, &ret->tor_count);
	for (size_t i = 0; i < ret->tor_count; i++) {
		const json_t *item = json_array_get(list, i);

		ret->tors[i] = json_is_string(item) ? json_string_value(item) : "";
		if (!json_is_string(item) ||
		    json_string_length(item) >= WIRE_MAX_STRING)
			store_json_refuse(in, "tors", "expected names");
	}
}

void
store_json_rnic(struct store_json *in, const json_t *object, const json_t *shared,
    struct wire_rnic *ret)
{
	*ret = (struct wire_rnic){ 0 };
	if (!json_is_object(object) || !json_is_object(shared)) {
		store_json_refuse(in, "rnic", "expected an object");
		return;
	}
	read_id(in, object, &ret->id);
	ret->host = store_json_text(in, object, "host", "");
	ret->device = store_json_text(in, object, "device", "");
	read_addresses(in, object, ret);
	ret->qpn = (uint32_t)store_json_number(in, object, "qpn", WIRE_MAX_QPN);
	ret->large_qpn =
	    (uint32_t)store_json_number(in, object, "large_qpn", WIRE_MAX_QPN);
	ret->lid = (uint16_t)store_json_number(in, object, "lid", UINT16_MAX);
	ret->link = read_link(in, object);
	ret->authenticates = store_json_number(in, object, "authenticates", 1) != 0;
	ret->incarnation = store_json_hex(in, object, "incarnation");
	read_shared(in, shared, ret);
}

static void
set_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_object_set_new(object, key, json_string(text));
}

static void
set_number(json_t *object, const char *key, uint64_t number)
{
	if (number != 0)
		json_object_set_new(object, key, json_integer((json_int_t)number));
}

void
store_json_set_rnic(json_t *object, const struct wire_rnic *rnic)
{
	char text[WIRE_ADDRESS_TEXT], id[RM_RNIC_ID_TEXT];
	json_t *list = json_array();

	rm_rnic_id_format((struct rm_rnic_id){ rnic->id.guid, rnic->id.port }, id);
	json_object_set_new(object, "id", json_string(id));
	set_text(object, "host", rnic->host);
	set_text(object, "device", rnic->device);
	for (size_t i = 0; i < rnic->address_count; i++) {
		wire_address_format(&rnic->addresses[i], text);
		json_array_append_new(list, json_string(text));
	}
	json_object_set_new(object, "addresses", list);
	set_number(object, "qpn", rnic->qpn);
	set_number(object, "large_qpn", rnic->large_qpn);
	set_number(object, "lid", rnic->lid);
	set_number(object, "authenticates", rnic->authenticates);
	if (rnic->link != WIRE_LINK_UNKNOWN)
		set_text(object, "link", wire_link_str(rnic->link));
	if (rnic->incarnation != 0)
		json_object_set_new(
		    object, "incarnation", store_json_of_hex(rnic->incarnation));
}

void
store_json_set_shared(json_t *object, const struct wire_rnic *rnic)
{
	json_t *list = json_array();

	set_text(object, "driver", rnic->driver);
	for (size_t i = 0; i < rnic->tor_count; i++)
		json_array_append_new(list, json_string(rnic->tors[i]));
	json_object_set_new(object, "tors", list);
	set_text(object, "plane", rnic->plane);
	set_number(object, "mtu_bytes", rnic->mtu_bytes);
}
