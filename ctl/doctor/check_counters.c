/* Checks that the agent may read those counters for which its config needs special
 * rights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"

#define CAP_NET_ADMIN_BIT 12
#define CAP_SYS_ADMIN_BIT 21
#define EXAMPLES "/usr/share/doc/rackmesh/examples/"
#define DROP_INS "/etc/systemd/system/host-agent.service.d/"

static void
add_drop_in(struct findings *findings, const char *name)
{
	findings_remedy(findings,
	    "install -D -m 644 -t " DROP_INS " " EXAMPLES "%s; systemctl "
	    "daemon-reload; "
	    "systemctl restart host-agent; or take it out of the config",
	    name);
}

/* True: the unit forbids to enter namespaces. The drop-in for tracing gives the
 * capability, but the unit still forbids the system call. */
static bool
unit_refuses_namespaces(const struct host *host)
{
	const char *argv[] = { "systemctl", "show", "--property", "RestrictNamespaces",
		"host-agent", NULL };
	struct host_output *output = malloc(sizeof(*output));
	bool refuses = output != NULL &&
		       host->calls->run(host->arg, argv, NULL, output) == 0 &&
		       output->status == 0 &&
		       strstr(output->text, "RestrictNamespaces=yes") != NULL;

	free(output);
	return refuses;
}

static void
check_namespaces(
    const struct host *host, unsigned long long capabilities, struct findings *findings)
{
	const char *asked =
	    daemon_config_text(host->agent_config, "counters.namespaces", "false");

	if (strcmp(asked, "true") != 0)
		return;
	if (host_has_capability(capabilities, CAP_SYS_ADMIN_BIT) &&
	    !unit_refuses_namespaces(host)) {
		findings_add(findings, FINDING_GOOD,
		    "the agent may enter the network namespaces of pods");
		return;
	}
	findings_add(findings, FINDING_WARNING,
	    "counters.namespaces is true, and the agent may not enter the network "
	    "namespaces of pods: their RDMA devices are not read");
	add_drop_in(findings, "host-agent-namespaces.conf");
}

/* Checks this only if the config has the option, because the default applies to every
 * agent. */
static void
check_optics(
    const struct host *host, unsigned long long capabilities, struct findings *findings)
{
	const char *asked =
	    daemon_config_text(host->agent_config, "counters.optics_interval_s", "0");

	if (strcmp(asked, "0") == 0)
		return;
	if (host_has_capability(capabilities, CAP_NET_ADMIN_BIT)) {
		findings_add(findings, FINDING_GOOD,
		    "the agent may read the optical modules of its RNICs");
		return;
	}
	findings_add(findings, FINDING_WARNING,
	    "counters.optics_interval_s is %s, and the agent lacks CAP_NET_ADMIN: "
	    "optical modules are not read",
	    asked);
	add_drop_in(findings, "host-agent-optics.conf");
}

void
check_counters(const struct host *host, struct findings *findings)
{
	unsigned long long capabilities = 0;

	if (strcmp(daemon_config_text(host->agent_config, "counters.enabled", "true"),
		"false") == 0 ||
	    !host_agent_capabilities(host, &capabilities)) /* tracing reports that */
		return;
	check_namespaces(host, capabilities, findings);
	check_optics(host, capabilities, findings);
}
