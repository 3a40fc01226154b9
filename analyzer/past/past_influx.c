#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/past/past_answer.h"
#include "analyzer/past/past_rows.h"

static int
fault(struct rm_error *error, const json_t *object)
{
	const char *text = json_string_value(json_object_get(object, "error"));

	return text == NULL ? 0
			    : rm_error_set(error, -EBADMSG, "it says: %.300s", text);
}

struct answer_columns {
	size_t count; /* number of columns of a row; the first one is the time */
	size_t by;    /* index of the column of the tag, without counting the time */
};

/* True: the columns are the requested ones in this order, after the time. The tag of
 * `by` is no column: each of its values is a series. */
static bool
columns_are(
    const json_t *series, const struct past_question *q, struct answer_columns *ret)
{
	const struct history_column *columns[PAST_COLUMNS];
	const size_t count = past_question_asked(q, columns);
	const json_t *names = json_object_get(series, "columns");
	size_t at = 1;

	ret->by = 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(names, at));

		if (columns[i] == q->by) {
			ret->by = i;
			continue;
		}
		if (name == NULL || strcmp(name, columns[i]->name) != 0)
			return false;
		at++;
	}
	ret->count = at;
	return json_array_size(names) == at;
}

static bool
is_scalar(const json_t *value)
{
	return value != NULL && !json_is_object(value) && !json_is_array(value);
}

/* tag: the value of the tag `by`; NULL: the query has no `by`. */
static int
take_row(struct past_rows *rows, const json_t *values, json_t *tag,
    const struct answer_columns *columns)
{
	const json_t *time = json_array_get(values, 0), *value;
	json_t *row;
	size_t i;

	if (json_array_size(values) != columns->count || !json_is_integer(time))
		return -EBADMSG;
	json_array_foreach (values, i, value)
		if (!is_scalar(value))
			return -EBADMSG;
	row = json_copy((json_t *)values);
	json_array_remove(row, 0);
	if (tag != NULL)
		json_array_insert(row, columns->by, tag);
	return past_rows_add(rows, (rm_wall_t){ json_integer_value(time) }, 0, row);
}

/* True: the database has more rows than it sends, because of max-row-limit in its
 * configuration. */
static bool
is_partial(const json_t *object)
{
	return json_is_true(json_object_get(object, "partial"));
}

static int
take_all(const json_t *result, const struct past_question *q, struct past_rows *rows,
    struct rm_error *error)
{
	const json_t *series, *values;
	struct answer_columns columns;
	size_t i, k;
	int r;

	if (is_partial(result))
		past_rows_cut(rows);
	json_array_foreach (json_object_get(result, "series"), i, series) {
		json_t *tag = NULL;

		if (is_partial(series))
			past_rows_cut(rows);
		r = columns_are(series, q, &columns) ? 0 : -EBADMSG;
		if (q->by != NULL) {
			tag = json_object_get(
			    json_object_get(series, "tags"), q->by->name);
			if (!json_is_string(tag))
				r = -EBADMSG;
		}
		json_array_foreach (json_object_get(series, "values"), k, values)
			if (r == 0)
				r = take_row(rows, values, tag, &columns);
		if (r == -ENOSPC)
			break; /* the answer says that it is truncated */
		if (r < 0)
			return rm_error_set(
			    error, r, "its answer does not have the requested columns");
	}
	return 0;
}

int
past_answer_influx(const struct past_question *q, const char *body, size_t len,
    char **json, struct rm_error *error)
{
	struct past_rows *rows = past_rows_new(q);
	json_t *all = json_loadb(body, len, 0, NULL);
	const json_t *result = json_array_get(json_object_get(all, "results"), 0);
	int r = rows != NULL ? 0 : rm_error_set(error, -ENOMEM, "out of memory");

	if (r == 0)
		r = fault(error, all);
	if (r == 0)
		r = fault(error, result);
	if (r == 0 && !json_is_object(result))
		r = rm_error_set(error, -EBADMSG, "its answer is not one of InfluxQL");
	if (r == 0)
		r = take_all(result, q, rows, error);
	if (r == 0)
		r = past_rows_json(rows, json, error);
	past_rows_free(rows);
	json_decref(all);
	return r;
}
