/*
 * localise_map - the paths between racks, and their observations. Pure. A path is one
 * path of one rack: switches and directed links; two cables between the same switches
 * are distinguished by the address of the interface that answered. Its probes and
 * losses are known for the newest two sets of rows, and for about two minutes in bins
 * of 16 s. Its elements know all the paths that cross them.
 */
#ifndef ANALYZER_PATHS_LOCALISE_MAP_H
#define ANALYZER_PATHS_LOCALISE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/paths/localise_path.h"

void localise_map_release(struct localise_map *map);

struct localise_rack *localise_map_find_rack(
    const struct localise_map *map, const char *tor);
/* *ret: found or made. -ENOBUFS, -ENOMEM. */
int localise_map_rack(
    struct localise_map *map, const char *tor, struct localise_rack **ret);

/* Adds a rack's row of a path, which may be new. -EINVAL: no path; -ENOBUFS, -ENOMEM.
 */
int localise_map_path(struct localise_map *map, struct localise_rack *rack,
    const struct wire_path_row *row, struct localise_path **ret);

/* A new set of rows of this rack begins, of the time until `end`; late_ns: so much
 * later than rows take they come. */
void localise_map_frame(
    struct localise_rack *rack, rm_wall_t end, int64_t late_ns, rm_mono_t now);
/* One of them: covered_ns is what it counts, window_ns the newest part of that, in
 * which whatever was lost was lost. -ENOMEM: its losses do not count. */
int localise_map_row(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now);
/* Forgets paths that have not been in its rows for long. */
void localise_map_sweep(
    struct localise_map *map, struct localise_rack *rack, rm_mono_t now);

/* Adds what was seen of it: in its newest rows, or in the newest two sets. */
void localise_path_newest(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
void localise_path_recent(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

/* Round trips that ended in the newest two sets of rows and were timed, as .sent, and
 * the slow ones of them, as .unknown. For a path that has become slow between the two,
 * only the newest set. */
void localise_path_late(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

/* Of the newest set of rows, or of the one before (age 1). NULL: it is in none, or in
 * an old one. */
const struct localise_counts_seen *localise_path_row(
    const struct localise_path *path, uint32_t age, rm_mono_t now);

bool localise_path_crosses(
    const struct localise_path *path, const struct localise_element *element);
static inline const char *
localise_path_dst(const struct localise_path *path)
{
	return path->elements[path->element_count - 1]->a;
}

/* Switches, links and pairs of racks that paths cross. Pure. They exist while a path
 * crosses them; a pair, while one does in either direction. */

/* The number of a pair's paths that differ in the elements that they cross: two that
 * only differ in the port by which they enter their first switch count as one. At least
 * 1. */
size_t localise_element_courses(const struct localise_element *pair);

#endif
