/*
 * path_ends - finds RNICs that receive or answer nothing, by the losses of their flows.
 * Pure.
 *
 * If all probes of an RNIC since its first loss are lost, over all its paths, while
 * other RNICs of its ToR are still answered, then the RNIC is dead, and no path is at
 * fault. The same holds for a pause: all probes were lost for a part of the second, all
 * were answered before and after it, and the paths have no switch above the racks in
 * common; a host that stalls does that. The flows of a dead RNIC are left out. There
 * are two exceptions: all its flows take one path that also loses packets of other
 * RNICs; or several dead RNICs have one flow each.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_ENDS_H
#define TOR_AGGREGATOR_PATHS_PATH_ENDS_H

#include <stdint.h>

struct flow_second;
struct path_ends;

#define PATH_ENDS_MIN_LOST 3
/* number of flows that must have losses, if the RNIC has that many */
#define PATH_ENDS_MIN_FLOWS 2
/* If this many RNICs of one ToR with one flow each seem dead, not they but the paths of
 * their flows are at fault. */
#define PATH_ENDS_LONE 3
/* If a path has at least this many losses of other RNICs, the path may be at fault. */
#define PATH_ENDS_MIXED_LOST 2

/* The ln of the likelihood ratio from which on pauses are assumed: a constant, and an
 * addition for each pause. */
#define PATH_ENDS_PAUSED_LN 2.0
#define PATH_ENDS_PAUSE_LN 4.0
#define PATH_ENDS_STRAY 1 /* losses of other RNICs that may be chance */

/* number of probes left out because of remote RNICs, and of own members */
struct path_ends_counts {
	uint64_t remote_dead, own_dead;
};

int path_ends_new(struct path_ends **ret);
void path_ends_free(struct path_ends *ends);

/*
 * Marks the flows of dead RNICs as left out. Flows that are marked already are not used
 * as evidence. path_end: above the numbers of all paths. Call it for each second, in
 * order. -ENOMEM: no flow was marked.
 */
int path_ends_judge(
    struct path_ends *ends, struct flow_second *second, uint32_t path_end);

/* Deletes the state of all RNICs. Call it when they were renumbered. */
void path_ends_forget(struct path_ends *ends);

const struct path_ends_counts *path_ends_counts(const struct path_ends *ends);

#endif
