/*
 * path_set - each distinct path once, by a number, with its text. Pure.
 *
 * Paths are told apart by the addresses that answered, not by names, so that a plan's
 * new aliases only rename them. A number stays with its path while a flow holds it, and
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
#define PATH_FIRST 2u     /* the first real one */

struct path_hops { /* no padding: it is hashed as bytes */
	uint8_t family, hop_count;
	uint8_t hops[WIRE_MAX_HOPS][16]; /* as in wire_path; zero behind the last */
};

int path_set_new(size_t max_paths, struct path_set **ret);
void path_set_free(struct path_set *set);

/* The number of this path, held once more. -ENOSPC: too many; -ENOMEM. */
int path_set_hold(struct path_set *set, const struct path_hops *route,
    const struct hop_names *names, uint32_t *ret);
void path_set_drop(struct path_set *set, uint32_t path);

/* The texts again, by new names; those for which there is no memory stay. */
void path_set_rename(struct path_set *set, const struct hop_names *names);

/* Forgets paths that nobody holds: their numbers are used again. */
void path_set_sweep(struct path_set *set);

/* Hops as struct wire_path_row has them; until the next rename or sweep. */
const char *path_set_text(const struct path_set *set, uint32_t path);
/* A bit for each switch between the first and the last, by its name: paths without a
 * bit in common share none, whatever their number. All bits: not all of them are known.
 */
uint64_t path_set_switches(const struct path_set *set, uint32_t path);
/* False: no such path, or no flow takes it now. */
bool path_set_hops(const struct path_set *set, uint32_t path, struct path_hops *ret);
size_t path_set_count(const struct path_set *set); /* distinct ones, held or not */
uint32_t path_set_end(const struct path_set *set); /* all numbers are below */

#endif
