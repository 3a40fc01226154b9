/*
 * past_question - a query on the history: checks it, and writes it in the language of
 * each database. Pure. Only names of services and parts are free text, so they are
 * quoted. The measurement and its columns must be in the schema, other names must be
 * valid names, and times are numbers.
 */
#ifndef ANALYZER_PAST_PAST_QUESTION_H
#define ANALYZER_PAST_PAST_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"

/* maximum number of rows of an answer, if the request has no limit */
#define PAST_LIMIT 1000
#define PAST_MAX_LIMIT 10000
#define PAST_MAX_STEP_S (30 * 86400)
#define PAST_NAME_BYTES RM_PART_NAME_BYTES /* the longest are names of parts */
#define PAST_REGIONS_BYTES 256
#define PAST_COLUMNS 64
#define PAST_STATEMENT_BYTES 4096

struct history_column;
struct history_measurement;

/* A filter selects the rows that have the given name in this column. PAST_TOR: the name
 * is in `tor`, `src_tor` or `dst_tor`. */
enum past_filter {
	PAST_TOR,
	PAST_REGION,
	PAST_SRC_TOR,
	PAST_DST_TOR,
	PAST_HOST,
	PAST_DEVICE,
	PAST_RNIC,
	PAST_DSCP,
	PAST_SCOPE,
	PAST_SERVICE, /* any printable text */
	PAST_PART_TYPE,
	PAST_PART, /* also any printable text */
	PAST_STATE,
	PAST_KIND,
	PAST_ID,
	PAST_FILTERS,
};

extern const char *const past_filter_names[PAST_FILTERS]; /* the names in the URL */

struct past_question {
	const struct history_measurement *measurement;
	char filter[PAST_FILTERS][PAST_NAME_BYTES]; /* "": any */
	/* the row's region must be one of these, such as "r1,r2"; "": any */
	char regions[PAST_REGIONS_BYTES];
	rm_wall_t from, to; /* from <= time < to */
	/* a bit for each column, in the order of the measurement; 0: all */
	uint64_t columns;
	/* A column of numbers that each row has. Databases find no row by tags alone.
	 * So if the answer shows no number, this column is requested, too, and is not
	 * shown. NULL: the answer shows a number. */
	const struct history_column *hidden;
	/* rows within this time are merged; 0: the rows are returned as they were
	 * written */
	int64_t step_ns;
	/* With a step, only rows with the same value of this tag are merged; NULL: all
	 * rows are. */
	const struct history_column *by;
	size_t limit; /* maximum number of rows of the answer; the oldest rows are
			 returned */
};

struct past_parameters { /* The texts of the HTTP request; NULL: not given. */
	/* columns: names separated by commas */
	const char *measurement, *from, *to, *columns;
	const char *by;
	const char *filter[PAST_FILTERS];
	const char *regions;    /* a list as in an identity (identity.h), but not "*" */
	uint64_t step_s, limit; /* 0: not given */
};

/* Checks a query. `to` is now by default; `from` is an hour before `to`. -ENOENT: there
 * is no such measurement; -EINVAL: *error names the wrong parameter. */
int past_question_make(const struct past_parameters *given, rm_wall_t now,
    struct past_question *ret, struct rm_error *error);

/* Returns the columns of an answer's rows after the time, in this order: the requested
 * columns (with a step, only those that can be merged), and `by`. The result is their
 * number. */
size_t past_question_columns(const struct past_question *question,
    const struct history_column *columns[PAST_COLUMNS]);

/* The same columns, followed by the hidden one: all of these are requested from the
 * database. */
size_t past_question_asked(const struct past_question *question,
    const struct history_column *columns[PAST_COLUMNS]);

/* Returns the name of a column in a filter that is not a tag; NULL: there is none.
 * VictoriaMetrics cannot filter by such a column, because it stores no strings. */
const char *past_question_text_filter(const struct past_question *question);

/* Gets the columns, of which one must have the filter's value. columns[1] may be NULL;
 * both are NULL if the measurement has no such column. */
void past_filter_columns(const struct history_measurement *measurement,
    enum past_filter filter, const char *columns[2]);

/* Writes the query in InfluxQL. It requests one row more than the limit, to see whether
 * there are more. policy: the retention policy; "": the default one. -ENAMETOOLONG. */
int past_question_influxql(const struct past_question *question, const char *policy,
    char text[PAST_STATEMENT_BYTES]);

/* Writes one or two PromQL selectors, such as `{__name__=~"rm_rnic_(sent|ok)",...}`;
 * two if the value of PAST_TOR may be in either of two tags. The answer has the series
 * that at least one of them selects. Returns their number, or -ENAMETOOLONG. */
int past_question_selectors(const struct past_question *question, const char *database,
    char texts[2][PAST_STATEMENT_BYTES]);

#endif
