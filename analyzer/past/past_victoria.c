/* VictoriaMetrics stores each field of a point as a series of its own. This file joins
 * the fields with equal labels and times to a row again. If the query has a step, this
 * is not needed, because each column is merged separately. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/past/past_answer.h"
#include "analyzer/past/past_rows.h"

struct points {
	const struct past_question *question;
	const struct history_column *columns[PAST_COLUMNS];
	size_t column_count;
	struct past_rows *found;
	json_t *rows;     /* labels -> time -> [time in ns, a value of each column] */
	size_t row_count; /* number of rows of all labels */
};

/* The column of "rm_rnic_sent". False: it was not requested. */
static bool
column_of(const struct points *points, const char *name, size_t *ret)
{
	const char *measurement = points->question->measurement->name;
	const size_t len = strlen(measurement);

	if (name == NULL || strncmp(name, measurement, len) != 0 || name[len] != '_')
		return false;
	for (size_t i = 0; i < points->column_count; i++)
		if (points->columns[i]->type != RM_LINE_TAG &&
		    strcmp(points->columns[i]->name, name + len + 1) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static json_t *
new_row(const struct points *points, const json_t *labels, int64_t ns)
{
	json_t *row = json_array();

	json_array_append_new(row, json_integer(ns));
	for (size_t i = 0; i < points->column_count; i++) {
		const json_t *label =
		    points->columns[i]->type == RM_LINE_TAG
			? json_object_get(labels, points->columns[i]->name)
			: NULL;

		json_array_append_new(row, json_is_string(label)
					       ? json_string(json_string_value(label))
					       : json_null());
	}
	return row;
}

/* VictoriaMetrics stores all values as floating-point numbers. */
static json_t *
value_of(const struct history_column *column, const json_t *value)
{
	const double number = json_number_value(value);

	if (!json_is_number(value))
		return json_null();
	if (column->type != RM_LINE_INTEGER)
		return json_real(number);
	if (json_is_integer(value))
		return json_integer(json_integer_value(value));
	return number > -9e18 && number < 9e18 ? json_integer((json_int_t)number)
					       : json_null();
}

/* Takes ownership of the row: [time in ns, one value for each column]. */
static int
add_row(struct past_rows *found, json_t *row)
{
	const rm_wall_t when = { json_integer_value(json_array_get(row, 0)) };

	json_array_remove(row, 0);
	return past_rows_add(found, when, 0, row);
}

/* Returns the row of these labels at this time. NULL: the limit is reached. */
static json_t *
get_row(struct points *points, const json_t *labels, const char *key, int64_t ns)
{
	char at[32];
	json_t *row, *of_series = json_object_get(points->rows, key);

	snprintf(at, sizeof(at), "%" PRId64, ns);
	if (of_series == NULL) {
		of_series = json_object();
		json_object_set_new(points->rows, key, of_series);
	}
	row = json_object_get(of_series, at);
	if (row == NULL && points->row_count < PAST_ROWS) {
		row = new_row(points, labels, ns);
		json_object_set_new(of_series, at, row);
		points->row_count++;
	}
	return row;
}

static int
take_sample(struct points *points, const json_t *labels, const char *key, size_t column,
    const json_t *time, const json_t *value)
{
	const bool alone = points->question->step_ns != 0;
	json_t *row;
	int64_t ns;

	if (!json_is_integer(time) || __builtin_mul_overflow(json_integer_value(time),
					  (int64_t)RM_NS_PER_MS, &ns))
		return -EBADMSG;
	row = alone ? new_row(points, labels, ns) : get_row(points, labels, key, ns);
	if (row == NULL)
		return -EMSGSIZE;
	json_array_set_new(row, column + 1, value_of(points->columns[column], value));
	return alone ? add_row(points->found, row) : 0;
}

static int
take_series(struct points *points, json_t *series)
{
	json_t *labels = json_object_get(series, "metric");
	const json_t *values = json_object_get(series, "values");
	const json_t *times = json_object_get(series, "timestamps");
	char *key;
	size_t column;
	int r = 0;

	if (!json_is_object(labels) ||
	    json_array_size(values) != json_array_size(times))
		return -EBADMSG;
	if (!column_of(points, json_string_value(json_object_get(labels, "__name__")),
		&column))
		return 0;
	json_object_del(labels, "__name__");
	key = json_dumps(labels, JSON_SORT_KEYS | JSON_COMPACT);
	if (key == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < json_array_size(values); i++)
		r = take_sample(points, labels, key, column, json_array_get(times, i),
		    json_array_get(values, i));
	free(key);
	return r;
}

/* Each line of the answer is a series. */
static int
take_all(struct points *points, const char *body, size_t len, struct rm_error *error)
{
	const char *end = body + len;
	int r = 0;

	while (r == 0 && body < end) {
		const char *newline = memchr(body, '\n', (size_t)(end - body));
		const char *line_end = newline != NULL ? newline : end;
		json_t *series = json_loadb(body, (size_t)(line_end - body), 0, NULL);

		r = take_series(points, series);
		json_decref(series);
		body = line_end + 1;
	}
	if (r == -EMSGSIZE)
		return rm_error_set(error, r, "that is too much: ask for less time");
	return r < 0 ? rm_error_set(
			   error, r, "its answer is not one of VictoriaMetrics' export")
		     : 0;
}

static int
put_rows(struct points *points)
{
	const char *key, *at;
	json_t *of_series, *row;
	int r;

	json_object_foreach (points->rows, key, of_series)
		json_object_foreach (of_series, at, row) {
			r = add_row(points->found, json_copy(row));
			if (r < 0)
				return r;
		}
	return 0;
}

int
past_answer_victoria(const struct past_question *q, const char *body, size_t len,
    char **json, struct rm_error *error)
{
	struct points points = {
		.question = q, .found = past_rows_new(q), .rows = json_object()
	};
	int r;

	points.column_count = past_question_asked(q, points.columns);
	if (points.found == NULL || points.rows == NULL)
		r = rm_error_set(error, -ENOMEM, "out of memory");
	else
		r = take_all(&points, body, len, error);
	if (r == 0) {
		past_rows_no_strings(points.found);
		r = put_rows(&points);
		if (r < 0)
			rm_error_set(error, r, "out of memory");
	}
	if (r == 0)
		r = past_rows_json(points.found, json, error);
	past_rows_free(points.found);
	json_decref(points.rows);
	return r;
}
