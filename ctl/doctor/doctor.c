#include "ctl/doctor/doctor.h"

#include <stdbool.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"

static const struct {
	const char *name;
	void (*check)(const struct host *host, struct findings *findings);
	/* the check is skipped if host-agent is not meant to run on this host */
	bool of_agent;
} checks[] = {
	{ "config", check_config, false },
	{ "certificate", check_certificates, false },
	{ "unit", check_unit, false },
	{ "clock", check_clock, false },
	{ "peer", check_peers, false },
	{ "rdma", check_rdma, true },
	{ "gid", check_gids, true },
	{ "mtu", check_mtu, true },
	{ "stamps", check_stamps, true },
	{ "memlock", check_memlock, true },
	{ "sysctl", check_sysctls, true },
	{ "tracing", check_tracing, true },
	{ "counters", check_counters, true },
	{ "lldp", check_lldp, true },
	{ "agent", check_agent, true },
};

void
doctor_look(const struct host *host, struct findings *findings)
{
	bool has_agent = daemon_installed(host, "host-agent") || host->rnics != NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		if (checks[i].of_agent && !has_agent)
			continue;
		findings->check = checks[i].name;
		checks[i].check(host, findings);
	}
}
