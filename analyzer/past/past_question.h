/*
 * past_question - what somebody wants to know of the history: checked, and as InfluxQL.
 * Pure.
 *
 * Nothing of it is free text: the measurement and its columns are the schema's, names
 * are valid ones, times are numbers.
 */
#ifndef ANALYZER_PAST_PAST_QUESTION_H
#define ANALYZER_PAST_PAST_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/why.h"

#define PAST_LIMIT 1000 /* rows, unless others are asked for */
#define PAST_MAX_LIMIT 10000
#define PAST_NAME_BYTES 64
#define PAST_STATEMENT_BYTES 3072

struct history_measurement;

struct past_question {
	const struct history_measurement *measurement;
	char region[PAST_NAME_BYTES], tor[PAST_NAME_BYTES]; /* "": all */
	rm_wall_t from, to;                                 /* from <= time < to */
	size_t limit;                                       /* rows, the oldest first */
};

struct past_words { /* as they came; NULL: not given */
	const char *measurement, *from, *to, *region, *tor;
};

/* Without `to`, until now; without `from`, the hour before `to`. -ENOENT: no such
 * measurement; -EINVAL: why says what is wrong with which word. */
int past_question_make(const struct past_words *words, size_t limit, rm_wall_t now,
    struct past_question *ret, struct rm_why *why);

/* RFC 3339 in UTC, "2026-01-31T12:00:00Z", a fraction of a second is fine. */
bool past_time_parse(const char *text, rm_wall_t *ret);

/* The columns that hold the name of a ToR: a row matches when one of them does. The
 * second may be NULL, both are of what is not told by ToR. */
void past_tor_columns(
    const struct history_measurement *measurement, const char *columns[2]);

/* One row more than the limit. policy: a retention policy, "": the default one.
 * -ENAMETOOLONG. */
int past_question_influxql(const struct past_question *question, const char *policy,
    char text[PAST_STATEMENT_BYTES]);

#endif
