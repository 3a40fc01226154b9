#include <jansson.h>
#include <stdio.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"

static int
change(const struct ctl *ctl, const char *path, const char *done)
{
	json_t *answer = NULL;

	if (ctl->argc > 0)
		return ctl_usage("unexpected argument: %s", ctl->argv[0]);
	if (request_post(ctl->agent, path, &answer) < 0)
		return CTL_NO_ANSWER;
	if (ctl->json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		printf("\n");
	} else
		printf("%s\n", done);
	json_decref(answer);
	return CTL_GOOD;
}

int
ctl_pause(const struct ctl *ctl)
{
	return change(ctl, "/v1/pause",
	    "Paused: this host sends no probes until `rackmeshctl resume`.");
}

int
ctl_resume(const struct ctl *ctl)
{
	return change(ctl, "/v1/resume", "Resumed: this host probes again.");
}
