#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"
#include "rackmesh/judge/part.h"

static const struct column columns[] = {
	{ "SENT", "sent", COLUMN_TEXT },
	{ "FROM", "from", COLUMN_TEXT },
	{ "TO", "to", COLUMN_TEXT },
	{ "OUTCOME", "outcome", COLUMN_TEXT },
	{ "KIND", "kind", COLUMN_TEXT },
	{ ">PORT", "src_port", COLUMN_NUMBER },
	{ ">DSCP", "dscp", COLUMN_NUMBER },
	{ ">BYTES", "size_bytes", COLUMN_NUMBER },
	{ ">RTT us", "rtt_ns", COLUMN_US },
	{ ">PROBER us", "prober_delay_ns", COLUMN_US },
	{ ">RESPONDER us", "responder_delay_ns", COLUMN_US },
	{ 0 },
};

static bool
is_number(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

int
ctl_drill(const struct ctl *ctl)
{
	const char *rnic = NULL, *seconds = "10", *limit = "1000", *region = NULL;
	const char *base =
	    ctl_tier(ctl, ctl->through != NULL ? ctl->through : "aggregator");
	char *escaped, path[1024];

	for (int i = 0; i < ctl->argc; i++) {
		const char *argument = ctl->argv[i];
		const char **value = strcmp(argument, "--seconds") == 0  ? &seconds
				     : strcmp(argument, "--limit") == 0  ? &limit
				     : strcmp(argument, "--region") == 0 ? &region
									 : NULL;

		if (value != NULL && i + 1 == ctl->argc)
			return ctl_usage("%s needs a value", argument);
		if (value != NULL)
			*value = ctl->argv[++i];
		else if (rnic == NULL && argument[0] != '-')
			rnic = argument;
		else
			return ctl_usage("unexpected argument: %s", argument);
	}
	if (base == NULL)
		return ctl_usage(
		    "--through: expected aggregator, controller or analyzer");
	if (rnic == NULL || !is_number(seconds) || !is_number(limit))
		return ctl_usage("expected: drill RNIC [--seconds N] [--limit N] "
				 "[--region REGION]");
	if (region != NULL && !rm_name_valid(region))
		return ctl_usage("--region: " RM_NAME_EXPECTED);
	escaped = request_escape(rnic);
	if (escaped == NULL)
		return CTL_NO_ANSWER;
	snprintf(path, sizeof path, "/v1/drill/%s?seconds=%s&limit=%s%s%s", escaped,
	    seconds, limit, region != NULL ? "&region=" : "",
	    region != NULL ? region : "");
	free(escaped);
	return show_list(ctl, base, path, "results", columns, NULL);
}
