/* Checks the kernel's settings for ARP, return paths and buffers of the RNICs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/host.h"
#include "ctl/doctor/host_rnics.h"
#include "ctl/output/findings.h"

#define RMEM_WANTED 4194304L
#define MAX_ROUTES 256

struct subnet {
	char netdev[HOST_NAME];
	unsigned address, mask;
};

/* The kernel uses the larger value of "all" and of the interface itself. */
static long
sysctl_of(const struct host *host, const char *netdev, const char *name)
{
	long all = 0, own = 0;

	(void)host_number(host, &all, "/proc/sys/net/ipv4/conf/all/%s", name);
	(void)host_number(host, &own, "/proc/sys/net/ipv4/conf/%s/%s", netdev, name);
	return all > own ? all : own;
}

static bool
is_rnic(const struct host_rnic *rnics, size_t count, const char *netdev)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rnics[i].netdev, netdev) == 0)
			return true;
	return false;
}

/* Finds the subnets of RNICs that are reached without a gateway, from /proc/net/route.
 */
static size_t
read_subnets(const struct host *host, struct subnet subnets[MAX_ROUTES])
{
	struct host_rnic rnics[HOST_MAX_LIST];
	size_t rnic_count = host_rnics(host, rnics), count = 0;
	char *text, *line, *rest;
	int r;

	text = host_file(host, &r, "/proc/net/route");
	for (line = text == NULL ? NULL : strtok_r(text, "\n", &rest);
	     line != NULL && count < MAX_ROUTES; line = strtok_r(NULL, "\n", &rest)) {
		struct subnet *subnet = &subnets[count];
		unsigned gateway;

		if (sscanf(line, "%63s %x %x %*x %*d %*d %*d %x", subnet->netdev,
			&subnet->address, &gateway, &subnet->mask) == 4 &&
		    gateway == 0 && subnet->mask != 0 &&
		    is_rnic(rnics, rnic_count, subnet->netdev))
			count++;
	}
	free(text);
	return count;
}

static void
judge_shared(const struct host *host, const char *netdev, const char *other,
    struct findings *findings)
{
	long ignore = sysctl_of(host, netdev, "arp_ignore");
	long announce = sysctl_of(host, netdev, "arp_announce");
	long filter = sysctl_of(host, netdev, "rp_filter");

	if (ignore >= 1 && announce >= 2 && filter != 1) {
		findings_add(findings, FINDING_GOOD,
		    "%s shares a subnet with %s: arp_ignore, arp_announce and "
		    "rp_filter "
		    "are right for that",
		    netdev, other);
		return;
	}
	findings_add(findings, FINDING_WRONG,
	    "%s shares a subnet with %s, and has arp_ignore %ld, arp_announce %ld, "
	    "rp_filter %ld: probes of the one go to the other, and are lost",
	    netdev, other, ignore, announce, filter);
	findings_remedy(findings,
	    "set net.ipv4.conf.all.arp_ignore=1, .arp_announce=2, .rp_filter=0: copy "
	    "/usr/share/doc/rackmesh/examples/60-rackmesh-sysctl.conf to "
	    "/etc/sysctl.d/ "
	    "and take out the #, then sysctl --system");
}

static void
check_arp(const struct host *host, struct findings *findings)
{
	struct subnet subnets[MAX_ROUTES];
	size_t count = read_subnets(host, subnets), shared = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++) {
			if (subnets[k].address != subnets[i].address ||
			    subnets[k].mask != subnets[i].mask ||
			    strcmp(subnets[k].netdev, subnets[i].netdev) == 0)
				continue;
			judge_shared(
			    host, subnets[i].netdev, subnets[k].netdev, findings);
			shared++;
			break;
		}
	}
	if (shared == 0)
		findings_add(
		    findings, FINDING_GOOD, "no two RNICs share an IPv4 subnet");
}

void
check_sysctls(const struct host *host, struct findings *findings)
{
	long rmem;

	check_arp(host, findings);
	if (host_number(host, &rmem, "/proc/sys/net/core/rmem_max") < 0)
		return; /* the file does not exist in a network namespace */
	findings_add(findings, rmem < RMEM_WANTED ? FINDING_WARNING : FINDING_GOOD,
	    "net.core.rmem_max is %ld", rmem);
	if (rmem < RMEM_WANTED)
		findings_remedy(findings,
		    "sysctl net.core.rmem_max=%ld: with less, a short stall of the "
		    "agent "
		    "loses replies (/usr/share/doc/rackmesh/limits.md)",
		    RMEM_WANTED);
}
