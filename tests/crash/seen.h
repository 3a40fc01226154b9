/*
 * seen - a set of 64-bit hashes. Pure.
 */
#ifndef TESTS_CRASH_SEEN_H
#define TESTS_CRASH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct seen {
	uint64_t *slots; /* 0: an empty slot */
	size_t count, capacity;
};

static inline bool
seen_put(struct seen *seen, uint64_t hash)
{
	size_t at = hash & (seen->capacity - 1);

	while (seen->slots[at] != 0 && seen->slots[at] != hash)
		at = (at + 1) & (seen->capacity - 1);
	if (seen->slots[at] == hash)
		return false;
	seen->slots[at] = hash;
	seen->count++;
	return true;
}

/* False: it was in the set already. */
static inline bool
seen_add(struct seen *seen, uint64_t hash)
{
	if (seen->count * 2 >= seen->capacity) {
		struct seen grown = { NULL, 0, seen->capacity == 0 ? 4096 : 0 };

		if (grown.capacity == 0)
			grown.capacity = seen->capacity * 2;
		grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
		if (grown.slots == NULL)
			abort();
		for (size_t i = 0; i < seen->capacity; i++)
			if (seen->slots[i] != 0)
				seen_put(&grown, seen->slots[i]);
		free(seen->slots);
		*seen = grown;
	}
	return seen_put(seen, hash == 0 ? 1 : hash);
}

#endif
