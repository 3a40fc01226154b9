/* Checks whether the agent may trace services: kernel, sysctl, capabilities, and what
 * the agent reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38
#define CAP_BPF_BIT 39
#define PARANOID_PERFMON                                                             \
	2 /* with a higher value, CAP_PERFMON cannot open perf events, on Debian and \
	     Ubuntu */

static void
check_kernel(const struct host *host, struct findings *findings)
{
	bool of_module = host_exists(host, "/sys/module/ib_core");

	if (!host_exists(host, "/sys/kernel/btf/vmlinux")) {
		findings_add(findings, FINDING_WARNING,
		    "this kernel has no BTF: services are not traced");
		findings_remedy(findings, "a kernel with CONFIG_DEBUG_INFO_BTF");
	} else if (of_module && !host_exists(host, "/sys/kernel/btf/ib_core") &&
		   host_exists(host, "/sys/module/ib_core/sections")) {
		findings_add(findings, FINDING_WARNING,
		    "the module ib_core has no BTF: services are not traced");
		findings_remedy(findings,
		    "the kernel's own ib_core, or drivers built with "
		    "BTF (CONFIG_DEBUG_INFO_BTF_MODULES)");
	} else {
		findings_add(findings, FINDING_GOOD, "this kernel has BTF%s",
		    of_module ? ", and ib_core is loaded" : "");
	}
}

/* From Linux 6.2 on, fprobes can attach to functions of modules; they need no perf
 * event. */
static bool
kernel_has_fprobes(const struct host *host)
{
	unsigned major = 0, minor = 0;
	char release[HOST_TEXT];

	return host_text(host, release, "/proc/sys/kernel/osrelease") == 0 &&
	       sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 2));
}

static void
check_rights(const struct host *host, struct findings *findings)
{
	unsigned long long capabilities = 0;
	long paranoid = 0;

	if (host_number(host, &paranoid, "/proc/sys/kernel/perf_event_paranoid") < 0 ||
	    !host_agent_capabilities(host, &capabilities)) {
		findings_add(findings, FINDING_WARNING,
		    "kernel.perf_event_paranoid is %ld; the agent's capabilities "
		    "cannot be seen (it does not run as a unit, or doctor may not "
		    "read them)",
		    paranoid);
		findings_remedy(findings, "start host-agent, and run doctor as root");
		return;
	}
	if (!host_has_capability(capabilities, CAP_SYS_ADMIN_BIT) &&
	    (!host_has_capability(capabilities, CAP_BPF_BIT) ||
		!host_has_capability(capabilities, CAP_PERFMON_BIT))) {
		findings_add(findings, FINDING_WARNING,
		    "the agent has neither CAP_BPF and CAP_PERFMON nor CAP_SYS_ADMIN");
		findings_remedy(findings,
		    "give it the capabilities that its unit has in "
		    "the package");
	} else if (!host_has_capability(capabilities, CAP_SYS_ADMIN_BIT) &&
		   paranoid > PARANOID_PERFMON && !kernel_has_fprobes(host)) {
		findings_add(findings, FINDING_WARNING,
		    "kernel.perf_event_paranoid is %ld, and the agent has no "
		    "CAP_SYS_ADMIN, which tracing needs with this value before Linux "
		    "6.2",
		    paranoid);
		findings_remedy(findings,
		    "apt install rackmesh-host-agent-tracing, or sysctl "
		    "kernel.perf_event_paranoid=2, or a newer kernel: "
		    "/usr/share/doc/rackmesh/services.md");
	} else {
		findings_add(findings, FINDING_GOOD,
		    "kernel.perf_event_paranoid is %ld, and the agent has the "
		    "capabilities that tracing needs",
		    paranoid);
	}
}

static void
check_kubelet(const json_t *kubelet, struct findings *findings)
{
	const char *error = json_string_value(json_object_get(kubelet, "error"));

	if (json_is_true(json_object_get(kubelet, "up"))) {
		findings_add(findings, FINDING_GOOD,
		    "the kubelet names the pods of services: it has %lld",
		    (long long)json_integer_value(json_object_get(kubelet, "pods")));
	} else if (error != NULL) {
		findings_add(findings, FINDING_WARNING,
		    "the agent cannot read the pods of the kubelet: %s", error);
		findings_remedy(findings, "/usr/share/doc/rackmesh/services.md");
	}
}

void
check_tracing(const struct host *host, struct findings *findings)
{
	const json_t *all = host->services;
	const char *by = json_string_value(json_object_get(all, "by"));
	const char *missing = json_string_value(json_object_get(all, "missing"));

	if (all != NULL && !json_is_true(json_object_get(all, "enabled"))) {
		findings_add(findings, FINDING_GOOD,
		    "services.enabled is false: the agent does not trace any");
		return;
	}
	check_kubelet(json_object_get(all, "kubelet"), findings);
	if (json_is_true(json_object_get(all, "tracing"))) {
		findings_add(findings, FINDING_GOOD, "the agent traces services by %s",
		    by == NULL ? "a hook" : by);
		return;
	}
	if (all != NULL)
		findings_add(findings, FINDING_WARNING,
		    "the agent traces no services: %s",
		    missing == NULL ? "no reason given" : missing);
	if (all != NULL)
		findings_remedy(findings, "/usr/share/doc/rackmesh/services.md");
	check_kernel(host, findings);
	check_rights(host, findings);
}
