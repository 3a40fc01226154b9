/*
 * localise_map - stores the paths between racks, and their observations. Pure. A path
 * leads from one rack to another over elements: switches and directed links. Two cables
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
/* *ret: the rack, which is made if it does not exist. Returns 0; -ENOBUFS: there are
 * too many racks; or -ENOMEM. */
int localise_map_rack(
    struct localise_map *map, const char *tor, struct localise_rack **ret);

/* *ret: the path of this row, which is made if it does not exist. Returns 0; -EINVAL:
 * the row's text is no path; -ENOBUFS: there are too many paths; or -ENOMEM. */
int localise_map_path(struct localise_map *map, struct localise_rack *rack,
    const struct wire_path_row *row, struct localise_path **ret);

/* Begins a new set of rows of this rack: the rows of one summary, for the time until
 * `end`. late_ns: how much later than usual the summary has arrived. */
void localise_map_frame(
    struct localise_rack *rack, rm_wall_t end, int64_t late_ns, rm_mono_t now);
/* Adds one row of the set to the path. covered_ns: the time that the row covers;
 * window_ns: the newest part of that time, in which all its losses are. Returns 0, or
 * -ENOMEM: then its losses do not count. */
int localise_map_row(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now);
/* The same for a row of the probes inside the rack. */
int localise_map_inside_row(struct localise_map *map, struct localise_rack *rack,
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

/* Returns the counts of one class. others, if not NULL: the counts of all other
 * classes. */
struct localise_sum localise_sum_of_class(
    const struct localise_sum *sum, uint8_t dscp, struct localise_sum *others);

/* reverse: leaves out the lost replies; unknown: leaves out the losses of unknown
 * direction. The direction of the losses of one class is not known: each class keeps
 * the same share of its losses. */
void localise_sum_leave_out(struct localise_sum *sum, bool reverse, bool unknown);

/* Adds the timed round trips of the newest two sets of rows as .sent, and adds as
 * .unknown those that were slow, and the replies that arrived after their timeout. For
 * a path that has become slow between the two sets, only the newest set counts. */
void localise_path_late(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);

/* Returns the path's counts in the newest set of rows (age 0), or in the set before
 * (age 1). NULL: the path is not in that set, or the set is too old. */
const struct localise_counts_seen *localise_path_row(
    const struct localise_path *path, uint32_t age, rm_mono_t now);

/* Returns the nth path of a sample of `count` of the element's paths, from 0 on. If the
 * element has at most `count` paths, it is the nth of all. */
struct localise_path *localise_element_sample(
    const struct localise_element *element, size_t count, size_t nth);

bool localise_path_crosses(
    const struct localise_path *path, const struct localise_element *element);
/* True: only the ends of this path are known, because its flows are not traced, or
 * their packets take several paths. */
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
 * exists while a path crosses it; a pair exists while a path in either direction
 * crosses it. */

/* Returns how many of a pair's paths differ in the elements that they cross: two paths
 * that differ only in the port by which they enter their first switch count as one. The
 * result is 1 to 64. */
size_t localise_element_courses(const struct localise_element *pair);

#endif
