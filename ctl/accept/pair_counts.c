#include "ctl/accept/pair_counts.h"

#include <stdlib.h>
#include <uthash.h>

struct pair_entry {
	uint64_t key;
	size_t at;
	UT_hash_handle hh;
};

struct pair_counts {
	struct pair_entry *index;
	struct pair_count *list;
	size_t count, allocated;
	uint64_t left_out;
};

struct pair_counts *
pair_counts_new(void)
{
	return calloc(1, sizeof(struct pair_counts));
}

void
pair_counts_free(struct pair_counts *pairs)
{
	struct pair_entry *entry, *next;

	if (pairs == NULL)
		return;
	HASH_ITER (hh, pairs->index, entry, next) {
		HASH_DEL(pairs->index, entry);
		free(entry);
	}
	free(pairs->list);
	free(pairs);
}

static struct pair_count *
pair_new(struct pair_counts *pairs, uint64_t key)
{
	struct pair_entry *entry;

	if (pairs->count == pairs->allocated) {
		size_t allocated = pairs->allocated == 0 ? 64 : 2 * pairs->allocated;
		struct pair_count *list =
		    realloc(pairs->list, allocated * sizeof(*list));

		if (list == NULL)
			return NULL;
		pairs->list = list;
		pairs->allocated = allocated;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	entry->key = key;
	entry->at = pairs->count;
	HASH_ADD(hh, pairs->index, key, sizeof(key), entry);
	pairs->list[pairs->count] =
	    (struct pair_count){ .from = (uint32_t)(key >> 32), .to = (uint32_t)key };
	return &pairs->list[pairs->count++];
}

void
pair_counts_add(struct pair_counts *pairs, uint32_t from, uint32_t to, bool lost)
{
	const uint64_t key = (uint64_t)from << 32 | to;
	struct pair_count *pair = NULL;
	struct pair_entry *entry;

	HASH_FIND(hh, pairs->index, &key, sizeof(key), entry);
	if (entry != NULL)
		pair = &pairs->list[entry->at];
	else if (pairs->count < PAIR_COUNTS_MAX)
		pair = pair_new(pairs, key);
	if (pair == NULL) {
		pairs->left_out++;
		return;
	}
	pair->sent++;
	pair->lost += lost;
}

size_t
pair_counts_count(const struct pair_counts *pairs)
{
	return pairs->count;
}

uint64_t
pair_counts_left_out(const struct pair_counts *pairs)
{
	return pairs->left_out;
}

const struct pair_count *
pair_counts_at(const struct pair_counts *pairs, size_t i)
{
	return &pairs->list[i];
}
