/*
 * lossy_ends - RNICs that lose part of their packets themselves, as their flows show.
 * Pure.
 *
 * If an RNIC loses a part of every flow, over some seconds, while others of its ToR
 * lose next to nothing, no path is at fault. The same holds if there are no others to
 * compare with, and it loses packets on several paths at once: one faulty RNIC is
 * likelier than several faulty paths. A flow of which everything is lost is evidence
 * against that: faulty paths lose whole flows.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H
#define TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H

#include <stdint.h>

struct flow_second;
struct lossy_ends;

struct lossy_ends_counts { /* number of probes left out */
	uint64_t remote, own;
};

int lossy_ends_new(struct lossy_ends **ret);
void lossy_ends_free(struct lossy_ends *ends);

/* Call it for each second in turn. Marks more flows as left out; those marked
 * already are no evidence. */
void lossy_ends_judge(struct lossy_ends *ends, struct flow_second *second);

/* RNICs were renumbered. */
void lossy_ends_forget(struct lossy_ends *ends);

const struct lossy_ends_counts *lossy_ends_counts(const struct lossy_ends *ends);

#endif
