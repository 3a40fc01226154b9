/*
 * past_answer - what a question finds in the files of the history, or in what a
 * database has answered: the JSON of GET /v1/history/.
 *
 * What is read is foreign: files may be torn, a database says what it likes. Blocking,
 * for a worker; nothing here knows the loop. *json: JSON, the caller's to free. All:
 * -errno and error.
 */
#ifndef ANALYZER_PAST_PAST_ANSWER_H
#define ANALYZER_PAST_PAST_ANSWER_H

#include <stddef.h>

#include "analyzer/past/past_question.h"

#define PAST_ANSWER_BYTES (16 << 20) /* of a database's answer */

/* rackmesh.lp or incidents.lp and its elders, of history_files. A file that is not
 * there holds nothing. */
int past_answer_files(const struct past_question *question, const char *folder,
    char **json, struct rm_error *error);

/* The answer of an InfluxDB to past_question_influxql, with epoch=ns. -EBADMSG: it is
 * malformed, or an error, whose text is in error. */
int past_answer_influx(const struct past_question *question, const char *body,
    size_t len, char **json, struct rm_error *error);

/* What VictoriaMetrics has answered to /api/v1/export with past_question_selectors: a
 * line of JSON for each series. Times are whole milliseconds, strings are not kept
 * there. -EBADMSG: it is no such answer; -EMSGSIZE: more rows than can be sorted. */
int past_answer_victoria(const struct past_question *question, const char *body,
    size_t len, char **json, struct rm_error *error);

#endif
