/* Checks the agent's reports: its RNICs, its aggregators, and the limits that slow it
 * down. */
#include <stdio.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value == NULL ? "?" : value;
}

static long long
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* ---- RNICs ---- */

static void
judge_rnic(const json_t *rnic, struct findings *findings)
{
	const json_t *prober = json_object_get(rnic, "prober");
	const char *device = text(rnic, "device");

	if (!json_is_true(json_object_get(rnic, "up"))) {
		findings_add(findings, FINDING_WRONG, "%s: the agent cannot use it: %s",
		    device,
		    json_is_string(json_object_get(rnic, "error")) ? text(rnic, "error")
								   : "no reason given");
		findings_remedy(findings, "journalctl -u host-agent has the reason");
	} else if (strcmp(text(rnic, "link"), "down") == 0) {
		findings_add(findings, FINDING_WRONG, "%s: its link is down", device);
		findings_remedy(findings, "look at cable, optics and switch port");
	} else if (number(prober, "targets") == 0) {
		findings_add(findings, FINDING_WRONG,
		    "%s: it is up, and has no target to probe", device);
		findings_remedy(findings,
		    "the controller plans no probes for it: see in /v1/refused of the "
		    "controller whether it was refused, and in rackmeshctl topology "
		    "show whether its ToR exists");
	} else {
		findings_add(findings, FINDING_GOOD,
		    "%s: it probes %lld targets over %s", device,
		    number(prober, "targets"), text(rnic, "transport"));
	}
}

static void
judge_rnics(const json_t *answer, struct findings *findings)
{
	const json_t *rnic, *list = json_object_get(answer, "rnics");
	size_t i;

	json_array_foreach (list, i, rnic)
		judge_rnic(rnic, findings);
	json_array_foreach (json_object_get(answer, "waiting"), i, rnic) {
		findings_add(findings, FINDING_WRONG, "%s: the agent waits for it: %s",
		    text(rnic, "device"), text(rnic, "reason"));
		findings_remedy(findings,
		    "correct that, or remove it from rnics: in the agent's config");
	}
	if (json_array_size(list) == 0) {
		findings_add(findings, FINDING_WRONG, "the agent has no RNIC");
		findings_remedy(findings, "see rnics: in its config");
	}
}

static void
judge_pace(const json_t *answer, struct findings *findings)
{
	if (json_is_true(json_object_get(answer, "paused"))) {
		findings_add(findings, FINDING_WARNING, "probing from here is paused");
		findings_remedy(findings, "rackmeshctl resume");
	}
	if (json_is_integer(json_object_get(answer, "brake_permille")) &&
	    number(answer, "brake_permille") < 1000) {
		findings_add(findings, FINDING_WARNING,
		    "the region's brake allows %lld of 1000 probes",
		    number(answer, "brake_permille"));
		findings_remedy(
		    findings, "rackmeshctl brake shows who set it, and when");
	}
	if (json_is_string(json_object_get(answer, "slowed")) &&
	    strcmp(text(answer, "slowed"), "none") != 0) {
		findings_add(findings, FINDING_WARNING,
		    "the agent probes less than it should: its own limit (%s)",
		    text(answer, "slowed"));
		findings_remedy(findings, "see limits: in its config, and "
					  "/usr/share/doc/rackmesh/limits.md");
	}
}

/* ---- aggregators ---- */

static void
judge_aggregators(const json_t *answer, struct findings *findings)
{
	const json_t *aggregator, *list = json_object_get(answer, "aggregators");
	size_t i;

	json_array_foreach (list, i, aggregator) {
		const char *address = text(aggregator, "address");

		if (json_is_true(json_object_get(aggregator, "connected"))) {
			findings_add(findings, FINDING_GOOD,
			    "the agent is connected to aggregator %s (%s)",
			    text(aggregator, "name"), address);
			continue;
		}
		findings_add(findings, FINDING_WRONG,
		    "the agent is not connected to aggregator %s (%lld refusals)",
		    address, number(aggregator, "refusals"));
		findings_remedy(findings,
		    "if it accepts connections, the cause is a certificate, two hosts "
		    "with one name, or an address that is missing in the unit's "
		    "IPAddressAllow; journalctl -u host-agent shows which");
	}
	if (json_array_size(list) == 0) {
		findings_add(findings, FINDING_WRONG, "the agent knows no aggregator");
		findings_remedy(findings, "see aggregators: in its config");
	}
}

/* ---- RNICs that the controller refused ---- */

static void
judge_refused(const struct host *host, const char *key, struct findings *findings)
{
	const char *ours = json_string_value(json_object_get(host->rnics, "host"));
	const json_t *rnic;
	size_t i;

	json_array_foreach (json_object_get(host->refused, key), i, rnic) {
		if (ours == NULL || strcmp(text(rnic, "host"), ours) != 0)
			continue;
		findings_add(findings, FINDING_WRONG, "the controller refuses %s: %s",
		    text(rnic, "device"), text(rnic, "reason"));
		findings_remedy(findings, "%s", text(rnic, "sentence"));
	}
}

void
check_agent(const struct host *host, struct findings *findings)
{
	if (host->rnics == NULL) {
		findings_add(findings, FINDING_WRONG, "the agent does not answer: %s",
		    host->agent_error);
		findings_remedy(findings,
		    "systemctl start host-agent; as another user than "
		    "root or rackmesh: --agent 127.0.0.1:9471");
		return;
	}
	judge_pace(host->rnics, findings);
	judge_rnics(host->rnics, findings);
	judge_refused(host, "unplaced", findings);
	judge_refused(host, "malformed", findings);
	if (host->aggregators != NULL)
		judge_aggregators(host->aggregators, findings);
}
