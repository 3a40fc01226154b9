#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/query.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
	{ "DEVICE", "device", COLUMN_TEXT },
	{ ">PORT", "port", COLUMN_NUMBER },
	{ "COUNTER", "name", COLUMN_TEXT },
	{ ">INDEX", "index", COLUMN_NUMBER },
	{ ">TOTAL", "total", COLUMN_NUMBER },
	{ ">LAST", "delta", COLUMN_NUMBER },
	{ "UNIT", "unit", COLUMN_TEXT },
	{ 0 },
};

/* Counters at 0 are left out, unless all were asked for. */
static bool
is_wanted(const json_t *counter, bool all)
{
	return all || json_integer_value(json_object_get(counter, "total")) != 0;
}

/* Returns the counter as a row of the table. of: the port that has the counter. */
static json_t *
row_of(const json_t *of, const json_t *counter)
{
	json_t *row = show_counter(counter);
	json_t *index = json_object_get(row, "priority");

	json_object_set(row, "device", json_object_get(of, "device"));
	json_object_set(row, "port", json_object_get(of, "port"));
	json_object_set(
	    row, "index", index != NULL ? index : json_object_get(row, "lane"));
	return row;
}

static void
add_port(json_t *rows, const json_t *port, bool all)
{
	const char *device = json_string_value(json_object_get(port, "device"));
	const char *error = json_string_value(json_object_get(port, "error"));
	const json_t *counter;
	size_t i;

	if (error != NULL)
		fprintf(stderr, "rackmeshctl: %s: %s\n", device == NULL ? "?" : device,
		    error);
	json_array_foreach (json_object_get(port, "counters"), i, counter) {
		json_t *row = row_of(port, counter);

		if (is_wanted(row, all))
			json_array_append(rows, row);
		json_decref(row);
	}
}

static int
show(const json_t *answer, const struct query *query)
{
	const json_t *ports = json_object_get(answer, "ports"), *port;
	const char *device = query->filters[0];
	json_t *rows = json_array();
	size_t i;
	int r;

	if (json_is_false(json_object_get(answer, "enabled")))
		fprintf(stderr, "rackmeshctl: the agent does not read counters: see "
				"counters.enabled in its config\n");
	json_array_foreach (ports, i, port) {
		const char *name = json_string_value(json_object_get(port, "device"));

		if (device == NULL || (name != NULL && strcmp(name, device) == 0))
			add_port(rows, port, query->all);
	}
	r = query_rows(query, columns, rows);
	json_decref(rows);
	return r;
}

int
ctl_counters(const struct ctl *ctl)
{
	struct query query = { "/v1/counters", "ports", 0, { "device" } };

	return query_arguments(&query, ctl, "counters [DEVICE] [--all]")
		   ? query_show(&query, ctl, ctl->agent, show)
		   : CTL_USAGE;
}
