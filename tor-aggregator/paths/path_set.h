/*
 * path_set - each distinct path once, with a number and its text. Pure.
 *
 * Paths are distinguished by the addresses that answered, not by names, so a plan's new
 * aliases only rename them. A number stays with its path while a flow holds it, and
 * after that until path_set_sweep.
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
#define PATH_FIRST 2u     /* the first number of a path */

struct path_hops { /* no padding: it is hashed as bytes */
	uint8_t family, hop_count;
	/* As in wire_path; zeros behind the last hop. */
	uint8_t hops[WIRE_MAX_HOPS][16];
};

int path_set_new(size_t max_paths, struct path_set **ret);
void path_set_free(struct path_set *set);

/* The number of this path, with one more reference. -ENOSPC: too many; -ENOMEM. */
int path_set_hold(struct path_set *set, const struct path_hops *route,
    const struct hop_names *names, uint32_t *ret);
void path_set_drop(struct path_set *set, uint32_t path);

/* Makes the texts again with new names; if there is no memory for one, the old text
 * stays. */
void path_set_rename(struct path_set *set, const struct hop_names *names);

/* Forgets paths without references: their numbers are used again. */
void path_set_sweep(struct path_set *set);

/* Hops as in struct wire_path_row; valid until the next rename or sweep. */
const char *path_set_text(const struct path_set *set, uint32_t path);
/* A bit for each switch between the first and the last, by a hash of its name: paths
 * without a common bit have no common switch. All bits: some switch is not known. */
uint64_t path_set_switches(const struct path_set *set, uint32_t path);
/* False: there is no such path, or no flow takes it now. */
bool path_set_hops(const struct path_set *set, uint32_t path, struct path_hops *ret);
/* Distinct paths, with references or not. */
size_t path_set_count(const struct path_set *set);
uint32_t path_set_end(const struct path_set *set); /* above all numbers */

#endif
