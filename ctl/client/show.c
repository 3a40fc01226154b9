#include "ctl/client/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/output/table.h"

void
show_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2));
	printf("\n");
}

int
show_rows(const struct column *columns, const json_t *rows)
{
	if (columns_print(columns, rows) >= 0)
		return CTL_GOOD;
	fprintf(stderr, "rackmeshctl: cannot make the table\n");
	return CTL_NO_ANSWER;
}

json_t *
show_counter(const json_t *counter)
{
	json_t *row = json_deep_copy(counter), *value = json_object_get(row, "value");

	if (value != NULL)
		json_object_set(row, "total", value);
	return row;
}

bool
show_reading(const char *what, const json_t *reading)
{
	const char *error = json_string_value(json_object_get(reading, "error"));
	const json_t *age_ms = json_object_get(reading, "age_ms");
	const bool up = json_is_true(json_object_get(reading, "up"));

	if (error == NULL && !up)
		error = "not read yet";
	if (error != NULL && json_is_integer(age_ms))
		fprintf(stderr, "rackmeshctl: %s: %s; its last reading is %lld s old\n",
		    what, error, (long long)json_integer_value(age_ms) / 1000);
	else if (error != NULL)
		fprintf(stderr, "rackmeshctl: %s: %s\n", what, error);
	return up;
}

int
show_list(const struct ctl *ctl, const char *base, const char *path, const char *key,
    const struct column *columns, json_t **answer)
{
	json_t *json = NULL;
	int status = CTL_GOOD;

	if (request_get_list(base, path, key, &json) < 0)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(json);
	else
		status = show_rows(columns, json_object_get(json, key));
	if (answer != NULL && status == CTL_GOOD)
		*answer = json;
	else
		json_decref(json);
	return status;
}

/* False: the answer is malformed, or memory has run out; the error was printed. */
static bool
path_of_tor(
    const struct ctl *ctl, const char *noun, char *path, size_t len, int *status)
{
	char *tor;

	snprintf(path, len, "/v1/%s", noun);
	if (ctl->argc == 0)
		return true;
	if (ctl->argc != 2 || strcmp(ctl->argv[0], "--tor") != 0) {
		*status = ctl_usage("expected: %s [--tor TOR]", noun);
		return false;
	}
	tor = request_escape(ctl->argv[1]);
	*status = CTL_NO_ANSWER;
	if (tor == NULL)
		return false;
	snprintf(path, len, "/v1/%s?tor=%s", noun, tor);
	free(tor);
	return true;
}

int
show_list_of_tor(const struct ctl *ctl, const char *noun, const struct column *columns,
    bool (*is_well)(const json_t *item))
{
	json_t *answer = NULL;
	const json_t *item;
	char path[512];
	int status;
	size_t i;

	if (!path_of_tor(ctl, noun, path, sizeof path, &status))
		return status;
	status = show_list(ctl, ctl->aggregator, path, noun, columns, &answer);
	if (status != CTL_GOOD)
		return status;
	json_array_foreach (json_object_get(answer, noun), i, item) {
		if (!is_well(item))
			status = CTL_PROBLEM;
	}
	if (i == 0) {
		fprintf(stderr,
		    "rackmeshctl: no %s there; `rackmeshctl racks` lists the ToRs\n",
		    noun);
		status = CTL_PROBLEM;
	}
	json_decref(answer);
	return status;
}
