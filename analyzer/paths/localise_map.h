/*
 * localise_map - the paths between racks, and their observations. Pure. A path leads
 * from one rack to another over elements: switches and directed links. Two cables
 * between the same switches are distinguished by the address of the interface that
 * answered the trace. Each path has its probes and losses of the newest two sets of
 * rows, and of about two minutes in bins of 16 s. Each element lists all paths that
 * cross it.
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
/* *ret: found or made. -ENOBUFS: too many racks; -ENOMEM. */
int localise_map_rack(
    struct localise_map *map, const char *tor, struct localise_rack **ret);

/* *ret: the path of this row, found or made. -EINVAL: the row's text is no path;
 * -ENOBUFS: too many paths; -ENOMEM. */
int localise_map_path(struct localise_map *map, struct localise_rack *rack,
    const struct wire_path_row *row, struct localise_path **ret);

/* Begins a new set of rows of this rack: those of one summary, of the time until `end`.
 * late_ns: how much later than usual it has arrived. */
void localise_map_frame(
    struct localise_rack *rack, rm_wall_t end, int64_t late_ns, rm_mono_t now);
/* Adds one row of the set to the path. covered_ns: the time that the row covers;
 * window_ns: the newest part of that time, in which all its losses are. -ENOMEM: its
 * losses do not count. */
int localise_map_row(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now);
/* Frees paths that have not been in the rack's rows for 12 row intervals. */
void localise_map_sweep(
    struct localise_map *map, struct localise_rack *rack, rm_mono_t now);

/* Adds the path's counts to *sum: of its newest rows, or of the newest two sets. */
void localise_path_newest(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
void localise_path_recent(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

/* The counts of one class. others, if not NULL: those of all other classes. */
struct localise_sum localise_sum_of_class(
    const struct localise_sum *sum, uint8_t dscp, struct localise_sum *others);

/* reverse: leaves out the lost replies; unknown: leaves out the losses of unknown
 * direction. The direction of the losses of one class is not known: each class keeps
 * the same share of its losses. */
void localise_sum_leave_out(struct localise_sum *sum, bool reverse, bool unknown);

/* Adds the timed round trips of the newest two sets of rows as .sent, and the slow ones
 * of them, with replies that arrived after their timeout, as .unknown. For a path that
 * has become slow between the two sets, only the newest one counts. */
void localise_path_late(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

/* The path's counts in the newest set of rows (age 0), or in the one before (age 1).
 * NULL: it is not in that set, or the set is too old. */
const struct localise_counts_seen *localise_path_row(
    const struct localise_path *path, uint32_t age, rm_mono_t now);

/* The nth of a sample of `count` of the element's paths, from 0 on; if it has no more
 * paths than that, the nth path. */
struct localise_path *localise_element_sample(
    const struct localise_element *element, size_t count, size_t nth);

bool localise_path_crosses(
    const struct localise_path *path, const struct localise_element *element);
/* Of this path only the ends are known: its flows are not traced, or their packets take
 * several paths. */
static inline bool
localise_path_is_unknown(const struct localise_path *path)
{
	return path->element_count == 2 && !path->is_traced;
}
static inline const char *
localise_path_dst(const struct localise_path *path)
{
	return path->elements[path->element_count - 1]->a;
}

/* Elements are the switches, links and pairs of racks that paths cross. An element
 * exists while a path crosses it; a pair, while one does in either direction. */

/* The number of a pair's paths that differ in the elements that they cross: two paths
 * that differ only in the port by which they enter their first switch count as one. At
 * least 1, at most 64. */
size_t localise_element_courses(const struct localise_element *pair);

#endif
