#include <stdio.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
	{ "COMPONENT", "component", COLUMN_TEXT },
	{ "NAME", "name", COLUMN_TEXT },
	{ "VERSION", "version", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ "CONNECTED", "connected", COLUMN_TEXT },
	{ 0 },
};

/* A standby controller has no connections, and needs none. null: the controller has
 * another release, and may be a standby. */
static const char *
connected_str(const json_t *row)
{
	const json_t *standby = json_object_get(row, "standby");

	if (json_is_true(standby))
		return "standby";
	if (json_is_null(standby))
		return "unknown";
	return json_is_true(json_object_get(row, "connected")) ? "yes" : "no";
}

/* Sets the texts of columns. */
static void
set_texts(const json_t *list)
{
	json_t *row;
	size_t i;

	json_array_foreach (list, i, row) {
		/* Daemons of an older release do not report their release. */
		if (json_is_null(json_object_get(row, "version")))
			json_object_set_new(row, "version", json_string("unknown"));
		json_object_set_new(row, "connected", json_string(connected_str(row)));
	}
}

static int
print_versions(json_t *answer)
{
	const json_t *list = json_object_get(answer, "versions");
	json_t *count;
	const char *version;

	set_texts(list);
	if (columns_print(columns, list) < 0) {
		fprintf(stderr, "rackmeshctl: out of memory\n");
		return CTL_NO_ANSWER;
	}
	printf("\n%s\n", json_is_true(json_object_get(answer, "mixed"))
			     ? "Mixed versions:"
			     : "One version:");
	json_object_foreach (json_object_get(answer, "counts"), version, count)
		printf("  %-20s %lld\n", version, (long long)json_integer_value(count));
	return CTL_GOOD;
}

int
ctl_versions(const struct ctl *ctl)
{
	json_t *answer = NULL;
	int status = CTL_GOOD;

	if (ctl->argc > 0)
		return ctl_usage("unexpected argument: %s", ctl->argv[0]);
	if (request_get_list(ctl->controller, "/v1/versions", "versions", &answer) < 0)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(answer);
	else
		status = print_versions(answer);
	if (status == CTL_GOOD && json_is_true(json_object_get(answer, "mixed")))
		status = CTL_PROBLEM;
	json_decref(answer);
	return status;
}
