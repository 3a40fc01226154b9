/* If lldpd runs, checks that each cable ends at the switch that the config names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/host.h"
#include "ctl/doctor/host_rnics.h"
#include "ctl/output/findings.h"

/* In the format json0 everything is an array, and a value has the key "value". */
static const char *
value_of(const json_t *object, const char *key)
{
	const json_t *first = json_array_get(json_object_get(object, key), 0);

	return json_string_value(json_object_get(first, "value"));
}

/* Returns the name of the system at the other end; NULL: there is none. */
static const char *
neighbour(const json_t *answer, const char *netdev, const char **port)
{
	const json_t *lldp = json_array_get(json_object_get(answer, "lldp"), 0);
	const json_t *interface;
	size_t i;

	json_array_foreach (json_object_get(lldp, "interface"), i, interface) {
		const char *name =
		    json_string_value(json_object_get(interface, "name"));
		const json_t *chassis =
		    json_array_get(json_object_get(interface, "chassis"), 0);

		if (name == NULL || strcmp(name, netdev) != 0 ||
		    value_of(chassis, "name") == NULL)
			continue;
		*port = value_of(
		    json_array_get(json_object_get(interface, "port"), 0), "id");
		return value_of(chassis, "name");
	}
	return NULL;
}

/* "leaf1.example.net" is leaf1. */
static bool
same_switch(const char *tor, const char *reported)
{
	size_t len = strcspn(tor, ".");

	return strcasecmp(tor, reported) == 0 ||
	       (len == strcspn(reported, ".") && strncasecmp(tor, reported, len) == 0);
}

/* Judges the neighbour that the agent received last by LLDP. False: there is no
 * neighbour. */
static bool
judge_reported(const struct host_rnic *rnic, struct findings *findings)
{
	const json_t *reported = json_object_get(rnic->reported, "lldp_tors");
	const char *tor = json_string_value(json_array_get(reported, 0));

	if (tor == NULL)
		return false;
	if (json_is_true(json_object_get(rnic->reported, "lldp_mismatch"))) {
		findings_add(findings, FINDING_WRONG,
		    "%s: its cable ends in %s (LLDP), but the config names %s",
		    rnic->device, tor, rnic->tors[0]);
		findings_remedy(
		    findings, "correct its tor: in the agent's config, or the cable");
	} else {
		findings_add(findings, FINDING_GOOD, "%s: its cable ends in %s",
		    rnic->device, tor);
	}
	return true;
}

static void
judge_rnic(
    const struct host_rnic *rnic, const json_t *answer, struct findings *findings)
{
	const char *port = NULL, *reported = neighbour(answer, rnic->netdev, &port);

	if (reported == NULL) {
		findings_add(findings, FINDING_WARNING,
		    "%s: LLDP reports no neighbour on %s", rnic->device, rnic->netdev);
		findings_remedy(findings,
		    "turn on LLDP on the switch's port; a NIC's "
		    "firmware may consume it (on Intel: ethtool "
		    "--set-priv-flags %s disable-fw-lldp on)",
		    rnic->netdev);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		if (rnic->tors[i][0] == '\0' || !same_switch(rnic->tors[i], reported))
			continue;
		findings_add(findings, FINDING_GOOD, "%s: its cable ends in %s%s%s",
		    rnic->device, reported, port == NULL ? "" : ", ",
		    port == NULL ? "" : port);
		return;
	}
	findings_add(findings, FINDING_WRONG,
	    "%s: its cable ends in %s%s%s (LLDP), but the config names %s",
	    rnic->device, reported, port == NULL ? "" : ", ", port == NULL ? "" : port,
	    rnic->tors[0][0] == '\0' ? "nothing" : rnic->tors[0]);
	findings_remedy(findings, "correct its tor: in the agent's config, or the "
				  "cable; the switch's name in "
				  "LLDP must be its name in the topology");
}

static void
ask_lldpd(const struct host *host, const struct host_rnic *rnics, size_t count,
    struct findings *findings)
{
	static const char *const argv[] = { "lldpctl", "-f", "json0", NULL };
	struct host_output *output = malloc(sizeof(*output));
	json_t *answer = NULL;
	int r = -ENOMEM;

	if (output != NULL)
		r = host->calls->run(host->arg, argv, NULL, output);
	if (r == 0 && output->status == 0)
		answer = json_loadb(output->text, output->len, 0, NULL);
	if (r == -ENOENT) {
		findings_add(findings, FINDING_WARNING,
		    "lldpd is not installed: the cabling is not checked");
		findings_remedy(
		    findings, "apt install lldpd, or check the cables by hand");
	} else if (answer == NULL) {
		findings_add(findings, FINDING_WARNING, "lldpctl gave no answer: %s",
		    r < 0 ? strerror(-r) : output->text);
		findings_remedy(
		    findings, "systemctl enable --now lldpd; run doctor as root");
	}
	for (size_t i = 0; answer != NULL && i < count; i++)
		if (rnics[i].netdev[0] != '\0')
			judge_rnic(&rnics[i], answer, findings);
	json_decref(answer);
	free(output);
}

void
check_lldp(const struct host *host, struct findings *findings)
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics), left = 0;

	for (size_t i = 0; i < count; i++)
		if (!judge_reported(&rnics[i], findings))
			rnics[left++] = rnics[i];
	if (left > 0)
		ask_lldpd(host, rnics, left, findings);
}
