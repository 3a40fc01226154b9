#include <stdio.h>
#include <stdlib.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
	{ "FROM", "from", COLUMN_TEXT },
	{ "TO", "to", COLUMN_TEXT },
	{ "KIND", "kind", COLUMN_TEXT },
	{ "ADDRESS", "address", COLUMN_TEXT },
	{ ">EVERY us", "interval_us", COLUMN_NUMBER },
	{ "FLOWS", "flows", COLUMN_LIST },
	{ "DSCPS", "dscps", COLUMN_LIST },
	{ "SIZES", "sizes", COLUMN_LIST },
	{ 0 },
};

int
ctl_pinglist(const struct ctl *ctl)
{
	char *rnic, path[1024];

	if (ctl->argc != 1 || ctl->argv[0][0] == '-')
		return ctl_usage("expected: pinglist RNIC");
	rnic = request_escape(ctl->argv[0]);
	if (rnic == NULL)
		return CTL_NO_ANSWER;
	snprintf(path, sizeof path, "/v1/pinglist?rnic=%s", rnic);
	free(rnic);
	return show_list(ctl, ctl->aggregator, path, "targets", columns, NULL);
}
