/* Checks the RDMA devices of the agent's RNICs: ports, GIDs, MTU, time stamps, locked
 * memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/doctor/host_rnics.h"
#include "ctl/output/findings.h"

#define PORT "/sys/class/infiniband/%s/ports/%u"
#define MEMLOCK_PER_RNIC (4L << 20)

/* ---- devices and ports ---- */

static void
judge_port(
    const struct host *host, const struct host_rnic *rnic, struct findings *findings)
{
	char state[HOST_TEXT], physical[HOST_TEXT], layer[HOST_TEXT];

	if (host_text(host, state, PORT "/state", rnic->rdma, rnic->port) < 0) {
		findings_add(findings, FINDING_WRONG, "%s: %s has no port %u",
		    rnic->device, rnic->rdma, rnic->port);
		findings_remedy(findings,
		    "correct port: in the agent's config; rdma link "
		    "lists them");
		return;
	}
	(void)host_text(host, physical, PORT "/phys_state", rnic->rdma, rnic->port);
	(void)host_text(host, layer, PORT "/link_layer", rnic->rdma, rnic->port);
	if (strstr(state, "ACTIVE") != NULL) {
		findings_add(findings, FINDING_GOOD, "%s: %s port %u is active, %s",
		    rnic->device, rnic->rdma, rnic->port, layer);
		return;
	}
	findings_add(findings, FINDING_WRONG, "%s: %s port %u is %s, physically %s",
	    rnic->device, rnic->rdma, rnic->port, state, physical);
	if (strcmp(layer, "InfiniBand") == 0)
		findings_remedy(findings,
		    "look at cable and port, and whether a subnet "
		    "manager runs");
	else if (rnic->netdev[0] != '\0')
		findings_remedy(findings,
		    "ip link set %s up; if it has no carrier look at cable, optics and "
		    "switch port (ethtool %s)",
		    rnic->netdev, rnic->netdev);
	else
		findings_remedy(findings, "look at cable, optics and switch port");
}

static void
judge_netdev(
    const struct host *host, const struct host_rnic *rnic, struct findings *findings)
{
	char state[HOST_TEXT];

	if (host_text(host, state, "/sys/class/net/%s/operstate", rnic->netdev) < 0) {
		findings_add(findings, FINDING_WRONG, "%s: there is no such device",
		    rnic->device);
		findings_remedy(findings,
		    "correct it in the agent's config, or load its "
		    "driver; the agent waits for it");
	} else if (strcmp(state, "up") != 0 && strcmp(state, "unknown") != 0) {
		findings_add(findings, FINDING_WRONG, "%s: the interface is %s",
		    rnic->device, state);
		findings_remedy(findings,
		    "ip link set %s up; look at cable and switch port", rnic->netdev);
	} else {
		findings_add(findings, FINDING_WARNING,
		    "%s: no RDMA device belongs to it: it is probed with UDP, and its "
		    "RDMA engine is not monitored",
		    rnic->device);
		findings_remedy(findings,
		    "nothing, if it is not an RNIC; else load its RDMA "
		    "driver (rdma link does not list it)");
	}
}

void
check_rdma(const struct host *host, struct findings *findings)
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics);
	const char *netns = daemon_config_text(host->agent_config, "netns", NULL);
	bool any_rdma = false;

	if (netns != NULL) {
		findings_add(findings, FINDING_WARNING,
		    "the agent's RNICs are in the network namespace %s; the next "
		    "checks are made in the namespace of doctor",
		    netns);
		findings_remedy(findings,
		    "ip netns exec %s rackmeshctl doctor, if you did not", netns);
	}
	for (size_t i = 0; i < count; i++) {
		any_rdma = any_rdma || rnics[i].rdma[0] != '\0';
		if (rnics[i].rdma[0] != '\0')
			judge_port(host, &rnics[i], findings);
		else
			judge_netdev(host, &rnics[i], findings);
	}
	if (count == 0) {
		findings_add(findings, FINDING_WRONG,
		    "no RNIC is configured, and this host has no RDMA device");
		findings_remedy(findings,
		    "load the RNIC's driver (lspci -k), or name its "
		    "interfaces in the agent's config");
	}
	if (any_rdma && !host_exists(host, "/dev/infiniband")) {
		findings_add(findings, FINDING_WRONG, "/dev/infiniband is missing");
		findings_remedy(findings, "modprobe ib_uverbs (package rdma-core)");
	}
}

