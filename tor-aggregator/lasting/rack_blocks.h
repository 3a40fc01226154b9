/*
 * rack_blocks - counts the losses of a rack's RNICs and their pairs in the last two
 * minutes. Pure.
 *
 * It follows rack_slow: each new second is added once, to a block of ten seconds; the
 * last twelve blocks are kept. A pair is not added for a second in which it is no
 * evidence, or in which a shorter window has already named one of its two RNICs. Racks
 * of four RNICs or more use only probes inside the rack, which are enough to find the
 * faulty RNIC; smaller racks use probes to and from other racks, too.
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

/* Call it when members or remote RNICs of the rack, or their numbers, have changed.
 * RNICs that stay keep their data. moved: indexed by the old number of a member, its
 * new number, or SIZE_MAX if it has left. Returns 0, or -ENOMEM: then all data are
 * deleted, and the table has no members. */
int rack_blocks_renumber(
    struct rack_blocks *blocks, const struct rack *rack, const size_t *moved);

/* Adds a second of which nothing was added yet. blame: the RNICs that the explanation
 * of this second names. known: by member, true if there is a verdict on it. Probes
 * between such a member and another one are evidence on that member only; its probes
 * that leave the rack count, too. Returns 0, or -ENOMEM: then some probes are missing.
 */
int rack_blocks_add(struct rack_blocks *blocks, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame,
    const bool *known);

/* Deletes all losses of a member: they are explained, so they must not count against
 * its peers any more. */
void rack_blocks_forget(struct rack_blocks *blocks, size_t member);

struct rack_block_newest { /* round trips from and to one member in the newest second */
	uint32_t sent, lost;
	bool blamed; /* the explanation of that second names the member */
};

const struct rack_block_newest *rack_blocks_newest(
    const struct rack_blocks *blocks, size_t member);

struct rack_block_seconds { /* seconds with at least one probe from or to a member */
	unsigned seconds, lossy;
	double expected; /* number of lossy seconds that are expected without a fault */
};

/* Counts the seconds of the newest `count` blocks, including the block that is not full
 * yet. */
struct rack_block_seconds rack_blocks_seconds(
    const struct rack_blocks *blocks, size_t member, unsigned count);

/* Sums up the newest `count` blocks. *ret is valid until the next call. Returns 0 or
 * -ENOMEM. */
int rack_blocks_sum(
    struct rack_blocks *blocks, unsigned count, struct window_closed *ret);

#endif
