/*
 * pair_table - the pairs of one bin or window, found by (src, dst). Pure.
 *
 * Open addressing over a dense array: pairs[0 .. count) are in the order in which
 * they were first seen. Memory grows with what is used and is kept when cleared.
 */
#ifndef TOR_AGGREGATOR_WINDOW_PAIR_TABLE_H
#define TOR_AGGREGATOR_WINDOW_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/window/window_pair.h"

struct pair_table {
	struct window_pair *pairs;
	size_t count, max; /* max: further pairs are refused */
	uint32_t *slots;   /* 0: empty, else an index into pairs + 1 */
	unsigned slot_bits;
};

void pair_table_init(struct pair_table *table, size_t max);
void pair_table_release(struct pair_table *table); /* frees its memory */
void pair_table_clear(struct pair_table *table);   /* empty, memory is kept */

/* Adds a pair of zeros if there is none. NULL: full, or no memory. The pointer is
 * valid until the next pair is added. */
struct window_pair *pair_table_get(
    struct pair_table *table, uint32_t src, uint32_t dst);

#endif
