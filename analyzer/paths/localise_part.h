/*
 * localise_part - the ways over a part that is known by its name. Pure.
 *
 * Names outlive elements: an incident may be older than we are, and a way that was
 * traced anew may be the last one over a link.
 */
#ifndef ANALYZER_PATHS_LOCALISE_PART_H
#define ANALYZER_PATHS_LOCALISE_PART_H

#include "analyzer/paths/localise_map.h"

/* The part, or one of "A or B", is on this way. */
bool localise_part_on(const struct rm_part *part, const struct localise_path *path);

/* A link element is (one of) what the link part names, either way. */
bool localise_part_is_link(
    const struct rm_part *part, const struct localise_element *link);

/* The link part names a link of this switch; false of other parts. */
bool localise_part_is_end(const struct rm_part *part, const char *name);

/* ToR or switch: a ToR that does not lose all is a switch among others. */
bool localise_part_same(const struct rm_part *a, const struct rm_part *b);

/* Calls on(way, arg) for each way over the part while that returns true. */
void localise_part_paths(const struct localise_map *map, const struct rm_part *part,
    bool (*on)(struct localise_path *path, void *arg), void *arg);

#endif
