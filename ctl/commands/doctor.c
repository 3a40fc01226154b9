#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/doctor/doctor.h"
#include "ctl/doctor/findings.h"
#include "ctl/doctor/host.h"
#include "ctl/doctor/local_host.h"

static int
show(const struct ctl *ctl, const struct findings *findings)
{
	json_t *json;

	if (!ctl->json) {
		doctor_print(findings, stdout);
	} else {
		json = doctor_json(findings);
		if (json == NULL)
			return CTL_NO_ANSWER;
		show_json(json);
		json_decref(json);
	}
	return findings->counts[FINDING_WRONG] > 0 ? CTL_BAD_NEWS : CTL_GOOD;
}

int
ctl_doctor(const struct ctl *ctl)
{
	const char *configs = "/etc/rackmesh";
	struct findings findings = { 0 };
	struct host host;
	int status;

	if (ctl->argc == 2 && strcmp(ctl->argv[0], "--configs") == 0)
		configs = ctl->argv[1];
	else if (ctl->argc > 0)
		return ctl_usage("expected: doctor [--configs FOLDER]");
	local_host_init(&host, configs, ctl->agent, ctl->controller);
	doctor_look(&host, &findings);
	status = show(ctl, &findings);
	findings_clear(&findings);
	local_host_clear(&host);
	return status;
}
