#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 2000 /* the daemon's own, on findings */

static const struct column columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "device", COLUMN_TEXT },
	{ "DIAGNOSIS", "diagnosis", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ "EVIDENCE", "evidence", COLUMN_TEXT },
	{ 0 },
};

static const struct column rule_columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "device", COLUMN_TEXT },
	{ "NOT KNOWN", "diagnosis", COLUMN_TEXT },
	{ "NEEDS", "needs", COLUMN_TEXT },
	{ 0 },
};

/* Of each RNIC the diagnoses that nobody can make, and the counter that is missing. */
static int
show_not_known(const json_t *answer)
{
	json_t *rows = json_array(), *rnic, *needs;
	const char *diagnosis;
	size_t i;
	int r;

	json_array_foreach (json_object_get(answer, "rnics"), i, rnic) {
		json_t *missing = json_object_get(rnic, "not_known");

		json_object_foreach (missing, diagnosis, needs) {
			json_t *row = json_object();

			json_object_set(row, "host", json_object_get(rnic, "host"));
			json_object_set(row, "device", json_object_get(rnic, "device"));
			json_object_set_new(row, "diagnosis", json_string(diagnosis));
			json_object_set(row, "needs", needs);
			json_array_append_new(rows, row);
		}
	}
	r = columns_print(rule_columns, rows);
	json_decref(rows);
	return r;
}

static int
show(const json_t *answer, bool not_known)
{
	const json_t *findings = json_object_get(answer, "findings");
	int r;

	if (json_integer_value(json_object_get(answer, "rnics_reported")) == 0)
		fprintf(stderr, "rackmeshctl: no agent has reported counters: older "
				"ones do not, nor do those with counters.enabled: "
				"false\n");
	if (json_integer_value(json_object_get(answer, "finding_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d findings are shown: name a host\n",
		    LIMIT);
	r = not_known ? show_not_known(answer) : columns_print(columns, findings);
	if (r < 0) {
		fprintf(stderr, "rackmeshctl: the table cannot be made\n");
		return CTL_NO_ANSWER;
	}
	return CTL_GOOD;
}

static char *
path_of(const char *host, const char *device)
{
	char *escaped_host = host == NULL ? NULL : request_escape(host);
	char *escaped_device = device == NULL ? NULL : request_escape(device);
	char *path = NULL;

	if ((host == NULL || escaped_host != NULL) &&
	    (device == NULL || escaped_device != NULL) &&
	    asprintf(&path, "/v1/diagnosis?limit=%d%s%s%s%s", LIMIT,
		host == NULL ? "" : "&host=", host == NULL ? "" : escaped_host,
		device == NULL ? "" : "&device=",
		device == NULL ? "" : escaped_device) < 0)
		path = NULL;
	free(escaped_host);
	free(escaped_device);
	return path;
}

static int
ask(const struct ctl *ctl, const char *const filters[2], bool not_known)
{
	char *path = path_of(filters[0], filters[1]);
	json_t *answer = NULL;
	int r = path == NULL ? -ENOMEM : request_get(ctl->aggregator, path, &answer);

	free(path);
	if (r < 0)
		return CTL_NO_ANSWER;
	if (!json_is_array(json_object_get(answer, "findings"))) {
		fprintf(stderr, "rackmeshctl: no findings in the aggregator's answer: "
				"an older release?\n");
		r = CTL_NO_ANSWER;
	} else if (ctl->json) {
		show_json(answer);
		r = CTL_GOOD;
	} else {
		r = show(answer, not_known);
	}
	json_decref(answer);
	return r;
}

int
ctl_diagnosis(const struct ctl *ctl)
{
	const char *filters[2] = { NULL, NULL };
	bool not_known = false;
	size_t count = 0;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--not-known") == 0)
			not_known = true;
		else if (count < 2 && ctl->argv[i][0] != '-')
			filters[count++] = ctl->argv[i];
		else
			return ctl_usage(
			    "expected: diagnosis [HOST [DEVICE]] [--not-known]");
	}
	if (not_known && count == 0)
		return ctl_usage("--not-known: name a host");
	return ask(ctl, filters, not_known);
}
