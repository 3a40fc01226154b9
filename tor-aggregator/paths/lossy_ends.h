/*
 * lossy_ends - finds RNICs that themselves lose part of their packets, by the losses of
 * their flows. Pure.
 *
 * If for some seconds an RNIC loses part of the packets of each flow, while other RNICs
 * at its ToR lose almost none, the RNIC is at fault, and not a path. The same holds if
 * there are no others to compare with, and packets are lost on several paths at the
 * same time: one faulty RNIC is more likely than several faulty paths, unless the
 * RNIC's flows over one switch lose packets at a much higher rate than its other flows.
 * A flow that loses all packets is evidence against a faulty RNIC, because faulty paths
 * lose whole flows.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H
#define TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H

#include <stdint.h>

struct flow_second;
struct lossy_ends;

/* probes that were left out because of remote RNICs, and because of members */
struct lossy_ends_counts {
	uint64_t remote, own;
};

int lossy_ends_new(struct lossy_ends **ret);
void lossy_ends_free(struct lossy_ends *ends);

/* Marks flows of such RNICs as left out. Flows that are marked already are not used as
 * evidence. Call it for each second, in order. */
void lossy_ends_judge(struct lossy_ends *ends, struct flow_second *second);

/* Deletes all sums. Call it when RNICs were renumbered. */
void lossy_ends_forget(struct lossy_ends *ends);

const struct lossy_ends_counts *lossy_ends_counts(const struct lossy_ends *ends);

#endif
