/*
 * past_rows - collects the rows of a query, from files or a database; merges them by
 * step if necessary; and writes them as the JSON of GET /v1/history/.
 *
 * A row is a JSON array of the columns of past_question_columns, without the time.
 * Further elements are not shown.
 */
#ifndef ANALYZER_PAST_PAST_ROWS_H
#define ANALYZER_PAST_PAST_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "analyzer/past/past_question.h"

/* Most rows that are collected before they are sorted. If merged rows with ?by= would
 * be more, the later half of the time is left out; if the rest is still too many, its
 * later half, and so on. Then the answer says that there are more rows. It is complete
 * until its last row. */
#define PAST_ROWS (4 * PAST_MAX_LIMIT)

struct past_rows;

/* question: borrowed. NULL: out of memory. */
struct past_rows *past_rows_new(const struct past_question *question);
void past_rows_free(struct past_rows *rows);

/* Adds a row. Takes over the reference to values, also on failure. hash: hash of the
 * whole row and its time. A second row with the same hash is ignored, because after a
 * crash a file may have a batch twice; 0: there is no such check. -ENOSPC: there are
 * PAST_ROWS rows already, and the answer will say that there are more; -ENOMEM. */
int past_rows_add(
    struct past_rows *rows, rm_wall_t when, uint64_t hash, json_t *values);

/* Call it if not all rows were read: the answer will say that there are more. */
void past_rows_cut(struct past_rows *rows);

/* Call it if the database stores no strings: the answer lists columns of type string in
 * not_kept. */
void past_rows_no_strings(struct past_rows *rows);

/* Writes the answer. The caller frees *ret. -ENOMEM, and *error. */
int past_rows_json(struct past_rows *rows, char **ret, struct rm_error *error);

#endif
