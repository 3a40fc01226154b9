/*
 * localise_listed - keeps the list of paths with losses: first the paths with losses in
 * the last seconds, then those with losses in the last two minutes, which the bins
 * cover. Pure.
 */
#ifndef ANALYZER_PATHS_LOCALISE_LISTED_H
#define ANALYZER_PATHS_LOCALISE_LISTED_H

#include "analyzer/paths/localise_path.h"

/* Call it when the path has lost packets: puts it into the first part of the list.
 * Returns 0 or -ENOMEM. */
int localise_list(struct localise_map *map, struct localise_path *path);
void localise_unlist(struct localise_map *map, struct localise_path *path);
/* Moves paths that have lost nothing for seconds to the second part of the list, and
 * takes those that have lost nothing for two minutes off the list. */
void localise_listed_tidy(struct localise_map *map, rm_mono_t now);
/* Returns how many paths of map->lossy, from the first one on, may have losses in the
 * time that `seen` covers: seconds or two minutes. */
size_t localise_listed(const struct localise_map *map, localise_seen *seen);

#endif
