/*
 * hypervisor_findings - describes in sentences which problems the counters of a vmnic
 * show in the last interval. Pure.
 *
 * Global pause (802.3x) and PFC are distinguished: global pause stops all priorities at
 * the same time, including those of CNPs and of control traffic. The thresholds are
 * rough values for an operator; a finding alone does not show that the host is at
 * fault.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

struct hypervisor_nic;

enum hypervisor_finding {
	FINDING_GLOBAL_PAUSE_ON,   /* global pause is on, and PFC is off */
	FINDING_GLOBAL_PAUSE_USED, /* frames of global pause were received or sent */
	FINDING_PAUSE_STORM,       /* the vmnic stops the switch nearly all the time */
	FINDING_PAUSED,            /* the switch stops the vmnic for most of the time */
	FINDING_PFC_STEADY,        /* the switch stops the vmnic for some of the time */
	HYPERVISOR_FINDINGS,
};

#define STORM_SHARE_PCT 50 /* paused share of the interval, in percent */
#define STEADY_SHARE_PCT 5
/* limit for a driver that does not count the paused time */
#define STORM_CHANGES_PER_S 10000

#define FINDING_BYTES 320

const char *hypervisor_finding_str(enum hypervisor_finding finding); /* "pause-storm" */
const char *hypervisor_finding_help(enum hypervisor_finding finding);

/* interval_ns: time between the last two readings; 0: there was only one, so findings
 * that need a difference of counters are not made. out[i] is a sentence for finding i,
 * or "" if there is no such problem. Returns the number of sentences. */
size_t hypervisor_findings_report(const struct hypervisor_nic *nic, int64_t interval_ns,
    char out[HYPERVISOR_FINDINGS][FINDING_BYTES]);

#endif
