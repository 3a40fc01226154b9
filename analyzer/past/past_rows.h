/*
 * past_rows - the rows that a question finds, from wherever they come: as they were
 * written, or merged by step, and then as the JSON of GET /v1/history/.
 *
 * A row is an array of what past_question_columns names, without its time; what follows
 * after them is not shown.
 */
#ifndef ANALYZER_PAST_PAST_ROWS_H
#define ANALYZER_PAST_PAST_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "analyzer/past/past_question.h"

#define PAST_ROWS (4 * PAST_MAX_LIMIT) /* gathered before they are sorted */

struct past_rows;

/* The question is borrowed. NULL: no memory. */
struct past_rows *past_rows_new(const struct past_question *question);
void past_rows_free(struct past_rows *rows);

/* values: taken, whatever comes of it. hash: of what says all of the row, with its
 * time: a second one with the same hash is passed over (after a crash a batch may stand
 * in a file twice); 0: the row comes once. -ENOSPC: PAST_ROWS are there, the answer
 * says that there is more; -ENOMEM. */
int past_rows_add(
    struct past_rows *rows, rm_wall_t when, uint64_t hash, json_t *values);

/* The caller calls this if it has not read everything. */
void past_rows_cut(struct past_rows *rows);

/* The store drops columns of type string: the answer names them, as not_kept. */
void past_rows_no_strings(struct past_rows *rows);

/* *ret: the caller's to free. -ENOMEM and error. */
int past_rows_json(struct past_rows *rows, char **ret, struct rm_error *error);

#endif
