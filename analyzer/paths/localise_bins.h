/*
 * localise_bins - what was sent and lost on ways in the last two minutes. Pure.
 *
 * Of what loses one packet of several hundred, seconds show nothing: bins of 16 s keep
 * what rows said, the newest eight of them count together.
 */
#ifndef ANALYZER_PATHS_LOCALISE_BINS_H
#define ANALYZER_PATHS_LOCALISE_BINS_H

#include "analyzer/paths/localise_path.h"

#define LOCALISE_WINDOW_NS (LOCALISE_BINS * LOCALISE_BIN_NS)
/* Of as many slots as a number has bits it is known whether anything was lost on the
 * way out: a burst is one witness, however much it took. */
#define LOCALISE_SLOT_NS (LOCALISE_WINDOW_NS / 64)

/* Rows that come soon after something was found in the way's racks still tell of that:
 * they do not count. */
void localise_bins_add(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, rm_mono_t now);
/* What was lost on it is explained, or may be by what is known now: all begins anew. */
void localise_bins_forget(struct localise_path *path);
/* Adds what was seen of it in all bins. */
void localise_path_slow(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* The same of the newest two bins: of the last 16 to 32 s. */
void localise_path_lately(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* What was sent on all ways. */
double localise_bins_sent(const struct localise_map *map, rm_mono_t now);

#endif