/* ---- GIDs ---- */

enum gid_seen { GID_NONE, GID_V1, GID_LINK_LOCAL, GID_GOOD };

static enum gid_seen
gid_of(const struct host *host, const struct host_rnic *rnic, unsigned i)
{
	char gid[HOST_TEXT], type[HOST_TEXT];

	if (host_text(host, gid, PORT "/gids/%u", rnic->rdma, rnic->port, i) < 0 ||
	    strcmp(gid, "0000:0000:0000:0000:0000:0000:0000:0000") == 0 ||
	    host_text(
		host, type, PORT "/gid_attrs/types/%u", rnic->rdma, rnic->port, i) < 0)
		return GID_NONE;
	if (strcmp(type, "RoCE v2") != 0)
		return GID_V1;
	return strncmp(gid, "fe80", 4) == 0 ? GID_LINK_LOCAL : GID_GOOD;
}

static void
judge_gids(
    const struct host *host, const struct host_rnic *rnic, struct findings *findings)
{
	enum gid_seen best = GID_NONE;
	unsigned good = 0;

	for (unsigned i = 0;
	     i < 256 && host_exists(host, PORT "/gids/%u", rnic->rdma, rnic->port, i);
	     i++) {
		enum gid_seen seen = gid_of(host, rnic, i);

		good += seen == GID_GOOD;
		best = seen > best ? seen : best;
	}
	switch (best) {
	case GID_GOOD:
		findings_add(findings, FINDING_GOOD,
		    "%s: %u RoCE v2 GIDs with an address", rnic->device, good);
		return;
	case GID_LINK_LOCAL:
		findings_add(findings, FINDING_WRONG,
		    "%s: its only RoCE v2 GIDs are link-local (fe80)", rnic->device);
		break;
	case GID_V1:
		findings_add(findings, FINDING_WRONG,
		    "%s: it has GIDs of RoCE v1 only, which no router forwards",
		    rnic->device);
		break;
	default:
		findings_add(
		    findings, FINDING_WRONG, "%s: it has no GID", rnic->device);
	}
	if (best == GID_V1)
		findings_remedy(findings, "turn on RoCE v2 in its driver or firmware");
	else
		findings_remedy(findings,
		    "ip address add ADDRESS/PREFIX dev %s: a GID comes with each "
		    "address",
		    rnic->netdev[0] == '\0' ? "INTERFACE" : rnic->netdev);
}

void
check_gids(const struct host *host, struct findings *findings)
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics);

	for (size_t i = 0; i < count; i++) {
		char layer[HOST_TEXT];

		if (rnics[i].rdma[0] == '\0' ||
		    host_text(host, layer, PORT "/link_layer", rnics[i].rdma,
			rnics[i].port) < 0 ||
		    strcmp(layer, "Ethernet") != 0)
			continue;
		judge_gids(host, &rnics[i], findings);
	}
}

/* ---- MTU ---- */

void
check_mtu(const struct host *host, struct findings *findings)
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics), seen = 0, first = 0;
	long mtus[HOST_MAX_LIST];
	bool differ = false;

	for (size_t i = 0; i < count; i++) {
		mtus[i] = 0;
		if (rnics[i].netdev[0] == '\0' ||
		    host_number(
			host, &mtus[i], "/sys/class/net/%s/mtu", rnics[i].netdev) < 0)
			continue;
		if (seen++ == 0)
			first = i;
		differ = differ || mtus[i] != mtus[first];
	}
	if (seen == 0)
		return;
	if (!differ) {
		findings_add(findings, FINDING_GOOD, "all %zu RNICs have an MTU of %ld",
		    seen, mtus[first]);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (mtus[i] != 0 && mtus[i] != mtus[first]) {
			findings_add(findings, FINDING_WARNING,
			    "%s has an MTU of %ld, %s of %ld", rnics[i].device, mtus[i],
			    rnics[first].device, mtus[first]);
			findings_remedy(findings,
			    "ip link set %s mtu %ld, unless the rails are meant to "
			    "differ",
			    rnics[i].netdev, mtus[first]);
		}
}

