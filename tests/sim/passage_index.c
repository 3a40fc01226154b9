#include "tests/sim/passage_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t
add_switch(
    const struct clos *clos, uint32_t sw, uint32_t *parts, size_t from, size_t count)
{
	if (clos_part(clos, sw)->type < CLOS_TOR)
		return count;
	for (size_t i = from; i < count; i++)
		if (parts[i] == sw)
			return count;
	parts[count] = sw;
	return count + 1;
}

size_t
passage_parts(
    const struct clos *clos, const struct passage *p, uint32_t parts[PASSAGE_PARTS])
{
	size_t count = p->count;

	memcpy(parts, p->links, p->count * sizeof *parts);
	for (uint8_t i = 0; i < p->count; i++) {
		const struct clos_part *link = clos_part(clos, p->links[i]);

		count = add_switch(clos, link->from, parts, p->count, count);
		count = add_switch(clos, link->to, parts, p->count, count);
	}
	return count;
}

int
passage_index_init(struct passage_index *index, const struct clos *clos,
    const struct passage *passages, size_t count)
{
	const uint32_t all = clos_parts(clos);
	uint32_t parts[PASSAGE_PARTS];
	size_t *first = calloc(all + 2, sizeof *first);

	*index = (struct passage_index){ .first = first };
	if (first == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const size_t n = passage_parts(clos, &passages[i], parts);

		for (size_t k = 0; k < n; k++)
			first[parts[k] + 2]++;
	}
	for (uint32_t i = 2; i < all + 2; i++)
		first[i] += first[i - 1];
	index->list = calloc(first[all + 1] + 1, sizeof *index->list);
	if (index->list == NULL) {
		passage_index_clear(index);
		return -ENOMEM;
	}
	/* first[p + 1] is the place of the next entry of p's list; when all entries are
	 * written, it is the end of that list. */
	for (size_t i = 0; i < count; i++) {
		const size_t n = passage_parts(clos, &passages[i], parts);

		for (size_t k = 0; k < n; k++)
			index->list[first[parts[k] + 1]++] = (uint32_t)i;
	}
	return 0;
}

void
passage_index_clear(struct passage_index *index)
{
	free(index->first);
	free(index->list);
	*index = (struct passage_index){ 0 };
}
