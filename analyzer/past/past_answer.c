#include "analyzer/past/past_answer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <jansson.h>

#include "analyzer/history/history_files.h"
#include "analyzer/history/history_schema.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/metrics/line_reader.h"

#define FOUND_MAX (4 * PAST_MAX_LIMIT) /* rows gathered before they are sorted */
#define READ_BYTES (UINT64_C(2) << 30) /* of files, for one question */

struct found {
	int64_t ns;
	uint64_t hash; /* of its line: after a crash a batch may stand there twice */
	size_t order;  /* as they came */
	json_t *row;
};

struct rows {
	const struct past_question *question;
	struct found *found;
	size_t count;
	uint64_t bytes; /* read so far */
	bool truncated;
};

static int
rows_open(struct rows *rows, const struct past_question *question, struct rm_why *why)
{
	*rows = (struct rows){ .question = question };
	rows->found = calloc(FOUND_MAX, sizeof(*rows->found));
	return rows->found != NULL ? 0 : rm_why(why, -ENOMEM, "out of memory");
}

static void
rows_close(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		json_decref(rows->found[i].row);
	free(rows->found);
}

static bool
rows_full(const struct rows *rows)
{
	return rows->count == FOUND_MAX;
}

static void
rows_add(struct rows *rows, int64_t ns, uint64_t hash, json_t *takes)
{
	rows->found[rows->count] = (struct found){ ns, hash, rows->count, takes };
	rows->count++;
}

static json_t *
time_json(rm_wall_t when)
{
	char text[RM_WALL_TEXT];

	rm_wall_format(when, text);
	return json_string(text);
}

static int
by_time(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Sorted, without those that stand there twice, and no more than were asked for. */
static json_t *
rows_list(struct rows *rows)
{
	const size_t limit = rows->question->limit;
	json_t *list = json_array();

	qsort(rows->found, rows->count, sizeof(*rows->found), by_time);
	for (size_t i = 0; i < rows->count; i++) {
		const struct found *row = &rows->found[i];

		if (i > 0 && row->hash != 0 && row->ns == row[-1].ns &&
		    row->hash == row[-1].hash)
			continue;
		if (json_array_size(list) == limit) {
			rows->truncated = true;
			break;
		}
		json_array_append(list, row->row);
	}
	return list;
}

static int
rows_text(struct rows *rows, char **ret, struct rm_why *why)
{
	const struct past_question *q = rows->question;
	json_t *columns = json_array(), *list = rows_list(rows), *all;

	json_array_append_new(columns, json_string("time"));
	for (size_t i = 0; q->measurement->columns[i].name != NULL; i++)
		json_array_append_new(
		    columns, json_string(q->measurement->columns[i].name));
	all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "measurement",
	    q->measurement->name, "from", time_json(q->from), "to", time_json(q->to),
	    "columns", columns, "rows", list, "truncated", (int)rows->truncated);
	*ret = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return *ret != NULL ? 0 : rm_why(why, -ENOMEM, "out of memory");
}

/* ---- files ----------------------------------------------------------------------- */

static json_t *
value_json(const struct rm_line_column *column)
{
	json_t *json = NULL;

	if (column == NULL)
		return json_null();
	switch (column->type) {
	case RM_LINE_INTEGER:
		json = json_integer(column->integer);
		break;
	case RM_LINE_FLOAT:
		json = json_real(column->number);
		break;
	case RM_LINE_BOOLEAN:
		json = json_boolean(column->integer != 0);
		break;
	case RM_LINE_TAG:
	case RM_LINE_STRING:
		json = json_string(column->text);
		break;
	}
	/* NULL: no UTF-8, no number, and nothing that we have written. */
	return json != NULL ? json : json_null();
}

static bool
column_is(const struct rm_line_point *point, const char *key, const char *value)
{
	const struct rm_line_column *column =
	    key != NULL ? rm_line_find(point, key) : NULL;

	return column != NULL && strcmp(column->text, value) == 0;
}

static bool
point_matches(const struct rm_line_point *point, const struct past_question *q)
{
	const char *tors[2];

	past_tor_columns(q->measurement, tors);
	return strcmp(point->measurement, q->measurement->name) == 0 &&
	       point->when.ns >= q->from.ns && point->when.ns < q->to.ns &&
	       (q->region[0] == '\0' || column_is(point, "region", q->region)) &&
	       (q->tor[0] == '\0' || column_is(point, tors[0], q->tor) ||
		   column_is(point, tors[1], q->tor));
}

static void
add_point(struct rows *rows, const struct rm_line_point *point, uint64_t hash)
{
	const struct history_column *columns = rows->question->measurement->columns;
	json_t *row = json_array();

	json_array_append_new(row, time_json(point->when));
	for (size_t i = 0; columns[i].name != NULL; i++)
		json_array_append_new(
		    row, value_json(rm_line_find(point, columns[i].name)));
	rows_add(rows, point->when.ns, hash, row);
}

/* Cheap: most lines of a file are of another measurement, or another time. */
static bool
line_may_match(const char *line, const struct past_question *q)
{
	const size_t len = strlen(q->measurement->name);
	const char *time = strrchr(line, ' ');
	long long ns = time != NULL ? strtoll(time + 1, NULL, 10) : 0;

	return strncmp(line, q->measurement->name, len) == 0 && line[len] == ',' &&
	       ns >= q->from.ns && ns < q->to.ns;
}

