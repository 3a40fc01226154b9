/*
 * localise_bins - probes and losses on paths in the last two minutes. Pure. Seconds do
 * not show a loss of one packet in several hundred: bins of 16 s add up the rows, and
 * the newest eight of them count together.
 */
#ifndef ANALYZER_PATHS_LOCALISE_BINS_H
#define ANALYZER_PATHS_LOCALISE_BINS_H

#include "analyzer/paths/localise_path.h"

#define LOCALISE_WINDOW_NS (LOCALISE_BINS * LOCALISE_BIN_NS)
/* For as many slots as a number has bits it is known whether anything was lost on the
 * way out: a burst counts as one observation, with any number of losses. */
#define LOCALISE_SLOT_NS (LOCALISE_WINDOW_NS / 64)

/* Rows that arrive soon after a finding in the path's racks still describe that fault:
 * they do not count. */
void localise_bins_add(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, rm_mono_t now);
/* Its losses are explained, or may be by a known fault: counting begins again. */
void localise_bins_forget(struct localise_path *path);
/* Adds what was seen of it in all bins. */
void localise_path_slow(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* The same of the newest two bins: of the last 16 to 32 s. */
void localise_path_lately(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* Probes sent on all paths. */
double localise_bins_sent(const struct localise_map *map, rm_mono_t now);

#endif
