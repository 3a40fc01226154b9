/*
 * score_table - the scores of our judge and of others as a table for a README. Pure.
 */
#ifndef TESTS_SIM_SCORE_TABLE_H
#define TESTS_SIM_SCORE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "tests/sim/score.h"

/*
 * Writes a line of Markdown for each score: F1, precision and recall of every class of
 * parts in which a part was at fault or named; false openings; times to a verdict. A
 * dash: there was nothing to find, and nothing was named.
 */
void score_table(const struct score *const *scores, const char *const *names,
    size_t count, FILE *out);

#endif
