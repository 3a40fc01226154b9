#include "region-controller/store/store_topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/store/store_json.h"
#include "region-controller/topology/traced.h"

int
store_topology_read(struct store_topology *ret, const char *name, const char *region,
    const char *text, size_t len, struct rm_error *error)
{
	struct store_topology fresh = { .len = len };
	int r;

	if (len > STORE_TOPOLOGY_MAX_BYTES)
		return rm_error_set(error, -EFBIG, "%s: larger than %u MiB", name,
		    STORE_TOPOLOGY_MAX_BYTES >> 20);
	r = rm_topology_parse(name, text, len, &fresh.topology, error);
	if (r < 0)
		return r;
	if (strcmp(rm_topology_region(fresh.topology), region) != 0)
		r = rm_error_set(error, -EINVAL,
		    "%s: it is the topology of region \"%s\", and this controller's is "
		    "\"%s\"; correct one of the two",
		    name, rm_topology_region(fresh.topology), region);
	if (r == 0) {
		fresh.text = malloc(len + 1);
		if (fresh.text == NULL)
			r = rm_error_set(error, -ENOMEM, "%s: out of memory", name);
	}
	if (r < 0) {
		store_topology_clear(&fresh);
		return r;
	}
	memcpy(fresh.text, text, len);
	fresh.text[len] = '\0';
	*ret = fresh;
	return 0;
}

void
store_topology_clear(struct store_topology *topology)
{
	rm_topology_free(topology->topology);
	free(topology->text);
	*topology = (struct store_topology){ 0 };
}

int
store_traced_write(const struct traced_link *link, char **text)
{
	json_t *object = json_object();
	char *dumped;

	json_object_set_new(object, "from", json_string(link->from));
	json_object_set_new(object, "to", json_string(link->to));
	json_object_set_new(object, "address", json_string(link->address));
	json_object_set_new(object, "by", json_string(link->by));
	json_object_set_new(object, "first_seen", store_json_of_wall(link->first_seen));
	json_object_set_new(object, "last_seen", store_json_of_wall(link->last_seen));
	dumped = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (dumped == NULL)
		return -ENOMEM;
	*text = dumped;
	return 0;
}

static void
read_text(struct store_json *in, const json_t *object, const char *key, size_t size,
    char *ret)
{
	const char *text = store_json_text(in, object, key, NULL);

	if (strlen(text) >= size)
		store_json_refuse(in, key, "it is too long");
	else
		strcpy(ret, text);
}

int
store_traced_read(const char *name, const char *text, size_t len,
    struct traced_link *ret, struct rm_error *error)
{
	static const char *const keys[] = { "from", "to", "address", "by", "first_seen",
		"last_seen", NULL };
	struct store_json in = { .error = error };
	json_t *object = store_json_open(&in, text, len);
	struct traced_link link = { .from = "" };
	char named[2 * TRACED_NODE_BYTES + 2];

	if (object == NULL)
		return in.r;
	store_json_only(&in, object, keys);
	read_text(&in, object, "from", sizeof(link.from), link.from);
	read_text(&in, object, "to", sizeof(link.to), link.to);
	read_text(&in, object, "address", sizeof(link.address), link.address);
	read_text(&in, object, "by", sizeof(link.by), link.by);
	link.first_seen = store_json_wall(&in, object, "first_seen");
	link.last_seen = store_json_wall(&in, object, "last_seen");
	snprintf(named, sizeof(named), "%s/%s", link.from, link.to);
	if (in.r == 0 && strcmp(named, name) != 0)
		store_json_refuse(&in, "from", "the key names another link");
	if (in.r == 0 && !traced_link_valid(&link))
		store_json_refuse(&in, "address", "a name or an address is not valid");
	json_decref(object);
	if (in.r == 0)
		*ret = link;
	return in.r;
}
