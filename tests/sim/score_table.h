/*
 * score_table - ours and others' scores side by side, as a table for a README. Pure.
 */
#ifndef TESTS_SIM_SCORE_TABLE_H
#define TESTS_SIM_SCORE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "tests/sim/score.h"

/*
 * A line of Markdown for each score: of every class of parts that was at fault, or
 * named, F1 with precision and recall; openings in vain; times to verdict. A dash:
 * nothing was to be found and nothing was named.
 */
void score_table(const struct score *const *scores, const char *const *names,
    size_t count, FILE *out);

#endif
