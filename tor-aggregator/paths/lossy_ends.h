/*
 * lossy_ends - RNICs that lose some of their packets themselves, as seen from their
 * flows. Pure.
 *
 * Of whom a part of every flow is lost, over some seconds, while others of its ToR lose
 * next to nothing: that is no path's fault either. Nor is it where nobody else tells,
 * and it loses so on several paths at once: one RNIC is likelier than all of them. A
 * flow of which everything is lost speaks against it: that is how paths swallow flows.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H
#define TOR_AGGREGATOR_PATHS_LOSSY_ENDS_H

#include <stdint.h>

struct flow_second;
struct lossy_ends;

struct lossy_ends_counts { /* probes left out */
	uint64_t remote, own;
};

int lossy_ends_new(struct lossy_ends **ret);
void lossy_ends_free(struct lossy_ends *ends);

/* One second after another. Marks more flows as left out; those that are already say
 * nothing. */
void lossy_ends_judge(struct lossy_ends *ends, struct flow_second *second);

/* RNICs were renumbered. */
void lossy_ends_forget(struct lossy_ends *ends);

const struct lossy_ends_counts *lossy_ends_counts(const struct lossy_ends *ends);

#endif
