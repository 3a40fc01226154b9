/*
 * path_ends - RNICs that are deaf or dead themselves, as seen from their flows. Pure.
 *
 * Of whom everything is lost since its first loss, over all its paths, while others of
 * its ToR are still answered: that is no path's fault. Nor is it where everything was
 * lost for a part of the second and all is answered before and after it, as of a host
 * that stands still, on paths that have no switch above the racks in common. Its flows
 * are left out, unless the one path that all of them take fails others as well, or
 * several at a time are each known by one flow alone.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_ENDS_H
#define TOR_AGGREGATOR_PATHS_PATH_ENDS_H

#include <stdint.h>

struct flow_second;
struct path_ends;

#define PATH_ENDS_MIN_LOST 3
#define PATH_ENDS_MIN_FLOWS 2  /* that lost, when it has so many */
#define PATH_ENDS_LONE 3       /* of one ToR, with one flow each: it is their flows */
#define PATH_ENDS_MIXED_LOST 2 /* losses of others on a path that make it suspect */

/* ln of how much likelier pauses must be, and of what each of them costs. */
#define PATH_ENDS_PAUSED_LN 2.0
#define PATH_ENDS_PAUSE_LN 4.0
#define PATH_ENDS_STRAY 1 /* losses of others besides */

struct path_ends_counts { /* probes left out */
	uint64_t remote_dead, own_dead;
};

int path_ends_new(struct path_ends **ret);
void path_ends_free(struct path_ends *ends);

/*
 * Marks more flows of the second as left out; those that are already say nothing. Their
 * paths are below path_end. -ENOMEM: nothing was marked.
 */
int path_ends_judge(
    struct path_ends *ends, struct flow_second *second, uint32_t path_end);

/* RNICs were renumbered. */
void path_ends_forget(struct path_ends *ends);

const struct path_ends_counts *path_ends_counts(const struct path_ends *ends);

#endif
