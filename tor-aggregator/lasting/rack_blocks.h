/*
 * rack_blocks - the losses of a rack's RNICs and their pairs in the last two minutes.
 * Pure.
 *
 * The stage above rack_seconds: each new second is added once, to a block of ten
 * seconds; the last twelve blocks are kept. Left out of a second are losses that a
 * shorter window has explained by blaming one of the ends, and pairs that are no
 * evidence. Only probes inside the rack are used, where three RNICs or more can be told
 * apart; smaller racks need the others, too.
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

/* The rack has other members or remote RNICs, or they have other numbers. RNICs that
 * stay keep their data; moved: by old number of a member its new one, SIZE_MAX if
 * there is none. -ENOMEM: empty, for no member. */
int rack_blocks_renumber(
    struct rack_blocks *blocks, const struct rack *rack, const size_t *moved);

/* Adds a second of which nothing was added yet. blame: whom its own explanation
 * blames. known: by member, whether it has a verdict; its probes count for it, and
 * not for its peers. For such a member probes that leave the rack count, too.
 * -ENOMEM: some probes are missing. */
int rack_blocks_add(struct rack_blocks *blocks, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame,
    const bool *known);

/* All its losses so far are explained: they are no evidence against its peers any
 * more. */
void rack_blocks_forget(struct rack_blocks *blocks, size_t member);

struct rack_block_newest { /* round trips from and to one member */
	uint32_t sent, lost;
	bool blamed; /* a shorter window has explained them */
};

const struct rack_block_newest *rack_blocks_newest(
    const struct rack_blocks *blocks, size_t member);

struct rack_block_seconds { /* seconds in which a probe was sent from or to a member */
	unsigned seconds, lossy;
	double expected; /* number of lossy seconds to expect without a fault */
};

/* Of the newest blocks, including the one that is not full yet. */
struct rack_block_seconds rack_blocks_seconds(
    const struct rack_blocks *blocks, size_t member, unsigned count);

/* *ret, of the newest blocks, is valid until the next call. -ENOMEM. */
int rack_blocks_sum(
    struct rack_blocks *blocks, unsigned count, struct window_closed *ret);

#endif
