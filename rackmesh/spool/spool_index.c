#include "rackmesh/spool/spool_index.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

void
spool_index_clear(struct spool_index *index)
{
	for (uint64_t i = index->first; i < index->last; i++)
		free(spool_index_at(index, i)->data);
	free(index->slots);
	*index = (struct spool_index){ 0 };
}

struct spool_record *
spool_index_at(const struct spool_index *index, uint64_t position)
{
	return &index->slots[position & (index->capacity - 1)];
}

static int
grow(struct spool_index *index)
{
	struct spool_index grown = *index;

	grown.capacity = index->capacity == 0 ? FIRST_CAPACITY : index->capacity * 2;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (grown.slots == NULL)
		return -ENOMEM;
	for (uint64_t i = index->first; i < index->last; i++)
		*spool_index_at(&grown, i) = *spool_index_at(index, i);
	free(index->slots);
	*index = grown;
	return 0;
}

int
spool_index_push(struct spool_index *index, const struct spool_record *record)
{
	if (index->last - index->first == index->capacity) {
		int r = grow(index);

		if (r < 0)
			return r;
	}
	*spool_index_at(index, index->last) = *record;
	index->last++;
	return 0;
}

uint64_t
spool_index_find(const struct spool_index *index, uint64_t seq)
{
	uint64_t low = index->first, high = index->last;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (spool_index_at(index, middle)->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
