/*
 * hypervisor_findings - what the last interval's counters of a vmnic mean, as
 * sentences. Pure.
 *
 * Global pause (802.3x) and PFC are distinguished: the first stops all priorities at
 * once, including those of CNPs and control traffic. The thresholds are a first guess
 * for an operator; a finding alone does not blame a host.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

struct hypervisor_nic;

enum hypervisor_finding {
	FINDING_GLOBAL_PAUSE_ON,   /* it is set, and PFC is off */
	FINDING_GLOBAL_PAUSE_USED, /* such frames were received or sent */
	FINDING_PAUSE_STORM,       /* the vmnic stops the switch nearly all the time */
	FINDING_PAUSED,            /* the switch stops the vmnic for most of the time */
	FINDING_PFC_STEADY,        /* the switch stops it for some of the time */
	HYPERVISOR_FINDINGS,
};

#define STORM_SHARE_PCT 50 /* paused share of the interval */
#define STEADY_SHARE_PCT 5
#define STORM_CHANGES_PER_S 10000 /* for a driver that does not count the time */

#define FINDING_BYTES 320

const char *hypervisor_finding_str(enum hypervisor_finding finding); /* "pause-storm" */
const char *hypervisor_finding_help(enum hypervisor_finding finding);

/* interval_ns: between the last two readings; 0: there was only one, and findings
 * that need increases are not known. out[i] is "" if the finding does not hold, else
 * a sentence. Returns the number of findings that hold. */
size_t hypervisor_findings_report(const struct hypervisor_nic *nic, int64_t interval_ns,
    char out[HYPERVISOR_FINDINGS][FINDING_BYTES]);

#endif
