#include "ctl/doctor/doctor.h"

#include <stdbool.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/findings.h"
#include "ctl/doctor/host.h"

static const struct {
	const char *name;
	void (*check)(const struct host *host, struct findings *findings);
	bool of_agent; /* says nothing where host-agent is not meant to run */
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

void
doctor_print(const struct findings *findings, FILE *out)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		fprintf(out, "%-7s  %-11s  %s\n", finding_level_name(finding->level),
		    finding->check, finding->seen);
		if (finding->remedy[0] != '\0')
			fprintf(out, "%-7s  %-11s  -> %s\n", "", "", finding->remedy);
	}
	if (findings->dropped > 0)
		fprintf(out, "and %zu more\n", findings->dropped);
	fprintf(out, "%zu good, %zu %s, %zu wrong\n", findings->counts[FINDING_GOOD],
	    findings->counts[FINDING_WARNING],
	    findings->counts[FINDING_WARNING] == 1 ? "warning" : "warnings",
	    findings->counts[FINDING_WRONG]);
}

json_t *
doctor_json(const struct findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:s, s:s}", "check", finding->check,
			      "level", finding_level_name(finding->level), "seen",
			      finding->seen, "remedy", finding->remedy));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "good",
	    (json_int_t)findings->counts[FINDING_GOOD], "warnings",
	    (json_int_t)findings->counts[FINDING_WARNING], "wrong",
	    (json_int_t)findings->counts[FINDING_WRONG], "not_shown",
	    (json_int_t)findings->dropped, "findings", list);
}
