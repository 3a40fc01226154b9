#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
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
	status =
	    show_list(ctl, ctl->aggregator, "/v1/racks", "racks", columns, &answer);
	if (status != CTL_GOOD)
		return status;
	json_array_foreach (json_object_get(answer, "racks"), i, rack) {
		if (json_integer_value(json_object_get(rack, "incidents_open")) > 0)
			status = CTL_BAD_NEWS;
	}
	json_decref(answer);
	return status;
}
