#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
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

/* Those at 0 say nothing, unless asked for. */
static bool
is_wanted(const json_t *counter, bool all)
{
	return all || json_integer_value(json_object_get(counter, "total")) != 0;
}

/* As a row of the table. of: the device's own words. */
static json_t *
row_of(const json_t *of, const json_t *counter)
{
	static const char *const same[] = { "name", "total", "delta", "unit" };
	json_t *row = json_object();
	json_t *index = json_object_get(counter, "priority");

	json_object_set(row, "device", json_object_get(of, "device"));
	json_object_set(row, "port", json_object_get(of, "port"));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		json_object_set(row, same[i], json_object_get(counter, same[i]));
	/* A gauge has a value instead. */
	if (json_object_get(counter, "total") == NULL)
		json_object_set(row, "total", json_object_get(counter, "value"));
	json_object_set(
	    row, "index", index != NULL ? index : json_object_get(counter, "lane"));
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
show(const json_t *answer, const char *device, bool all)
{
	const json_t *ports = json_object_get(answer, "ports"), *port;
	json_t *rows = json_array();
	size_t i;
	int r;

	if (json_is_false(json_object_get(answer, "enabled")))
		fprintf(stderr,
		    "rackmeshctl: the agent reads no counters: counters.enabled\n");
	json_array_foreach (ports, i, port) {
		const char *name = json_string_value(json_object_get(port, "device"));

		if (device == NULL || (name != NULL && strcmp(name, device) == 0))
			add_port(rows, port, all);
	}
	r = columns_print(columns, rows);
	json_decref(rows);
	if (r < 0)
		fprintf(stderr, "rackmeshctl: the table cannot be made\n");
	return r < 0 ? CTL_NO_ANSWER : CTL_GOOD;
}

int
ctl_counters(const struct ctl *ctl)
{
	const char *device = NULL;
	bool all = false;
	json_t *answer = NULL;
	int r;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--all") == 0)
			all = true;
		else if (device == NULL && ctl->argv[i][0] != '-')
			device = ctl->argv[i];
		else
			return ctl_usage("expected: counters [DEVICE] [--all]");
	}
	r = request_get(ctl->agent, "/v1/counters", &answer);
	if (r < 0)
		return CTL_NO_ANSWER;
	if (!json_is_array(json_object_get(answer, "ports"))) {
		fprintf(stderr, "rackmeshctl: no counters in the agent's answer: an "
				"older release?\n");
		r = CTL_NO_ANSWER;
	} else if (ctl->json) {
		show_json(answer);
		r = CTL_GOOD;
	} else {
		r = show(answer, device, all);
	}
	json_decref(answer);
	return r;
}
