/*
 * rack_blocks - what the pairs of a rack, and its RNICs, lost in the last two minutes.
 * Pure.
 *
 * The stage above rack_seconds: each new second is added once, to a block of ten
 * seconds; the last twelve blocks are kept. What a shorter window has explained of a
 * second, by blaming one of its ends, is not in it, nor is what may not bear witness.
 * Only probes inside the rack, where three RNICs or more tell each other apart; smaller
 * racks need the others, too.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_BLOCKS_H
#define TOR_AGGREGATOR_LASTING_RACK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/lasting/rack_block_pairs.h"

struct rack;
struct rack_blame;
struct rack_blocks;
struct window_closed;

int rack_blocks_new(struct rack_blocks **ret);
void rack_blocks_free(struct rack_blocks *blocks);

/* The rack's members or remote RNICs are others, or have other numbers. Those that it
 * still has keep what is known of them; moved: by old member its new number, SIZE_MAX
 * if there is none. -ENOMEM: empty, for no member. */
int rack_blocks_renumber(
    struct rack_blocks *blocks, const struct rack *rack, const size_t *moved);

/* A second of which nothing was added yet. blame: what its own explanation says. known:
 * by member, that a verdict stands; its probes tell of it, and of none of its peers. Of
 * such a one those that leave the rack tell, too. -ENOMEM: some of them are missing. */
int rack_blocks_add(struct rack_blocks *blocks, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame,
    const bool *known);

/* All of its probes so far are explained: with its peers they tell nothing more. */
void rack_blocks_forget(struct rack_blocks *blocks, size_t member);

struct rack_block_newest { /* round trips from and to one member */
	uint32_t sent, lost;
	bool blamed; /* a shorter window has explained them */
};

const struct rack_block_newest *rack_blocks_newest(
    const struct rack_blocks *blocks, size_t member);

struct rack_block_seconds { /* in which something was sent from or to a member */
	unsigned seconds, lossy;
	double expected; /* lossy ones, where nothing is at fault */
};

/* Of the newest blocks, the one that is not full yet included. */
struct rack_block_seconds rack_blocks_seconds(
    const struct rack_blocks *blocks, size_t member, unsigned count);

/* *ret, of the newest blocks, lives until the next call. -ENOMEM. */
int rack_blocks_sum(
    struct rack_blocks *blocks, unsigned count, struct window_closed *ret);

#endif
