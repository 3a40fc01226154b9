#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 2000 /* the daemon's own, on settings */

static const struct column columns[] = {
	{ "TOR", "tor", COLUMN_TEXT },
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "device", COLUMN_TEXT },
	{ "SETTING", "setting", COLUMN_TEXT },
	{ "STATE", "state", COLUMN_TEXT },
	{ "EXPECTED", "expected", COLUMN_TEXT },
	{ "ACTUAL", "actual", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ 0 },
};

/* Of one host its settings say it: the racks' figures are of all their hosts. */
static bool
any_different(const json_t *answer, const char *host)
{
	const json_t *rack, *setting;
	size_t i;

	if (host != NULL) {
		json_array_foreach (json_object_get(answer, "settings"), i, setting) {
			const char *state =
			    json_string_value(json_object_get(setting, "state"));

			if (state != NULL && strcmp(state, "different") == 0)
				return true;
		}
		return false;
	}
	json_array_foreach (json_object_get(answer, "racks"), i, rack)
		if (json_integer_value(json_object_get(rack, "different")) > 0)
			return true;
	return false;
}

static int
show(const json_t *answer, const char *host)
{
	if (json_integer_value(json_object_get(answer, "groups")) == 0)
		fprintf(stderr, "rackmeshctl: nothing is expected: see \"expected\" in "
				"the aggregator's config\n");
	if (json_integer_value(json_object_get(answer, "setting_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d settings are shown: name a host\n",
		    LIMIT);
	if (columns_print(columns, json_object_get(answer, "settings")) < 0) {
		fprintf(stderr, "rackmeshctl: the table cannot be made\n");
		return CTL_NO_ANSWER;
	}
	return any_different(answer, host) ? CTL_BAD_NEWS : CTL_GOOD;
}

static int
ask(const struct ctl *ctl, const char *host, bool all)
{
	char *name = host == NULL ? NULL : request_escape(host), *path = NULL;
	json_t *answer = NULL;
	int r = -1;

	if ((host == NULL || name != NULL) &&
	    asprintf(&path, "/v1/drift?limit=%d%s%s%s", LIMIT, all ? "&all=1" : "",
		host == NULL ? "" : "&host=", host == NULL ? "" : name) >= 0)
		r = request_get(ctl->aggregator, path, &answer);
	free(name);
	free(path);
	if (r < 0)
		return CTL_NO_ANSWER;
	if (!json_is_array(json_object_get(answer, "settings"))) {
		fprintf(stderr, "rackmeshctl: no settings in the aggregator's answer: "
				"an older release?\n");
		r = CTL_NO_ANSWER;
	} else if (ctl->json) {
		show_json(answer);
		r = CTL_GOOD;
	} else {
		r = show(answer, host);
	}
	json_decref(answer);
	return r;
}

int
ctl_drift(const struct ctl *ctl)
{
	const char *host = NULL;
	bool all = false;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--all") == 0)
			all = true;
		else if (host == NULL && ctl->argv[i][0] != '-')
			host = ctl->argv[i];
		else
			return ctl_usage("expected: drift [HOST] [--all]");
	}
	return ask(ctl, host, all);
}
