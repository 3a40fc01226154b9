/*
 * passage_index - the passages (see windowed.h) that crossed each link and each switch.
 */
#ifndef TESTS_SIM_PASSAGE_INDEX_H
#define TESTS_SIM_PASSAGE_INDEX_H

#include "tests/sim/windowed.h"

#define PASSAGE_PARTS (2 * PASSAGE_LINKS)

/* the passages of part p are list[first[p]] to list[first[p + 1] - 1] */
struct passage_index {
	size_t *first;
	uint32_t *list;
};

/* Returns the parts of a passage: the links first, then each switch once. */
size_t passage_parts(const struct clos *clos, const struct passage *passage,
    uint32_t parts[PASSAGE_PARTS]);

int passage_index_init(struct passage_index *index, const struct clos *clos,
    const struct passage *passages, size_t count); /* -ENOMEM */
void passage_index_clear(struct passage_index *index);

#endif
