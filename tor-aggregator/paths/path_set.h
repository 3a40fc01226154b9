/*
 * path_set - stores each distinct path once, with a number and a text. Pure.
 *
 * Two paths are distinct if the addresses of their hops differ, so new aliases in a
 * plan only rename paths. A path keeps its number as long as a flow has a reference to
 * it, and after that until path_set_sweep.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_SET_H
#define TOR_AGGREGATOR_PATHS_PATH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct hop_names;
struct path_set;

#define PATH_UNTRACED 0u  /* text "" */
#define PATH_MULTIPATH 1u /* text "*" */
#define PATH_FIRST 2u     /* first number of a real path */

struct path_hops { /* There is no padding, because the struct is hashed as bytes. */
	uint8_t family, hop_count;
	/* the same as in wire_path; zeros after the last hop */
	uint8_t hops[WIRE_MAX_HOPS][16];
};

int path_set_new(size_t max_paths, struct path_set **ret);
void path_set_free(struct path_set *set);

/* Finds or adds the path, adds a reference, and sets *ret to its number. -ENOSPC: too
 * many paths; -ENOMEM. */
int path_set_hold(struct path_set *set, const struct path_hops *route,
    const struct hop_names *names, uint32_t *ret);
void path_set_drop(struct path_set *set, uint32_t path);

/* Writes the texts of all paths with new names. Without memory for a text the old one
 * stays. */
void path_set_rename(struct path_set *set, const struct hop_names *names);

/* Deletes paths without references. Their numbers may be used again. */
void path_set_sweep(struct path_set *set);

/* The path's text, as in struct wire_path_row; valid until the next rename or sweep. */
const char *path_set_text(const struct path_set *set, uint32_t path);
/* Returns a bit for each switch between the first and the last hop, by a hash of its
 * name. Two paths without a common bit have no common switch between their ends. All
 * bits are set if a switch is not known. */
uint64_t path_set_switches(const struct path_set *set, uint32_t path);
/* False: there is no such path, or it has no reference. */
bool path_set_hops(const struct path_set *set, uint32_t path, struct path_hops *ret);
/* Number of paths, including paths without references. */
size_t path_set_count(const struct path_set *set);
/* Returns a number that is larger than the numbers of all paths. */
uint32_t path_set_end(const struct path_set *set);

#endif
