/*
 * localise_part - finds the paths over a part that is known only by its name. Pure. A
 * name may be used longer than its element exists: an incident may be older than this
 * process, and the last path over a link may have moved to another link.
 */
#ifndef ANALYZER_PATHS_LOCALISE_PART_H
#define ANALYZER_PATHS_LOCALISE_PART_H

#include "analyzer/paths/localise_map.h"

/* True: the part, or a part of "A or B", is on this path. */
bool localise_part_on(const struct rm_part *part, const struct localise_path *path);

/* The link element is the link part, or one of "A or B", in either direction. */
bool localise_part_is_link(
    const struct rm_part *part, const struct localise_element *link);

/* True: the part is a link, and its name has this switch at one end. */
bool localise_part_is_end(const struct rm_part *part, const char *name);

/* True: names and types are equal. ToR and switch count as one type, because a ToR that
 * loses only a share is reported as a switch. */
bool localise_part_same(const struct rm_part *a, const struct rm_part *b);

/* Calls on(node, arg) for switches and ToRs: each path over the part crosses at least
 * one of the nodes that are visited. */
void localise_part_nodes(const struct localise_map *map, const struct rm_part *part,
    void (*on)(struct localise_element *node, void *arg), void *arg);

/* Calls on(path, arg) for each path over the part, until it returns false. */
void localise_part_paths(const struct localise_map *map, const struct rm_part *part,
    bool (*on)(struct localise_path *path, void *arg), void *arg);

#endif
