#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/query.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 2000 /* the daemon's limit for settings */

static const struct column columns[] = {
	{ "TOR", "tor", COLUMN_TEXT },
	{ "HOST", "host", COLUMN_TEXT },
	{ "DEVICE", "device", COLUMN_TEXT },
	{ "SETTING", "setting", COLUMN_TEXT },
	{ "STATE", "state", COLUMN_TEXT },
	{ "EXPECTED", "expected", COLUMN_TEXT },
	{ "ACTUAL", "actual", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ 0 },
};

/* True: a setting is different. host: reads only the settings of this host, because the
 * figures of racks count all hosts; NULL: reads the figures of all racks. */
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
show(const json_t *answer, const struct query *query)
{
	int r;

	if (json_integer_value(json_object_get(answer, "groups")) == 0)
		fprintf(stderr, "rackmeshctl: no settings are expected: see "
				"\"expected\" in the aggregator's config\n");
	if (json_integer_value(json_object_get(answer, "setting_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d settings are shown: name a host\n",
		    LIMIT);
	r = query_rows(query, columns, json_object_get(answer, "settings"));
	return r == CTL_GOOD && any_different(answer, query->filters[0]) ? CTL_PROBLEM
									 : r;
}

int
ctl_drift(const struct ctl *ctl)
{
	struct query query = { "/v1/drift", "settings", LIMIT, { "host" } };

	return query_arguments(&query, ctl, "drift [HOST] [--all]")
		   ? query_show(&query, ctl, ctl->aggregator, show)
		   : CTL_USAGE;
}
