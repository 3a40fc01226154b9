#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/doctor/doctor.h"
#include "ctl/doctor/host.h"
#include "ctl/doctor/local_host.h"
#include "ctl/output/findings.h"

static int
show(const struct ctl *ctl, const struct findings *findings)
{
	json_t *json;

	if (!ctl->json) {
		findings_print(findings, stdout);
	} else {
		json = json_pack("{s:I, s:I, s:I, s:I, s:o}", "good",
		    (json_int_t)findings->counts[FINDING_GOOD], "warnings",
		    (json_int_t)findings->counts[FINDING_WARNING], "wrong",
		    (json_int_t)findings->counts[FINDING_WRONG], "not_shown",
		    (json_int_t)findings->dropped, "findings", findings_json(findings));
		if (json == NULL)
			return CTL_NO_ANSWER;
		show_json(json);
		json_decref(json);
	}
	return findings->counts[FINDING_WRONG] > 0 ? CTL_PROBLEM : CTL_GOOD;
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
