#include "analyzer/past/past_question.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/history/history_schema.h"
#include "rackmesh/judge/part.h"

const char *const past_filter_names[PAST_FILTERS] = {
	[PAST_TOR] = "tor",
	[PAST_REGION] = "region",
	[PAST_SRC_TOR] = "src_tor",
	[PAST_DST_TOR] = "dst_tor",
	[PAST_HOST] = "host",
	[PAST_DEVICE] = "device",
	[PAST_RNIC] = "rnic",
	[PAST_DSCP] = "dscp",
	[PAST_SCOPE] = "scope",
	[PAST_SERVICE] = "service",
	[PAST_PART_TYPE] = "part_type",
	[PAST_PART] = "part",
	[PAST_STATE] = "state",
	[PAST_KIND] = "kind",
	[PAST_ID] = "id",
};

#define HOUR_NS (3600 * RM_NS_PER_S)
#define MAX_RANGE_NS (400 * 24 * HOUR_NS)

static const struct history_measurement *
find_measurement(const char *name)
{
	for (const struct history_measurement *m = history_measurements;
	     m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

static bool
has_column(const struct history_measurement *measurement, const char *name)
{
	for (const struct history_column *c = measurement->columns; c->name != NULL;
	     c++)
		if (strcmp(c->name, name) == 0)
			return true;
	return false;
}

void
past_filter_columns(const struct history_measurement *measurement,
    enum past_filter filter, const char *columns[2])
{
	static const char *const tors[] = { "tor", "src_tor", "dst_tor" };
	size_t count = 0;

	columns[0] = columns[1] = NULL;
	if (filter != PAST_TOR) {
		if (has_column(measurement, past_filter_names[filter]))
			columns[0] = past_filter_names[filter];
		return;
	}
	for (size_t i = 0; i < 3; i++)
		if (count < 2 && has_column(measurement, tors[i]))
			columns[count++] = tors[i];
}

size_t
past_question_columns(
    const struct past_question *q, const struct history_column *columns[PAST_COLUMNS])
{
	const struct history_column *all = q->measurement->columns;
	size_t count = 0;

	for (size_t i = 0; i < PAST_COLUMNS && all[i].name != NULL; i++)
		if ((q->columns == 0 || (q->columns >> i & 1) != 0) &&
		    (q->step_ns == 0 || all[i].merge != HISTORY_MERGE_NONE ||
			&all[i] == q->by))
			columns[count++] = &all[i];
	return count;
}

size_t
past_question_asked(
    const struct past_question *q, const struct history_column *columns[PAST_COLUMNS])
{
	size_t count = past_question_columns(q, columns);

	if (q->hidden != NULL && count < PAST_COLUMNS)
		columns[count++] = q->hidden;
	return count;
}

const char *
past_question_text_filter(const struct past_question *q)
{
	const struct history_column *column;

	for (int i = 0; i < PAST_FILTERS; i++)
		for (column = q->measurement->columns;
		     q->filter[i][0] != '\0' && column->name != NULL; column++)
			if (column->type == RM_LINE_STRING &&
			    strcmp(column->name, past_filter_names[i]) == 0)
				return column->name;
	return NULL;
}

/* True: text is not empty, and is printable ASCII. Names of services are free text; a
 * part may be "A or B". */
static bool
is_free_text(const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return false;
	return text[0] != '\0';
}

static int
take_filter(const char *text, enum past_filter filter, struct past_question *q,
    struct rm_error *error)
{
	const char *what = past_filter_names[filter], *columns[2];
	char *ret = q->filter[filter];
	struct rm_rnic_id id;

	if (text == NULL)
		return 0;
	past_filter_columns(q->measurement, filter, columns);
	if (columns[0] == NULL)
		return rm_error_set(error, -EINVAL, "%s is not stored by %s",
		    q->measurement->name, what);
	if (filter == PAST_RNIC && rm_rnic_id_parse(text, &id) == 0)
		rm_rnic_id_format(id, ret);
	else if (filter != PAST_RNIC && strlen(text) < PAST_NAME_BYTES &&
		 (filter == PAST_SERVICE || filter == PAST_PART ? is_free_text(text)
								: rm_name_valid(text)))
		strcpy(ret, text);
	else
		return rm_error_set(error, -EINVAL, "?%s= is no %s", what,
		    filter == PAST_RNIC ? "RNIC's id" : "name");
	return 0;
}

/* Ignores a name that is not valid for a region, because no row can have it. */
static int
take_regions(const char *text, struct past_question *q, struct rm_error *error)
{
	char all[PAST_REGIONS_BYTES], *rest = all, *region;
	size_t len = 0;

	if (text == NULL)
		return 0;
	if (!has_column(q->measurement, past_filter_names[PAST_REGION]))
		return rm_error_set(error, -EINVAL,
		    "%s is not stored by region, and you may see some regions only",
		    q->measurement->name);
	if (strlen(text) >= sizeof(all))
		return rm_error_set(error, -EINVAL, "too many regions: give ?region=");
	strcpy(all, text);
	while ((region = strsep(&rest, ",")) != NULL)
		if (rm_name_valid(region))
			len += (size_t)sprintf(
			    q->regions + len, "%s%s", len > 0 ? "," : "", region);
	return len > 0 ? 0 : rm_error_set(error, -EINVAL, "you may not see any region");
}

static int
take_columns(const char *text, struct past_question *q, struct rm_error *error)
{
	const struct history_column *all = q->measurement->columns;

	while (text != NULL && *text != '\0') {
		const size_t len = strcspn(text, ",");
		size_t i = 0;

		while (all[i].name != NULL && (strncmp(all[i].name, text, len) != 0 ||
						  all[i].name[len] != '\0'))
			i++;
		if (all[i].name == NULL || i >= PAST_COLUMNS)
			return rm_error_set(error, -EINVAL, "%s has no column %.*s",
			    q->measurement->name, (int)(len < 64 ? len : 64), text);
		q->columns |= UINT64_C(1) << i;
		text += len;
		text += *text == ',';
	}
	return 0;
}

static bool
is_number(const struct history_column *column)
{
	return column->type == RM_LINE_INTEGER || column->type == RM_LINE_FLOAT;
}

static const struct history_column *
choose_hidden(const struct past_question *q)
{
	const struct history_column *columns[PAST_COLUMNS], *number;
	const size_t count = past_question_columns(q, columns);

	for (size_t i = 0; i < count; i++)
		if (is_number(columns[i]))
			return NULL;
	for (number = q->measurement->columns; number->name != NULL; number++)
		if (number->type == RM_LINE_INTEGER)
			return number;
	return NULL;
}

static int
take_time(const char *text, const char *what, rm_wall_t *ret, struct rm_error *error)
{
	if (text != NULL && !rm_wall_parse(text, ret))
		return rm_error_set(error, -EINVAL,
		    "?%s= is a time in UTC, as 2026-01-31T12:00:00Z", what);
	return 0;
}

/* Steps begin at multiples of their length, counted from the epoch. */
static int
take_step(uint64_t step_s, struct past_question *q, struct rm_error *error)
{
	const int64_t step_ns = (int64_t)step_s * RM_NS_PER_S;
	const struct history_column *columns[PAST_COLUMNS];

	if (step_s == 0)
		return 0;
	if (q->to.ns / step_ns - q->from.ns / step_ns >= PAST_MAX_LIMIT)
		return rm_error_set(error, -EINVAL,
		    "?step_s= is too short for that time: more than %d rows",
		    PAST_MAX_LIMIT);
	q->step_ns = step_ns;
	if (past_question_columns(q, columns) == 0)
		return rm_error_set(error, -EINVAL,
		    "?step_s= can merge none of these columns of %s",
		    q->measurement->name);
	return 0;
}

static int
take_by(const char *text, struct past_question *q, struct rm_error *error)
{
	const struct history_column *all = q->measurement->columns;
	size_t i = 0;

	if (text == NULL)
		return 0;
	while (all[i].name != NULL && strcmp(all[i].name, text) != 0)
		i++;
	if (all[i].name == NULL || all[i].type != RM_LINE_TAG)
		return rm_error_set(
		    error, -EINVAL, "?by= is a tag of %s", q->measurement->name);
	if (q->step_ns == 0)
		return rm_error_set(error, -EINVAL, "?by= needs ?step_s=: give both");
	if (q->columns != 0)
		q->columns |= UINT64_C(1) << i;
	q->by = &all[i];
	return 0;
}

int
past_question_make(const struct past_parameters *given, rm_wall_t now,
    struct past_question *ret, struct rm_error *error)
{
	struct past_question q = { .to = now, .limit = given->limit };
	int r;

	q.measurement = find_measurement(given->measurement);
	if (q.measurement == NULL)
		return rm_error_set(
		    error, -ENOENT, "no such measurement: docs/history.md names them");
	r = take_time(given->to, "to", &q.to, error);
	q.from.ns = q.to.ns - HOUR_NS;
	if (r == 0)
		r = take_time(given->from, "from", &q.from, error);
	for (int i = 0; r == 0 && i < PAST_FILTERS; i++)
		r = take_filter(given->filter[i], i, &q, error);
	if (r == 0)
		r = take_regions(given->regions, &q, error);
	if (r == 0)
		r = take_columns(given->columns, &q, error);
	if (r < 0)
		return r;
	if (q.from.ns >= q.to.ns || q.to.ns - q.from.ns > MAX_RANGE_NS)
		return rm_error_set(error, -EINVAL,
		    "?from= is before ?to=, and at most 400 days before it");
	r = take_step(given->step_s, &q, error);
	if (r == 0)
		r = take_by(given->by, &q, error);
	if (r < 0)
		return r;
	q.hidden = choose_hidden(&q);
	if (q.limit == 0)
		q.limit = q.step_ns != 0 ? PAST_MAX_LIMIT : PAST_LIMIT;
	*ret = q;
	return 0;
}

/* ---- InfluxQL -------------------------------------------------------------------- */

/* Names of policies and services are free text, so they are quoted. */
static void
put_quoted(FILE *out, char quote, const char *name)
{
	putc(quote, out);
	for (; *name != '\0'; name++) {
		if (*name == quote || *name == '\\')
			putc('\\', out);
		putc(*name, out);
	}
	putc(quote, out);
}

/* Writes a regular expression. '.' is the only character of names with a special
 * meaning there. */
static void
put_regions(FILE *out, const struct past_question *q, const char *escape)
{
	for (const char *c = q->regions; *c != '\0'; c++) {
		if (*c == '.')
			fputs(escape, out);
		putc(*c == ',' ? '|' : *c, out);
	}
}

static void
put_column(FILE *out, const struct history_column *column, bool merged)
{
	static const char *const functions[] = { [HISTORY_MERGE_SUM] = "sum",
		[HISTORY_MERGE_LARGEST] = "max",
		[HISTORY_MERGE_SMALLEST] = "min" };

	if (!merged)
		fprintf(out, "\"%s\"", column->name);
	else
		fprintf(out, "%s(\"%s\") AS \"%s\"", functions[column->merge],
		    column->name, column->name);
}

static void
put_filters(FILE *out, const struct past_question *q)
{
	for (int i = 0; i < PAST_FILTERS; i++) {
		const char *columns[2], *name = q->filter[i];

		past_filter_columns(q->measurement, i, columns);
		if (name[0] == '\0')
			continue;
		for (int k = 0; k < 2 && columns[k] != NULL; k++) {
			fprintf(
			    out, "%s\"%s\" = ", k == 0 ? " AND (" : " OR ", columns[k]);
			put_quoted(out, '\'', name);
		}
		putc(')', out);
	}
	if (q->regions[0] != '\0') {
		fputs(" AND \"region\" =~ /^(", out);
		put_regions(out, q, "\\");
		fputs(")$/", out);
	}
}

static int
close_text(FILE *out, const char text[PAST_STATEMENT_BYTES])
{
	return fclose(out) == 0 && strlen(text) < PAST_STATEMENT_BYTES - 1
		   ? 0
		   : -ENAMETOOLONG;
}

int
past_question_influxql(
    const struct past_question *q, const char *policy, char text[PAST_STATEMENT_BYTES])
{
	const struct history_column *columns[PAST_COLUMNS];
	const size_t count = past_question_asked(q, columns);
	FILE *out = fmemopen(text, PAST_STATEMENT_BYTES, "w");
	const char *separator = "SELECT ";

	if (out == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (columns[i] == q->by)
			continue;
		fputs(separator, out);
		put_column(out, columns[i], q->step_ns != 0);
		separator = ",";
	}
	fprintf(out, " FROM ");
	if (policy[0] != '\0') {
		put_quoted(out, '"', policy);
		putc('.', out);
	}
	fprintf(out, "\"%s\" WHERE time >= %" PRId64 " AND time < %" PRId64,
	    q->measurement->name, q->from.ns, q->to.ns);
	put_filters(out, q);
	if (q->step_ns != 0) {
		fprintf(out, " GROUP BY time(%" PRId64 "s)", q->step_ns / RM_NS_PER_S);
		if (q->by != NULL)
			fprintf(out, ",\"%s\"", q->by->name);
		fputs(" fill(none)", out);
	}
	fprintf(out, " ORDER BY time ASC LIMIT %zu", q->limit + 1);
	return close_text(out, text);
}

/* ---- PromQL ---------------------------------------------------------------------- */

static int
put_selector(const struct past_question *q, const char *database, int which,
    char text[PAST_STATEMENT_BYTES])
{
	const struct history_column *columns[PAST_COLUMNS];
	const size_t count = past_question_asked(q, columns);
	FILE *out = fmemopen(text, PAST_STATEMENT_BYTES, "w");
	const char *separator = "";

	if (out == NULL)
		return -ENOMEM;
	fprintf(out, "{__name__=~\"%s_(", q->measurement->name);
	for (size_t i = 0; i < count; i++)
		if (is_number(columns[i])) {
			fprintf(out, "%s%s", separator, columns[i]->name);
			separator = "|";
		}
	fprintf(out, ")\",db=");
	put_quoted(out, '"', database);
	for (int i = 0; i < PAST_FILTERS; i++) {
		const char *tags[2];

		past_filter_columns(q->measurement, i, tags);
		if (q->filter[i][0] == '\0')
			continue;
		fprintf(out, ",%s=", tags[i == PAST_TOR ? which : 0]);
		put_quoted(out, '"', q->filter[i]);
	}
	if (q->regions[0] != '\0') {
		fputs(",region=~\"", out);
		put_regions(out, q, "\\\\"); /* inside of a string */
		putc('"', out);
	}
	putc('}', out);
	return close_text(out, text);
}

int
past_question_selectors(const struct past_question *q, const char *database,
    char texts[2][PAST_STATEMENT_BYTES])
{
	const char *tors[2];
	int r, count;

	past_filter_columns(q->measurement, PAST_TOR, tors);
	count = q->filter[PAST_TOR][0] != '\0' && tors[1] != NULL ? 2 : 1;
	for (int i = 0; i < count; i++) {
		r = put_selector(q, database, i, texts[i]);
		if (r < 0)
			return r;
	}
	return count;
}
