/*
 * localise_part - the paths over a part that is known only by its name. Pure. A name
 * may be used longer than its element exists: an incident may be older than this
 * process, and the last path over a link may have moved to another link.
 */
#ifndef ANALYZER_PATHS_LOCALISE_PART_H
#define ANALYZER_PATHS_LOCALISE_PART_H

#include "analyzer/paths/localise_map.h"

/* The part, or one of "A or B", is on this path. */
bool localise_part_on(const struct rm_part *part, const struct localise_path *path);

/* The link element is the link part, or one of "A or B", in either direction. */
bool localise_part_is_link(
    const struct rm_part *part, const struct localise_element *link);

/* The link part names a link of this switch; false of other parts. */
bool localise_part_is_end(const struct rm_part *part, const char *name);

/* Equal names and types; ToR and switch count as one type: a ToR that loses only a
 * share is reported as a switch. */
bool localise_part_same(const struct rm_part *a, const struct rm_part *b);

/* Calls on(node, arg) for switches and ToRs: each path over the part crosses one of
 * them. */
void localise_part_nodes(const struct localise_map *map, const struct rm_part *part,
    void (*on)(struct localise_element *node, void *arg), void *arg);

/* Calls on(path, arg) for each path over the part while that returns true. */
void localise_part_paths(const struct localise_map *map, const struct rm_part *part,
    bool (*on)(struct localise_path *path, void *arg), void *arg);

#endif
