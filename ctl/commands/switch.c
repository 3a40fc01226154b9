#include <stdbool.h>
#include <stdio.h>

#include "ctl/client/ctl.h"
#include "ctl/client/query.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 2000 /* the daemon's limit for ports, queues and groups */

static const struct column columns[] = {
	{ "SWITCH", "switch", COLUMN_TEXT },
	{ "PORT", "port", COLUMN_TEXT },
	{ "NEIGHBOR", "neighbor", COLUMN_TEXT },
	{ "OF", "part", COLUMN_TEXT },
	{ ">INDEX", "index", COLUMN_NUMBER },
	{ "COUNTER", "name", COLUMN_TEXT },
	{ ">PRIORITY", "priority", COLUMN_NUMBER },
	{ ">TOTAL", "total", COLUMN_NUMBER },
	{ ">LAST", "delta", COLUMN_NUMBER },
	{ "UNIT", "unit", COLUMN_TEXT },
	{ 0 },
};

/* Returns the neighbour of a port as text, "h1/mlx5_0", or what LLDP has reported; new
 * reference. NULL: not known. */
static json_t *
neighbor_text(const json_t *object)
{
	const json_t *neighbor = json_object_get(object, "neighbor");
	const char *host = json_string_value(json_object_get(neighbor, "host")),
		   *device = json_string_value(json_object_get(neighbor, "device")),
		   *name = json_string_value(json_object_get(neighbor, "name")),
		   *port = json_string_value(json_object_get(neighbor, "port"));

	if (host != NULL && device != NULL)
		return json_sprintf("%s/%s", host, device);
	if (name == NULL || port == NULL)
		return NULL;
	return json_sprintf("%s%s%s", name, name[0] == '\0' ? "" : " ", port);
}

/* Codewords have a row for each number of errors. */
static void
add_errors(json_t *row, const json_t *counter)
{
	const json_t *errors = json_object_get(counter, "symbol_errors");
	const char *name = json_string_value(json_object_get(counter, "name"));

	if (json_is_integer(errors) && name != NULL)
		json_object_set_new(row, "name",
		    json_sprintf("%s of %lld errors", name,
			(long long)json_integer_value(errors)));
}

static void
add_object(json_t *rows, const char *name, const json_t *object)
{
	static const char *const of_object[] = { "port", "part", "index" };
	json_t *neighbor = neighbor_text(object);
	const json_t *counter;
	size_t i;

	json_array_foreach (json_object_get(object, "counters"), i, counter) {
		json_t *row = show_counter(counter);

		add_errors(row, counter);
		json_object_set_new(row, "switch", json_string(name));
		if (neighbor != NULL)
			json_object_set(row, "neighbor", neighbor);
		for (size_t k = 0; k < sizeof(of_object) / sizeof(of_object[0]); k++)
			json_object_set(
			    row, of_object[k], json_object_get(object, of_object[k]));
		json_array_append_new(rows, row);
	}
	json_decref(neighbor);
}

/* Prints which ASICs could not be read. False: there are such. */
static bool
show_asics(const char *what, const json_t *asics)
{
	char what_asic[256];
	const json_t *asic;
	bool up = true;
	size_t i;

	json_array_foreach (asics, i, asic) {
		const char *address =
		    json_string_value(json_object_get(asic, "address"));

		snprintf(what_asic, sizeof(what_asic), "%s, ASIC %s", what,
		    address == NULL ? "?" : address);
		up = show_reading(what_asic, asic) && up;
	}
	return up;
}

/* False: the values are old, or there are no values. */
static bool
add_switch(json_t *rows, const json_t *from)
{
	const char *tor = json_string_value(json_object_get(from, "tor")),
		   *name = json_string_value(json_object_get(from, "name"));
	const json_t *asics = json_object_get(from, "asics"), *object;
	char what[128];
	size_t i;

	if (name == NULL) /* an older aggregator reports no name */
		name = tor == NULL ? "?" : tor;
	snprintf(what, sizeof(what), "switch %s%s", tor == NULL ? "" : "of ", name);
	json_array_foreach (json_object_get(from, "objects"), i, object)
		add_object(rows, name, object);
	return asics != NULL ? show_asics(what, asics) : show_reading(what, from);
}

static int
show(const json_t *answer, const struct query *query)
{
	const json_t *switches = json_object_get(answer, "switches"), *each;
	json_t *rows;
	bool all_up = true;
	size_t i;
	int r;

	if (json_array_size(switches) == 0) {
		fprintf(stderr,
		    "rackmeshctl: the aggregator does not read this switch: "
		    "see tors[].switch.kind and switches[] in its config\n");
		all_up = query->filters[0] == NULL;
	}
	if (json_integer_value(json_object_get(answer, "object_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d ports and queues are shown: name "
		    "the switch and a port\n",
		    LIMIT);
	rows = json_array();
	json_array_foreach (switches, i, each)
		all_up = add_switch(rows, each) && all_up;
	if (query->filters[1] != NULL && all_up &&
	    json_integer_value(json_object_get(answer, "object_count")) == 0) {
		fprintf(stderr, "rackmeshctl: the switch %s has no port %s\n",
		    query->filters[0], query->filters[1]);
		all_up = false;
	}
	r = query_rows(query, columns, rows);
	json_decref(rows);
	return r == CTL_GOOD && !all_up ? CTL_PROBLEM : r;
}

int
ctl_switch(const struct ctl *ctl)
{
	struct query query = { "/v1/switches", "switches", LIMIT, { "tor", "port" } };

	return query_arguments(&query, ctl, "switch [SWITCH [PORT]] [--all]")
		   ? query_show(&query, ctl, ctl->aggregator, show)
		   : CTL_USAGE;
}
