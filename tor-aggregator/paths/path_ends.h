/*
 * path_ends - RNICs that are deaf or dead themselves, as their flows show. Pure.
 *
 * If an RNIC loses everything since its first loss, over all its paths, while others of
 * its ToR are still answered, no path is at fault. The same holds if everything was
 * lost for a part of the second and all was answered before and after it, as for a host
 * that stands still, on paths that have no switch above the racks in common. Its flows
 * are left out, unless all of them take one path that loses packets of others as well,
 * or several such RNICs have one flow each.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_ENDS_H
#define TOR_AGGREGATOR_PATHS_PATH_ENDS_H

#include <stdint.h>

struct flow_second;
struct path_ends;

#define PATH_ENDS_MIN_LOST 3
#define PATH_ENDS_MIN_FLOWS 2 /* flows with losses, if it has so many */
/* RNICs of one ToR with one flow each: then their flows are at fault. */
#define PATH_ENDS_LONE 3
/* Losses of others on a path that make the path suspect. */
#define PATH_ENDS_MIXED_LOST 2

/* The ln of the likelihood ratio that pauses need, and the cost of each. */
#define PATH_ENDS_PAUSED_LN 2.0
#define PATH_ENDS_PAUSE_LN 4.0
#define PATH_ENDS_STRAY 1 /* further losses of others that are allowed */

struct path_ends_counts { /* number of probes left out */
	uint64_t remote_dead, own_dead;
};

int path_ends_new(struct path_ends **ret);
void path_ends_free(struct path_ends *ends);

/*
 * Marks more flows of the second as left out; those marked already are no evidence. The
 * numbers of their paths are below path_end. -ENOMEM: nothing was marked.
 */
int path_ends_judge(
    struct path_ends *ends, struct flow_second *second, uint32_t path_end);

/* RNICs were renumbered. */
void path_ends_forget(struct path_ends *ends);

const struct path_ends_counts *path_ends_counts(const struct path_ends *ends);

#endif
