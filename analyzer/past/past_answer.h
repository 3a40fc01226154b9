/*
 * past_answer - makes the JSON answer of GET /v1/history/, from the files of the
 * history, or from the answer of a database.
 *
 * The input is not trusted: files may be incomplete, and a database may answer
 * anything. All functions block, so call them in a worker. On success the caller frees
 * *json. On failure they return a negative errno, and set *error.
 */
#ifndef ANALYZER_PAST_PAST_ANSWER_H
#define ANALYZER_PAST_PAST_ANSWER_H

#include <stddef.h>

#include "analyzer/past/past_question.h"

/* maximum number of bytes of a database's answer */
#define PAST_ANSWER_BYTES (16 << 20)

/* Reads the files of history_files: rackmesh.lp or incidents.lp, and its older files. A
 * missing file has no rows. */
int past_answer_files(const struct past_question *question, const char *folder,
    char **json, struct rm_error *error);

/* Parses the answer of an InfluxDB to past_question_influxql, with epoch=ns. -EBADMSG:
 * it is malformed, or is an error message, which is in *error. */
int past_answer_influx(const struct past_question *question, const char *body,
    size_t len, char **json, struct rm_error *error);

/* Parses the answer of VictoriaMetrics to /api/v1/export with past_question_selectors:
 * a line of JSON for each series. VictoriaMetrics stores times in whole milliseconds,
 * and no strings. -EBADMSG: it is no such answer; -EMSGSIZE: there are more rows than
 * can be sorted. */
int past_answer_victoria(const struct past_question *question, const char *body,
    size_t len, char **json, struct rm_error *error);

#endif
