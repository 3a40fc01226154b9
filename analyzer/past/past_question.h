/*
 * past_question - a query about the history: checked, and in the language of each
 * database. Pure. Only names of services and parts are free text, and quoted: the
 * measurement and its columns are those of the schema, other names are valid ones,
 * times are numbers.
 */
#ifndef ANALYZER_PAST_PAST_QUESTION_H
#define ANALYZER_PAST_PAST_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

#define PAST_LIMIT 1000 /* rows, unless others are asked for */
#define PAST_MAX_LIMIT 10000
#define PAST_MAX_STEP_S (30 * 86400)
#define PAST_NAME_BYTES 128
#define PAST_REGIONS_BYTES 256
#define PAST_COLUMNS 64
#define PAST_STATEMENT_BYTES 3072

struct history_column;
struct history_measurement;

/* Rows with this name in the column. PAST_TOR: in `tor`, `src_tor` or `dst_tor`. */
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
	PAST_SERVICE, /* whatever prints */
	PAST_PART_TYPE,
	PAST_PART, /* likewise */
	PAST_STATE,
	PAST_KIND,
	PAST_ID,
	PAST_FILTERS,
};

extern const char *const past_filter_names[PAST_FILTERS]; /* as in the URL */

struct past_question {
	const struct history_measurement *measurement;
	char filter[PAST_FILTERS][PAST_NAME_BYTES]; /* "": any */
	char regions[PAST_REGIONS_BYTES];           /* one of these, "r1,r2"; "": any */
	rm_wall_t from, to;                         /* from <= time < to */
	uint64_t columns; /* bits, in the order of the measurement's; 0: all */
	/* A number that every row has. Databases find no row by its tags alone: it is
	 * asked for and not shown. NULL: some number is shown. */
	const struct history_column *hidden;
	int64_t step_ns; /* all rows of so long are one; 0: rows as written */
	/* With a step a tag: all rows of so long that have the same one; NULL: all. */
	const struct history_column *by;
	size_t limit; /* rows, the oldest first */
};

struct past_parameters { /* as they came; NULL: not given */
	const char *measurement, *from, *to, *columns; /* names with commas */
	const char *by;
	const char *filter[PAST_FILTERS];
	const char *regions;    /* as of an identity (identity.h), but not "*" */
	uint64_t step_s, limit; /* 0: not given */
};

/* Without `to`, until now; without `from`, the hour before `to`. -ENOENT: no such
 * measurement; -EINVAL: error says what is wrong with which word. */
int past_question_make(const struct past_parameters *given, rm_wall_t now,
    struct past_question *ret, struct rm_error *error);

/* What each row has after its time, in this order: the columns that were asked for;
 * with a step, those of them that can be merged, and `by`. How many. */
size_t past_question_columns(const struct past_question *question,
    const struct history_column *columns[PAST_COLUMNS]);

/* The same and, at the end, what is hidden: what a database is asked for. */
size_t past_question_asked(const struct past_question *question,
    const struct history_column *columns[PAST_COLUMNS]);

/* The name of a column that rows are looked for by and that is no tag; NULL: none.
 * VictoriaMetrics keeps no such text. */
const char *past_question_text_filter(const struct past_question *question);

/* The columns of which one must have the filter's name. The second may be NULL, both
 * are where the measurement has no such column. */
void past_filter_columns(const struct history_measurement *measurement,
    enum past_filter filter, const char *columns[2]);

/* One row more than the limit. policy: a retention policy, "": the default one.
 * -ENAMETOOLONG. */
int past_question_influxql(const struct past_question *question, const char *policy,
    char text[PAST_STATEMENT_BYTES]);

/* Selectors of series, as PromQL has them: `{__name__=~"rm_rnic_(sent|ok)",...}`. What
 * one of them finds counts: two where PAST_TOR may be in either tag. How many;
 * -ENAMETOOLONG. */
int past_question_selectors(const struct past_question *question, const char *database,
    char texts[2][PAST_STATEMENT_BYTES]);

#endif
