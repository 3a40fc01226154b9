/*
 * hypervisor_findings - what the last interval's counters of a vmnic mean, in words.
 * Pure.
 *
 * Global pause (802.3x) and PFC are told apart: the first stops all priorities at once,
 * those of CNPs and control traffic too. Thresholds are starting points for people to
 * look at, and accuse nobody by themselves.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

struct hypervisor_nic;

enum hypervisor_finding {
	FINDING_GLOBAL_PAUSE_ON,   /* it is set, and PFC is off */
	FINDING_GLOBAL_PAUSE_USED, /* frames have come or gone */
	FINDING_PAUSE_STORM,       /* the vmnic stops the switch, nearly without end */
	FINDING_PAUSED,     /* the switch stops the vmnic, for most of the time */
	FINDING_PFC_STEADY, /* the switch stops it for some of the time */
	HYPERVISOR_FINDINGS,
};

#define STORM_SHARE_PCT 50 /* of the interval, paused */
#define STEADY_SHARE_PCT 5
#define STORM_CHANGES_PER_S 10000 /* where a driver does not count the time */

#define FINDING_BYTES 320

const char *hypervisor_finding_str(enum hypervisor_finding finding); /* "pause-storm" */
const char *hypervisor_finding_help(enum hypervisor_finding finding);

/* interval_ns: between the two last readings; 0: there was one alone, and what is told
 * by deltas is not known. out[i] is "" for what does not hold, else a sentence. Returns
 * how many hold. */
size_t hypervisor_findings_report(const struct hypervisor_nic *nic, int64_t interval_ns,
    char out[HYPERVISOR_FINDINGS][FINDING_BYTES]);

#endif
