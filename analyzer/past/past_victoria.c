/* A point of line protocol is many series there, one for each field: those of the same
 * labels and the same time are put together again. */
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
	json_t *rows; /* "labels time" -> [time in ns, a value of each column] */
};

/* The column of "rm_rnic_sent". False: none that was asked for. */
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

/* All values are floating-point numbers there. */
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

static int
take_sample(struct points *points, const json_t *labels, const char *key, size_t column,
    const json_t *time, const json_t *value)
{
	char at[32];
	json_t *row, *of_series = json_object_get(points->rows, key);
	int64_t ns;

	if (!json_is_integer(time) || __builtin_mul_overflow(json_integer_value(time),
					  (int64_t)RM_NS_PER_MS, &ns))
		return -EBADMSG;
	snprintf(at, sizeof(at), "%" PRId64, ns);
	if (of_series == NULL) {
		of_series = json_object();
		json_object_set_new(points->rows, key, of_series);
	}
	row = json_object_get(of_series, at);
	if (row == NULL) {
		if (json_object_size(of_series) == PAST_ROWS)
			return -EMSGSIZE;
		row = new_row(points, labels, ns);
		json_object_set_new(of_series, at, row);
	}
	json_array_set_new(row, column + 1, value_of(points->columns[column], value));
	return 0;
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

/* A line for each series. */
static int
take_all(struct points *points, const char *body, size_t len, struct rm_why *why)
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
		return rm_why(why, r, "that is too much: ask for less time");
	return r < 0 ? rm_why(why, r, "its answer is none of VictoriaMetrics' export")
		     : 0;
}

static int
put_rows(struct points *points, struct past_rows *rows)
{
	const char *key, *at;
	json_t *of_series, *row;
	int r;

	json_object_foreach (points->rows, key, of_series)
		json_object_foreach (of_series, at, row) {
			const rm_wall_t when = { json_integer_value(
			    json_array_get(row, 0)) };
			json_t *values = json_copy(row);

			json_array_remove(values, 0);
			r = past_rows_add(rows, when, 0, values);
			if (r < 0)
				return r;
		}
	return 0;
}

int
past_answer_victoria(const struct past_question *q, const char *body, size_t len,
    char **json, struct rm_why *why)
{
	struct points points = { .question = q, .rows = json_object() };
	struct past_rows *rows = past_rows_new(q);
	int r;

	points.column_count = past_question_asked(q, points.columns);
	if (rows == NULL || points.rows == NULL)
		r = rm_why(why, -ENOMEM, "out of memory");
	else
		r = take_all(&points, body, len, why);
	if (r == 0) {
		r = put_rows(&points, rows);
		if (r == -ENOSPC) /* they have no order: which are the oldest? */
			rm_why(why, r, "that is too much: ask for less time");
		else if (r < 0)
			rm_why(why, r, "out of memory");
	}
	if (r == 0)
		r = past_rows_json(rows, json, why);
	past_rows_free(rows);
	json_decref(points.rows);
	return r;
}
