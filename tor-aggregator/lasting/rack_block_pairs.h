/*
 * rack_block_pairs - what each pair of a rack lost in each of the last blocks of
 * seconds. Pure.
 *
 * A second is added once; a longer window is summed when somebody asks for it. Receive
 * counts are told where all its seconds have them.
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

/* As rack_blocks_renumber; of the rack's remote RNICs only the first so many. */
int rack_block_pairs_renumber(struct rack_block_pairs *table, const struct rack *rack,
    size_t remotes, const size_t *moved);

/* What was in this block is too old. */
void rack_block_pairs_begin(struct rack_block_pairs *table, int64_t block);
/* No memory for those that hold nothing. */
void rack_block_pairs_tidy(struct rack_block_pairs *table);

/* from: of this second; sizes: what it tells. -ENOMEM: no room for another pair. */
int rack_block_pairs_add(struct rack_block_pairs *table, int64_t second,
    const struct window_pair *from, const struct rack_pair *sizes, size_t count);

/* All of one member's. */
void rack_block_pairs_forget(struct rack_block_pairs *table, size_t member);

/* Of the seconds first .. newest, which begin a block. Lives until the next call.
 * -ENOMEM. */
int rack_block_pairs_sum(struct rack_block_pairs *table, int64_t first, int64_t newest,
    struct window_closed *ret);

#endif
