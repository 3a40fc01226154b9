#include "region-controller/etcd/store_etcd_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/store/hash.h"
#include "region-controller/store/store_json.h"

void
store_key(
    char ret[STORE_KEY_BYTES], const char *region, const char *kind, const char *name)
{
	snprintf(ret, STORE_KEY_BYTES, "/rackmesh/%s/%s%s", region, kind, name);
}

const char *
store_key_rest(const char *region, const char *key)
{
	char prefix[STORE_KEY_BYTES];
	size_t len;

	store_key(prefix, region, "", "");
	len = strlen(prefix);
	return strncmp(prefix, key, len) == 0 ? key + len : NULL;
}

/* Takes ownership of object. */
static int
dump(json_t *object, char **text)
{
	char *dumped = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	if (dumped == NULL)
		return -ENOMEM;
	*text = dumped;
	return 0;
}

/* ---- registrations ---- */

static json_t *
object_of_rnic(const struct wire_rnic *rnic)
{
	json_t *object = json_object();

	store_json_set_rnic(object, rnic);
	store_json_set_shared(object, rnic);
	return object;
}

int
store_rnic_write(const struct store_rnic *rnic, char **text)
{
	json_t *object = object_of_rnic(&rnic->rnic);

	json_object_set_new(object, "aggregator", json_string(rnic->aggregator));
	json_object_set_new(object, "registered", store_json_of_wall(rnic->registered));
	return dump(object, text);
}

int
store_rnic_read(const char *text, size_t len, struct rm_rnic_id id, json_t **object,
    struct store_rnic *ret, struct rm_error *error)
{
	static const char *const keys[] = { "id", "host", "device", "driver", "tors",
		"plane", "addresses", "qpn", "large_qpn", "lid", "link", "mtu_bytes",
		"authenticates", "incarnation", "aggregator", "registered", NULL };
	struct store_json in = { .error = error };
	json_t *read = store_json_open(&in, text, len);
	struct store_rnic rnic;

	if (read == NULL)
		return in.r;
	store_json_only(&in, read, keys);
	store_json_rnic(&in, read, read, &rnic.rnic);
	rnic.aggregator = store_json_text(&in, read, "aggregator", "");
	rnic.registered = store_json_wall(&in, read, "registered");
	if (rnic.rnic.id.guid != id.guid || rnic.rnic.id.port != id.port)
		store_json_refuse(&in, "id", "it differs from the one in the key");
	if (in.r < 0) {
		json_decref(read);
		return in.r;
	}
	*object = read;
	*ret = rnic;
	return 0;
}

int
store_rnic_hash(const struct store_rnic *rnic, uint64_t *hash)
{
	char *text;
	int r;

	r = dump(object_of_rnic(&rnic->rnic), &text);
	if (r < 0)
		return r;
	*hash = hash_bytes(text, strlen(text));
	free(text);
	return 0;
}

/* ---- the brake ---- */

int
store_brake_write(const struct store_brake *brake, uint64_t base, char **text)
{
	json_t *object = json_object();

	json_object_set_new(
	    object, "rate_permille", json_integer(brake->rate_permille));
	json_object_set_new(object, "by", json_string(brake->by));
	json_object_set_new(object, "when", store_json_of_wall(brake->when));
	json_object_set_new(object, "base", json_integer((json_int_t)base));
	return dump(object, text);
}

int
store_brake_read(const char *text, size_t len, uint64_t revision, json_t **object,
    struct store_brake *ret, struct rm_error *error)
{
	static const char *const keys[] = { "rate_permille", "by", "when", "base",
		NULL };
	struct store_json in = { .error = error };
	json_t *read = store_json_open(&in, text, len);
	struct store_brake brake;

	if (read == NULL)
		return in.r;
	store_json_only(&in, read, keys);
	if (json_object_get(read, "rate_permille") == NULL)
		store_json_refuse(&in, "rate_permille", "it is missing");
	brake.rate_permille =
	    (uint32_t)store_json_number(&in, read, "rate_permille", 1000);
	brake.by = store_json_text(&in, read, "by", "");
	brake.when = store_json_wall(&in, read, "when");
	brake.version = store_json_number(&in, read, "base", INT64_MAX / 2) + revision;
	if (in.r < 0) {
		json_decref(read);
		return in.r;
	}
	*object = read;
	*ret = brake;
	return 0;
}

/* ---- the leader ---- */

int
store_leader_write(const char *name, const char *keys, char **text)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(name));
	if (keys[0] != '\0')
		json_object_set_new(object, "keys", json_string(keys));
	return dump(object, text);
}

void
store_leader_read(const char *text, size_t len, struct store_leader *ret)
{
	struct store_json in = { 0 };
	json_t *object = store_json_open(&in, text, len);
	const char *name =
	    object == NULL ? "" : store_json_text(&in, object, "name", "");
	const char *keys =
	    object == NULL ? "" : store_json_text(&in, object, "keys", "");

	*ret = (struct store_leader){ .name = "" };
	if (rm_name_valid(name))
		memcpy(ret->name, name, strlen(name));
	if (strlen(keys) < sizeof(ret->keys))
		memcpy(ret->keys, keys, strlen(keys));
	json_decref(object);
}

/* ---- controllers that run ---- */

int
store_controller_write(const char *software, char **text)
{
	json_t *object = json_object();

	json_object_set_new(object, "version", json_string(software));
	return dump(object, text);
}

void
store_controller_read(const char *text, size_t len, char software[RM_VERSION_BYTES])
{
	struct store_json in = { 0 };
	json_t *object = store_json_open(&in, text, len);

	rm_version_take(software,
	    object == NULL ? "" : store_json_text(&in, object, "version", ""));
	json_decref(object);
}
