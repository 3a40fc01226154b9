#include "rackmesh/judge/severity.h"

#include <string.h>

struct level {
	enum rm_severity unknown; /* severity while the impact is not known */
	enum rm_severity used;    /* severity if a service uses the part */
};

#define WARNING RM_SEVERITY_WARNING
#define MAJOR RM_SEVERITY_MAJOR
#define CRITICAL RM_SEVERITY_CRITICAL

/*
 * A part (except a host) that passes no packet hurts each service that uses it: its
 * severity is critical with impact P1, even if no probe of the service is lost yet
 * (P0). Several racks judge a host or an agent at once, and may open
 * its incident with different kinds: all kinds of a host have the same severity, and so
 * have all kinds of an agent, so that the incidents of the racks are one alert.
 */
static const struct level levels[RM_KINDS] = {
	[RM_KIND_RNIC_DOWN] = { MAJOR, CRITICAL },
	[RM_KIND_RNIC_SEND_DEAD] = { MAJOR, CRITICAL },
	[RM_KIND_RNIC_RECEIVE_DEAD] = { MAJOR, CRITICAL },
	[RM_KIND_RNIC_SEND_FAILED] = { MAJOR, CRITICAL },
	[RM_KIND_RNIC_LOSSY] = { MAJOR, MAJOR },
	[RM_KIND_RNIC_MTU] = { MAJOR, MAJOR },
	[RM_KIND_RNIC_LATE] = { MAJOR, MAJOR },
	[RM_KIND_LINK_LATE] = { MAJOR, MAJOR },
	[RM_KIND_SWITCH_LATE] = { MAJOR, MAJOR },
	[RM_KIND_PATH_LATE] = { MAJOR, MAJOR },
	[RM_KIND_PAIR_CONTRADICTED] = { WARNING, MAJOR },
	[RM_KIND_HOST_DOWN] = { MAJOR, MAJOR },
	[RM_KIND_AGENT_DOWN] = { WARNING, WARNING },
	[RM_KIND_AGENT_FROZEN] = { WARNING, WARNING },
	[RM_KIND_AGENT_CONTRADICTED] = { WARNING, WARNING },
	[RM_KIND_MANAGEMENT_DOWN] = { MAJOR, MAJOR },
	[RM_KIND_TOR_DOWN] = { CRITICAL, CRITICAL },
	[RM_KIND_LINK_DOWN] = { MAJOR, CRITICAL },
	[RM_KIND_LINK_LOSSY] = { MAJOR, MAJOR },
	[RM_KIND_LINKS_DOWN] = { MAJOR, CRITICAL },
	[RM_KIND_LINKS_LOSSY] = { MAJOR, MAJOR },
	[RM_KIND_SWITCH_DOWN] = { CRITICAL, CRITICAL },
	[RM_KIND_SWITCH_LOSSY] = { MAJOR, MAJOR },
	[RM_KIND_FLOWS_BLACKHOLED] = { CRITICAL, CRITICAL },
	[RM_KIND_PATH_LOSSY] = { MAJOR, MAJOR },
	[RM_KIND_RACK_BLIND] = { MAJOR, MAJOR },
	[RM_KIND_AGGREGATOR_DOWN] = { WARNING, WARNING },
	[RM_KIND_REGION_BLIND] = { CRITICAL, CRITICAL },
	[RM_KIND_CERTIFICATE_ENDING] = { WARNING, WARNING },
	[RM_KIND_CLASS_REWRITTEN] = { WARNING, WARNING },
	/* Severity as for RNIC_DOWN, because the port is down at times: both incidents
	   are one alert. */
	[RM_KIND_RNIC_FLAPPING] = { MAJOR, CRITICAL },
};

static const char *const names[RM_SEVERITIES] = { "", "warning", "major", "critical" };

enum rm_severity
rm_severity(enum rm_kind kind, enum rm_impact impact)
{
	const bool known = kind > 0 && kind < RM_KINDS;
	const struct level level =
	    known ? levels[kind] : (struct level){ MAJOR, MAJOR };

	/* Several racks judge a host, and they may know different impacts; without the
	 * impact they have the same severity, and their incidents are one alert. */
	if (kind == RM_KIND_HOST_DOWN || kind == RM_KIND_MANAGEMENT_DOWN)
		return level.unknown;
	switch (impact) {
	case RM_IMPACT_P0:
		return CRITICAL;
	case RM_IMPACT_P1:
		return level.used;
	case RM_IMPACT_P2:
		return WARNING;
	case RM_IMPACT_UNKNOWN:
	case RM_IMPACTS:
		break;
	}
	return level.unknown;
}

const char *
rm_severity_str(enum rm_severity severity)
{
	return severity < RM_SEVERITIES ? names[severity] : "";
}

enum rm_severity
rm_severity_parse(const char *text)
{
	for (int i = 1; text != NULL && i < RM_SEVERITIES; i++)
		if (strcmp(text, names[i]) == 0)
			return (enum rm_severity)i;
	return RM_SEVERITY_UNSET;
}
