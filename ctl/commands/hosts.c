#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
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

/* Paused is as somebody wanted it; one that stutters loses nothing by it. */
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
	return show_list_of_tor(ctl, "hosts", columns, is_well);
}
