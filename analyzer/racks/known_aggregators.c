#define HASH_NONFATAL_OOM 1
#include "analyzer/racks/known_aggregators.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include <jansson.h>

#include "rackmesh/incident/incident_file.h"

#define KEY_BYTES (2 * RM_NAME_BYTES)

struct node {
	struct known_aggregator aggregator; /* first */
	char key[KEY_BYTES];
	size_t place; /* in known.list */
	UT_hash_handle hh;
};

struct known {
	struct rm_incident_file *file; /* NULL: the list is not saved */
	struct node *list[KNOWN_MAX];
	size_t count;
	struct node *by_key;
	bool is_dirty;
};

static void
node_free(struct known *known, struct node *node)
{
	HASH_DEL(known->by_key, node);
	known->list[node->place] = known->list[--known->count];
	known->list[node->place]->place = node->place;
	free(node->aggregator.tors);
	free(node);
}

static int
node_get(struct known *known, const char *region, const char *name, struct node **ret)
{
	char key[KEY_BYTES];
	struct node *node = NULL;

	snprintf(key, sizeof(key), "%s|%s", region, name);
	HASH_FIND_STR(known->by_key, key, node);
	if (node == NULL) {
		if (known->count == KNOWN_MAX)
			return -ENOBUFS;
		node = calloc(1, sizeof(*node));
		if (node == NULL)
			return -ENOMEM;
		strcpy(node->key, key);
		strcpy(node->aggregator.region, region);
		strcpy(node->aggregator.name, name);
		HASH_ADD_STR(known->by_key, key, node);
		if (node->hh.tbl == NULL) {
			free(node);
			return -ENOMEM;
		}
		node->place = known->count;
		known->list[known->count++] = node;
	}
	*ret = node;
	return 0;
}

int
known_seen(struct known *known, const char *region, const char *name,
    char (*tors)[RM_NAME_BYTES], size_t tor_count, rm_wall_t now)
{
	char(*copy)[RM_NAME_BYTES] = calloc(tor_count + 1, sizeof(*copy));
	struct node *node = NULL;
	int r = -ENOMEM;

	if (copy != NULL)
		r = node_get(known, region, name, &node);
	if (r < 0) {
		free(copy);
		return r;
	}
	memcpy(copy, tors, tor_count * sizeof(*copy));
	free(node->aggregator.tors);
	node->aggregator.tors = copy;
	node->aggregator.tor_count = tor_count;
	node->aggregator.last_seen = now;
	known->is_dirty = true;
	return 0;
}

void
known_left(struct known *known, const char *region, const char *name)
{
	for (size_t i = known->count; i-- > 0;) {
		const struct known_aggregator *is = &known->list[i]->aggregator;

		if (strcmp(is->region, region) != 0 || strcmp(is->name, name) != 0)
			continue;
		node_free(known, known->list[i]);
		known->is_dirty = true;
	}
}

/* ---- the file ------------------------------------------------------------------- */

static bool
is_name(const json_t *json)
{
	return json_is_string(json) && rm_name_valid(json_string_value(json));
}

/* Adds an entry of the file. False: a field is missing or out of range, or memory ran
 * out. */
static bool
take(struct known *known, const json_t *entry)
{
	const json_t *region = json_object_get(entry, "region");
	const json_t *name = json_object_get(entry, "aggregator");
	const json_t *list = json_object_get(entry, "tors");
	const json_t *last_seen = json_object_get(entry, "heard_s");
	char tors[WIRE_MAX_TORS][RM_NAME_BYTES];
	json_int_t last_seen_s = json_integer_value(last_seen);
	size_t count = json_array_size(list);

	if (!is_name(region) || !is_name(name) || count > WIRE_MAX_TORS ||
	    last_seen_s < 0 || last_seen_s > INT64_MAX / RM_NS_PER_S)
		return false;
	for (size_t i = 0; i < count; i++) {
		const json_t *tor = json_array_get(list, i);

		if (!is_name(tor))
			return false;
		strcpy(tors[i], json_string_value(tor));
	}
	return known_seen(known, json_string_value(region), json_string_value(name),
		   tors, count, (rm_wall_t){ last_seen_s * RM_NS_PER_S }) == 0;
}

static void
forget(struct known *known, rm_wall_t now, int64_t forget_ns)
{
	for (size_t i = known->count; i-- > 0;) {
		if (now.ns - known->list[i]->aggregator.last_seen.ns <= forget_ns)
			continue;
		node_free(known, known->list[i]);
		known->is_dirty = true;
	}
}

void
known_load(struct known *known, rm_wall_t now, int64_t forget_ns)
{
	json_t *saved, *list, *entry;
	size_t i;

	if (known->file == NULL)
		return;
	saved = rm_incident_file_load(known->file);
	list = json_object_get(saved, "aggregators");
	json_array_foreach (list, i, entry)
		take(known, entry);
	json_decref(saved);
	forget(known, now, forget_ns);
	known->is_dirty = false;
}

static json_t *
entry_json(const struct known_aggregator *aggregator)
{
	json_t *tors = json_array();

	for (size_t i = 0; i < aggregator->tor_count; i++)
		json_array_append_new(tors, json_string(aggregator->tors[i]));
	return json_pack("{s:s, s:s, s:o, s:I}", "region", aggregator->region,
	    "aggregator", aggregator->name, "tors", tors, "heard_s",
	    (json_int_t)(aggregator->last_seen.ns / RM_NS_PER_S));
}

void
known_keep(struct known *known, rm_wall_t now, int64_t forget_ns)
{
	json_t *list;

	forget(known, now, forget_ns);
	if (known->file == NULL ||
	    !(known->is_dirty || rm_incident_file_behind(known->file)))
		return;
	list = json_array();
	for (size_t i = 0; i < known->count; i++)
		json_array_append_new(list, entry_json(&known->list[i]->aggregator));
	rm_incident_file_save(known->file, json_pack("{s:o}", "aggregators", list));
	known->is_dirty = false;
}

/* ---- creation and end ---- */

size_t
known_count(const struct known *known)
{
	return known->count;
}

const struct known_aggregator *
known_get(const struct known *known, size_t i)
{
	return &known->list[i]->aggregator;
}

int
known_new(struct rm_worker *worker, const char *path, struct known **ret)
{
	struct known *known = calloc(1, sizeof(*known));
	int r = 0;

	if (known == NULL)
		return -ENOMEM;
	if (path[0] != '\0')
		r = rm_incident_file_new(worker, path, &known->file);
	if (r < 0) {
		known_free(known);
		return r;
	}
	*ret = known;
	return 0;
}

void
known_free(struct known *known)
{
	if (known == NULL)
		return;
	while (known->count > 0)
		node_free(known, known->list[known->count - 1]);
	rm_incident_file_free(known->file);
	free(known);
}
