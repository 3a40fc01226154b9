/*
 * localise_bins - counts probes and losses on paths in the last two minutes. Pure. A
 * loss of one packet in several hundred is not seen in single seconds: bins of 16 s add
 * up the rows, and the newest eight bins count together.
 */
#ifndef ANALYZER_PATHS_LOCALISE_BINS_H
#define ANALYZER_PATHS_LOCALISE_BINS_H

#include "analyzer/paths/localise_path.h"

#define LOCALISE_WINDOW_NS (LOCALISE_BINS * LOCALISE_BIN_NS)
/* The window is divided into 64 slots. localise_path.lossy_slots has a bit for each
 * slot: the bit is 1 if a probe was lost in this slot, or may have been lost, on its
 * way out. A burst of losses thus counts as one observation. */
#define LOCALISE_SLOT_NS (LOCALISE_WINDOW_NS / 64)

/* Adds one row. Rows that arrive soon after one of the path's racks has found a fault
 * of its own are left out: they still describe that fault. */
void localise_bins_add(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, rm_mono_t now);
/* Clears the path's bins: a known fault explains its losses, or may explain them. */
void localise_bins_forget(struct localise_path *path);
/* The same for what arrived until `at`, and for the rest of the bin of that time. */
void localise_bins_forget_until(struct localise_path *path, rm_mono_t at);
/* Clears only the losses that are, or may be, lost replies, with their probes. */
void localise_bins_forget_replies(struct localise_path *path);
/* The same for what arrived until `at`, and for the rest of the bin of that time. */
void localise_bins_forget_replies_until(struct localise_path *path, rm_mono_t at);
/* Notes one row, which covers the covered_ns before now, also if it is not to be added:
 * the slots without a loss since the path's last loss before it, which was at lossy_at.
 */
void localise_bins_note(struct localise_path *path, bool lost, int64_t covered_ns,
    rm_mono_t lossy_at, rm_mono_t now);
/* Returns the slots with rows and without losses, which rows prove: bit i stands for
 * the slot i slots ago. */
uint64_t localise_bins_clean_slots(const struct localise_path *path, rm_mono_t now);
/* Adds the path's counts of all bins, i.e. of two minutes, to *sum. */
void localise_path_slow(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* Adds the path's counts of the newest two bins, i.e. those of the last 16 to 32 s. */
void localise_path_lately(const struct localise_map *map,
    const struct localise_path *path, rm_mono_t now, struct localise_sum *sum);
/* Returns the number of probes sent on all paths in all bins. */
double localise_bins_sent(const struct localise_map *map, rm_mono_t now);

#endif
