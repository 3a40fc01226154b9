/*
 * localise_listed - the paths with losses: lately, and as long ago as bins reach. Pure.
 */
#ifndef ANALYZER_PATHS_LOCALISE_LISTED_H
#define ANALYZER_PATHS_LOCALISE_LISTED_H

#include "analyzer/paths/localise_path.h"

/* It lost something just now. -ENOMEM. */
int localise_list(struct localise_map *map, struct localise_path *path);
void localise_unlist(struct localise_map *map, struct localise_path *path);
/* What has lost nothing since, lately or at all, moves on. */
void localise_listed_tidy(struct localise_map *map, rm_mono_t now);
/* How many of map->lossy, from the first, may have losses that are seen so. */
size_t localise_listed(const struct localise_map *map, localise_seen *seen);

#endif
