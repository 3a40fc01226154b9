#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column rack_columns[] = {
	{ "TOR", "tor", COLUMN_TEXT },
	{ "PLANE", "plane", COLUMN_TEXT },
	{ ">RNICS", "members", COLUMN_NUMBER },
	{ ">HOSTS", "hosts", COLUMN_NUMBER },
	{ ">AGENTS", "agents_connected", COLUMN_NUMBER },
	{ "ACTIVE", "active", COLUMN_YES },
	{ ">OPEN INCIDENTS", "incidents_open", COLUMN_NUMBER },
	{ "JUDGED UNTIL", "last_window_end", COLUMN_TEXT },
	{ ">PLAN", "plan_version", COLUMN_NUMBER },
	{ 0 },
};

int
ctl_racks(const struct ctl *ctl)
{
	json_t *answer = NULL;
	const json_t *rack;
	int status;
	size_t i;

	if (ctl->argc > 0)
		return ctl_usage("unexpected argument: %s", ctl->argv[0]);
	status = show_list(
	    ctl, ctl->aggregator, "/v1/racks", "racks", rack_columns, &answer);
	if (status != CTL_GOOD)
		return status;
	json_array_foreach (json_object_get(answer, "racks"), i, rack) {
		if (json_integer_value(json_object_get(rack, "incidents_open")) > 0)
			status = CTL_PROBLEM;
	}
	json_decref(answer);
	return status;
}

/* ---- hosts of a rack ---- */

static const struct column host_columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "TOR", "tor", COLUMN_TEXT },
	{ "STATE", "state", COLUMN_TEXT },
	{ "CONNECTED", "connected", COLUMN_YES },
	{ ">RNICS", "rnics", COLUMN_NUMBER },
	{ "PAUSED", "paused", COLUMN_YES },
	{ "SLOWED", "slowed", COLUMN_TEXT },
	{ ">PER MILLE", "slowed_permille", COLUMN_NUMBER },
	{ ">SILENT ms", "silent_ms", COLUMN_NUMBER },
	{ ">DROPPED", "dropped_results", COLUMN_NUMBER },
	{ "VERSION", "version", COLUMN_TEXT },
	{ "ADDRESS", "address", COLUMN_TEXT },
	{ 0 },
};

/* A paused host counts as well, because a person has paused it. So does a host whose
 * agent has stuttered: such short stalls lose no probes. */
static bool
is_well(const json_t *host)
{
	const char *state = json_string_value(json_object_get(host, "state"));

	return state != NULL &&
	       (strcmp(state, "ok") == 0 || strcmp(state, "stuttered") == 0 ||
		   strcmp(state, "paused") == 0);
}

int
ctl_hosts(const struct ctl *ctl)
{
	return show_list_of_tor(ctl, "hosts", host_columns, is_well);
}
