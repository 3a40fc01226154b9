#include "region-controller/api/versions_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/version.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/api/api_context.h"
#include "region-controller/api/controller_show.h"
#include "region-controller/store/store.h"

struct row { /* the strings are borrowed from the sessions */
	enum wire_component component;
	const char *name, *software;
	rm_wall_t since;
	bool connected, by_itself;
	enum { STANDBY_NO, STANDBY_YES, STANDBY_UNKNOWN } standby;
};

struct rows {
	struct row *items;
	size_t count;
};

static const char *
component_str(enum wire_component component)
{
	static const char *const names[] = {
		[WIRE_COMPONENT_AGENT] = "host-agent",
		[WIRE_COMPONENT_AGGREGATOR] = "tor-aggregator",
		[WIRE_COMPONENT_CONTROLLER] = "region-controller",
		[WIRE_COMPONENT_ANALYZER] = "analyzer",
	};

	return names[component];
}

json_t *
versions_json_text(const char *software)
{
	return software[0] != '\0' ? json_string(software) : json_null();
}

/* ---- the rows -------------------------------------------------------------------- */

static void
add_reported(struct rows *rows, const struct aggregators_session *session)
{
	const size_t count =
	    session->versions_bytes == NULL ? 0 : session->versions.peer_count;

	for (size_t i = 0; i < count; i++) {
		struct wire_version peer;

		wire_versions_peer(&session->versions, i, &peer);
		if (!rm_name_valid(peer.name))
			continue;
		rows->items[rows->count++] = (struct row){ .component = peer.component,
			.name = peer.name,
			.software =
			    rm_version_valid(peer.software) ? peer.software : "",
			.since = { (int64_t)(peer.since_s % UINT32_MAX) * RM_NS_PER_S },
			.connected = peer.connected };
	}
}

static void
add_controllers(struct rows *rows, const struct api_context *context,
    const struct store_controller *controllers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(controllers[i].name, context->name) != 0)
			rows->items[rows->count++] = (struct row){
				.component = WIRE_COMPONENT_CONTROLLER,
				.name = controllers[i].name,
				.software = controllers[i].software,
				.since = controllers[i].since,
				.by_itself = true,
				.standby = STANDBY_YES,
			};
}

static int
collect(const struct api_context *context, struct rows *rows)
{
	const struct aggregators_session *session;
	const struct store_controller *controllers = NULL;
	const size_t controller_count = store_controllers(context->store, &controllers);
	size_t room = 1 + controller_count;

	for (size_t i = 0; (session = aggregators_get(context->aggregators, i)) != NULL;
	     i++)
		room += 1 + (session->versions_bytes == NULL
				    ? 0
				    : session->versions.peer_count);
	rows->items = calloc(room, sizeof(*rows->items));
	if (rows->items == NULL)
		return -1;
	rows->items[rows->count++] =
	    (struct row){ WIRE_COMPONENT_CONTROLLER, context->name, RACKMESH_VERSION,
		    context->started, true, true, STANDBY_NO };
	add_controllers(rows, context, controllers, controller_count);
	for (size_t i = 0; (session = aggregators_get(context->aggregators, i)) != NULL;
	     i++) {
		if (!session->is_welcome)
			continue;
		rows->items[rows->count++] =
		    (struct row){ WIRE_COMPONENT_AGGREGATOR, session->name,
			    session->software, session->since, true, true, STANDBY_NO };
		add_reported(rows, session);
	}
	return 0;
}

/* Sorts by component, hosts first, and by name. If a daemon has several rows, the most
 * reliable one comes first. */
static int
compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int names = strcmp(left->name, right->name);

	if (left->component != right->component)
		return left->component < right->component ? -1 : 1;
	if (names != 0)
		return names;
	if (left->by_itself != right->by_itself)
		return left->by_itself ? -1 : 1;
	if (left->connected != right->connected)
		return left->connected ? -1 : 1;
	return (left->since.ns < right->since.ns) - (left->since.ns > right->since.ns);
}

static void
merge(struct rows *rows)
{
	size_t kept = 0;

	qsort(rows->items, rows->count, sizeof(*rows->items), compare);
	for (size_t i = 0; i < rows->count; i++)
		if (kept == 0 ||
		    rows->items[i].component != rows->items[kept - 1].component ||
		    strcmp(rows->items[i].name, rows->items[kept - 1].name) != 0)
			rows->items[kept++] = rows->items[i];
	rows->count = kept;
}

/* Handles a controller without a connection and without a key in etcd. If it has this
 * release, it has ended. If it has an older release, it may be a standby, because older
 * releases write no key. */
static void
find_unknown(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->items[i];

		if (row->component == WIRE_COMPONENT_CONTROLLER && !row->by_itself &&
		    !row->connected && strcmp(row->software, RACKMESH_VERSION) != 0)
			row->standby = STANDBY_UNKNOWN;
	}
}

/* ---- as JSON --------------------------------------------------------------------- */

static json_t *
show_row(const struct row *row)
{
	json_t *object = json_object();

	json_object_set_new(
	    object, "component", json_string(component_str(row->component)));
	json_object_set_new(object, "name", json_string(row->name));
	json_object_set_new(object, "version", versions_json_text(row->software));
	json_object_set_new(object, "since", show_wall(row->since));
	json_object_set_new(object, "connected", json_boolean(row->connected));
	json_object_set_new(object, "standby",
	    row->standby == STANDBY_UNKNOWN
		? json_null()
		: json_boolean(row->standby == STANDBY_YES));
	return object;
}

/* Returns the number of daemons of each release; "unknown" counts those that do not
 * report it. */
static json_t *
show_counts(const struct rows *rows)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < rows->count; i++) {
		const char *version = rm_version_show(rows->items[i].software);
		json_int_t before =
		    json_integer_value(json_object_get(counts, version));

		json_object_set_new(counts, version, json_integer(before + 1));
	}
	return counts;
}

json_t *
versions_json(const struct api_context *context)
{
	struct rows rows = { 0 };
	json_t *all, *list, *counts;

	if (collect(context, &rows) < 0)
		return NULL;
	merge(&rows);
	if (store_is_shared(context->store))
		find_unknown(&rows);
	all = json_object();
	list = json_array();
	for (size_t i = 0; i < rows.count; i++)
		json_array_append_new(list, show_row(&rows.items[i]));
	counts = show_counts(&rows);
	json_object_set_new(all, "controller", json_string(context->name));
	json_object_set_new(all, "region", json_string(context->region));
	json_object_set_new(all, "mixed", json_boolean(json_object_size(counts) > 1));
	json_object_set_new(all, "counts", counts);
	json_object_set_new(all, "versions", list);
	free(rows.items);
	return all;
}
