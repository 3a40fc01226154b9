#include "tor-aggregator/window/pair_table.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SLOT_BITS 6

void
pair_table_init(struct pair_table *table, size_t max)
{
	*table = (struct pair_table){ .max = max };
}

void
pair_table_release(struct pair_table *table)
{
	free(table->pairs);
	free(table->slots);
	pair_table_init(table, table->max);
}

void
pair_table_clear(struct pair_table *table)
{
	if (table->count > 0)
		memset(table->slots, 0, sizeof(uint32_t) << table->slot_bits);
	table->count = 0;
}

/* Fibonacci hashing: the top bits of the product depend on all of both indexes. */
static size_t
first_slot(const struct pair_table *table, uint32_t src, uint32_t dst)
{
	const uint64_t key = (uint64_t)src << 32 | dst;

	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - table->slot_bits));
}

/* Doubles the slots, and makes room for pairs in half of them. */
static int
grow(struct pair_table *table)
{
	const unsigned bits =
	    table->slots == NULL ? MIN_SLOT_BITS : table->slot_bits + 1;
	const size_t slots = (size_t)1 << bits;
	struct window_pair *pairs;
	uint32_t *index;

	pairs = realloc(table->pairs, slots / 2 * sizeof *pairs);
	if (pairs == NULL)
		return -1;
	table->pairs = pairs;
	index = calloc(slots, sizeof *index);
	if (index == NULL)
		return -1;
	free(table->slots);
	table->slots = index;
	table->slot_bits = bits;
	for (size_t i = 0; i < table->count; i++) {
		size_t at = first_slot(table, pairs[i].src, pairs[i].dst);

		while (index[at] != 0)
			at = (at + 1) & (slots - 1);
		index[at] = (uint32_t)i + 1;
	}
	return 0;
}

static struct window_pair *
add(struct pair_table *table, uint32_t src, uint32_t dst, size_t slot)
{
	struct window_pair *pair = &table->pairs[table->count];

	*pair = (struct window_pair){ .src = src, .dst = dst };
	table->slots[slot] = (uint32_t)++table->count;
	return pair;
}

struct window_pair *
pair_table_get(struct pair_table *table, uint32_t src, uint32_t dst)
{
	size_t at, mask;

	if (table->slots == NULL && grow(table) < 0)
		return NULL;
	for (;;) {
		mask = ((size_t)1 << table->slot_bits) - 1;
		for (at = first_slot(table, src, dst); table->slots[at] != 0;
		     at = (at + 1) & mask) {
			struct window_pair *pair = &table->pairs[table->slots[at] - 1];

			if (pair->src == src && pair->dst == dst)
				return pair;
		}
		if (table->count >= table->max)
			return NULL;
		if (table->count < (mask + 1) / 2)
			return add(table, src, dst, at);
		if (grow(table) < 0)
			return NULL;
	}
}
