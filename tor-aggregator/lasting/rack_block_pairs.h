/*
 * rack_block_pairs - counts the losses of each pair of RNICs of a rack, in each of the
 * last RACK_BLOCKS blocks of RACK_BLOCK_SECONDS seconds. Pure.
 *
 * Each second is added once. The sum over a longer window is calculated on request; it
 * has receive counts only if all seconds of the window have them.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_BLOCK_PAIRS_H
#define TOR_AGGREGATOR_LASTING_RACK_BLOCK_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#define RACK_BLOCKS 12
#define RACK_BLOCK_SECONDS 10

struct rack;
struct rack_block_pairs;
struct rack_pair;
struct window_closed;
struct window_pair;

int rack_block_pairs_new(struct rack_block_pairs **ret);
void rack_block_pairs_free(struct rack_block_pairs *table);

/* The same as rack_blocks_renumber. remotes: number of remote RNICs whose data are
 * kept. */
int rack_block_pairs_renumber(struct rack_block_pairs *table, const struct rack *rack,
    size_t remotes, const size_t *moved);

/* Starts a block, and overwrites the block that is RACK_BLOCKS older. */
void rack_block_pairs_begin(struct rack_block_pairs *table, int64_t block);
/* Frees the memory of pairs without probes. */
void rack_block_pairs_tidy(struct rack_block_pairs *table);

/* Adds one pair's results of one second. from: the pair in that second's window; sizes:
 * its results by probe size, `count` items. Returns 0, or -ENOMEM if there is no room
 * for another pair. */
int rack_block_pairs_add(struct rack_block_pairs *table, int64_t second,
    const struct window_pair *from, const struct rack_pair *sizes, size_t count);

/* Deletes the results of all pairs of one member. */
void rack_block_pairs_forget(struct rack_block_pairs *table, size_t member);

/* Sums up the seconds first to newest; first must be the start of a block. *ret is
 * valid until the next call. Returns 0 or -ENOMEM. */
int rack_block_pairs_sum(struct rack_block_pairs *table, int64_t first, int64_t newest,
    struct window_closed *ret);

#endif
