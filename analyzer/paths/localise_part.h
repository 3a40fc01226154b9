/*
 * localise_part - the paths over a part that is known by its name. Pure. Names live
 * longer than elements: an incident may be older than this process, and a path that was
 * traced again may be the last one over a link.
 */
#ifndef ANALYZER_PATHS_LOCALISE_PART_H
#define ANALYZER_PATHS_LOCALISE_PART_H

#include "analyzer/paths/localise_map.h"

/* The part, or one of "A or B", is on this path. */
bool localise_part_on(const struct rm_part *part, const struct localise_path *path);

/* The link element is (one of) the link part's, in either direction. */
bool localise_part_is_link(
    const struct rm_part *part, const struct localise_element *link);

/* The link part names a link of this switch; false of other parts. */
bool localise_part_is_end(const struct rm_part *part, const char *name);

/* ToR or switch: a ToR that does not lose all is a switch among others. */
bool localise_part_same(const struct rm_part *a, const struct rm_part *b);

/* Calls on(path, arg) for each path over the part while that returns true. */
void localise_part_paths(const struct localise_map *map, const struct rm_part *part,
    bool (*on)(struct localise_path *path, void *arg), void *arg);

#endif