/* ---- time stamps ---- */

static void
judge_reported_stamps(
    const struct host_rnic *rnic, const char *stamps, struct findings *findings)
{
	bool is_roce = rnic->rdma[0] != '\0';

	if (strcmp(stamps, "nic") == 0 || strcmp(stamps, "wallclock") == 0 ||
	    (strcmp(stamps, "kernel") == 0 && !is_roce)) {
		findings_add(findings, FINDING_GOOD, "%s: time stamps by %s",
		    rnic->device,
		    strcmp(stamps, "kernel") == 0 ? "the kernel" : "the NIC");
		return;
	}
	findings_add(findings, FINDING_WARNING,
	    "%s: time stamps by software (%s): RTTs include this host's own delays",
	    rnic->device, stamps);
	findings_remedy(findings,
	    "see roce.software_stamps in the agent's config; some "
	    "NICs, and virtual ones, have none");
}

void
check_stamps(const struct host *host, struct findings *findings)
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics);

	for (size_t i = 0; i < count; i++) {
		const char *reported =
		    json_string_value(json_object_get(rnics[i].reported, "stamps"));
		bool hardware = false;

		if (reported != NULL) {
			judge_reported_stamps(&rnics[i], reported, findings);
			continue;
		}
		if (rnics[i].netdev[0] == '\0' ||
		    host->calls->stamps(host->arg, rnics[i].netdev, &hardware) < 0)
			continue; /* check_rdma reports such a device */
		findings_add(findings, hardware ? FINDING_GOOD : FINDING_WARNING,
		    "%s: %s %s stamp packets in hardware", rnics[i].device,
		    rnics[i].netdev, hardware ? "can" : "cannot");
		if (!hardware)
			findings_remedy(findings,
			    "ethtool -T %s shows what the device supports; RTTs "
			    "include this host's delays",
			    rnics[i].netdev);
	}
}

/* ---- locked memory ---- */

void
check_memlock(const struct host *host, struct findings *findings)
{
	static const char label[] = "Max locked memory";
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t count = host_rnics(host, rnics), rdma = 0;
	char *limits, *line;
	long need, limit;
	int r;

	for (size_t i = 0; i < count; i++)
		rdma += rnics[i].rdma[0] != '\0';
	if (rdma == 0 || host->agent_pid == 0)
		return;
	limits = host_file(host, &r, "/proc/%ld/limits", host->agent_pid);
	line = limits == NULL ? NULL : strstr(limits, label);
	if (line == NULL) {
		findings_add(findings, FINDING_WARNING,
		    "the agent's limit of locked memory cannot be read");
		findings_remedy(findings, "run doctor as root");
		free(limits);
		return;
	}
	line += sizeof(label) - 1;
	line += strspn(line, " ");
	need = (long)rdma * MEMLOCK_PER_RNIC;
	limit = strtol(line, NULL, 10);
	if (strncmp(line, "unlimited", 9) == 0) {
		findings_add(findings, FINDING_GOOD, "the agent may lock memory");
	} else if (limit < need) {
		findings_add(findings, FINDING_WRONG,
		    "the agent may lock %ld KiB; its %zu RDMA ports need about %ld KiB",
		    limit / 1024, rdma, need / 1024);
		findings_remedy(findings,
		    "LimitMEMLOCK=infinity in the unit, as the package has it");
	} else {
		findings_add(findings, FINDING_GOOD,
		    "the agent may lock %ld KiB of memory", limit / 1024);
	}
	free(limits);
}
