/*
 * rack_block_pairs - the losses of each pair of a rack in each of the last blocks of
 * seconds. Pure.
 *
 * A second is added once; a longer window is summed up on request. Receive counts are
 * returned if all seconds of the window have them.
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

/* As rack_blocks_renumber; the number of remote RNICs that are kept is limited. */
int rack_block_pairs_renumber(struct rack_block_pairs *table, const struct rack *rack,
    size_t remotes, const size_t *moved);

/* Starts this block; the one before in its place is too old. */
void rack_block_pairs_begin(struct rack_block_pairs *table, int64_t block);
/* Frees the memory of pairs without probes. */
void rack_block_pairs_tidy(struct rack_block_pairs *table);

/* from: pair of this second; sizes: its counts by size. -ENOMEM: no room for another
 * pair. */
int rack_block_pairs_add(struct rack_block_pairs *table, int64_t second,
    const struct window_pair *from, const struct rack_pair *sizes, size_t count);

/* Forgets all pairs of one member. */
void rack_block_pairs_forget(struct rack_block_pairs *table, size_t member);

/* The sum of the seconds first .. newest; first begins a block. Valid until the next
 * call. -ENOMEM. */
int rack_block_pairs_sum(struct rack_block_pairs *table, int64_t first, int64_t newest,
    struct window_closed *ret);

#endif