/* Torn lines are passed over. */
static int
read_file(struct rows *rows, const char *path, struct rm_line_point *point)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r;

	if (file == NULL)
		return errno == ENOENT ? 0 : -errno;
	while ((len = getline(&line, &room, file)) > 0 && line[len - 1] == '\n') {
		const uint64_t hash = rm_fnv1a(RM_FNV1A, line, (size_t)len) | 1;

		rows->bytes += (uint64_t)len;
		if (rows_full(rows) || rows->bytes > READ_BYTES) {
			rows->truncated = true;
			break;
		}
		line[len - 1] = '\0';
		if (line_may_match(line, rows->question) &&
		    rm_line_read(line, (size_t)len - 1, point) == 0 &&
		    point_matches(point, rows->question))
			add_point(rows, point, hash);
	}
	r = ferror(file) ? -EIO : 0;
	free(line);
	fclose(file);
	return r;
}

int
past_answer_files(
    const struct past_question *q, const char *folder, char **json, struct rm_why *why)
{
	const char *name =
	    q->measurement->retention == HISTORY_RAW ? "rackmesh.lp" : "incidents.lp";
	struct rm_line_point *point = malloc(sizeof(*point));
	struct rows rows;
	char path[4096];
	int r = rows_open(&rows, q, why);

	if (r == 0 && point == NULL)
		r = rm_why(why, -ENOMEM, "out of memory");
	/* The oldest first; one that is renamed meanwhile may be read twice, and its
	 * lines count once. */
	for (int i = HISTORY_FILES - 1; r == 0 && i >= 0; i--) {
		if (i > 0)
			snprintf(path, sizeof(path), "%s/%s.%d", folder, name, i);
		else
			snprintf(path, sizeof(path), "%s/%s", folder, name);
		r = read_file(&rows, path, point);
		if (r < 0)
			rm_why(why, r, "cannot read %s: %s", path, strerror(-r));
	}
	if (r == 0)
		r = rows_text(&rows, json, why);
	rows_close(&rows);
	free(point);
	return r;
}

/* ---- InfluxDB -------------------------------------------------------------------- */

static int
fault(struct rm_why *why, const json_t *object)
{
	const char *text = json_string_value(json_object_get(object, "error"));

	return text == NULL ? 0 : rm_why(why, -EBADMSG, "it says: %.300s", text);
}

/* The columns are those asked for, in this order, after the time. */
static bool
columns_are(const json_t *series, const struct history_column *columns)
{
	const json_t *names = json_object_get(series, "columns");
	size_t i;

	for (i = 0; columns[i].name != NULL; i++) {
		const char *name = json_string_value(json_array_get(names, i + 1));

		if (name == NULL || strcmp(name, columns[i].name) != 0)
			return false;
	}
	return json_array_size(names) == i + 1;
}

static bool
is_scalar(const json_t *value)
{
	return value != NULL && !json_is_object(value) && !json_is_array(value);
}

static int
take_row(struct rows *rows, json_t *values, size_t columns)
{
	const json_t *time = json_array_get(values, 0);
	json_t *row;

	if (json_array_size(values) != columns + 1 || !json_is_integer(time))
		return -EBADMSG;
	for (size_t i = 1; i <= columns; i++)
		if (!is_scalar(json_array_get(values, i)))
			return -EBADMSG;
	row = json_copy(values);
	json_array_set_new(row, 0, time_json((rm_wall_t){ json_integer_value(time) }));
	rows_add(rows, json_integer_value(time), 0, row);
	return 0;
}

static int
take_series(struct rows *rows, const json_t *series)
{
	const struct history_column *columns = rows->question->measurement->columns;
	size_t i, count = 0;
	json_t *values;
	int r = 0;

	while (columns[count].name != NULL)
		count++;
	if (!columns_are(series, columns))
		return -EBADMSG;
	json_array_foreach (json_object_get(series, "values"), i, values) {
		if (rows_full(rows)) {
			rows->truncated = true;
			break;
		}
		r = take_row(rows, values, count);
		if (r < 0)
			break;
	}
	return r;
}

int
past_answer_influx(const struct past_question *q, const char *body, size_t len,
    char **json, struct rm_why *why)
{
	json_t *all = json_loadb(body, len, 0, NULL);
	const json_t *result = json_array_get(json_object_get(all, "results"), 0);
	const json_t *series;
	struct rows rows;
	size_t i;
	int r = rows_open(&rows, q, why);

	if (r == 0)
		r = fault(why, all);
	if (r == 0)
		r = fault(why, result);
	if (r == 0 && !json_is_object(result))
		r = rm_why(why, -EBADMSG, "its answer is none of InfluxQL");
	if (r == 0)
		json_array_foreach (json_object_get(result, "series"), i, series) {
			r = take_series(&rows, series);
			if (r < 0) {
				rm_why(why, r,
				    "its rows are not those asked for: "
				    "VictoriaMetrics, "
				    "which knows no InfluxQL, answers like that");
				break;
			}
		}
	if (r == 0)
		r = rows_text(&rows, json, why);
	rows_close(&rows);
	json_decref(all);
	return r;
}
