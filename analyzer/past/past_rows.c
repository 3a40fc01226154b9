#include "analyzer/past/past_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_schema.h"

#define SEEN_MAX (4u << 20)

struct found {
	rm_wall_t when;
	uint64_t hash;
	size_t order; /* number of the row, in the order of arrival */
	json_t *values;
};

struct merged { /* the values of one column in one step */
	bool there;
	int64_t value;
};

struct group { /* the rows with one value of the tag `by`; without `by`, all rows */
	char *name;
	struct merged *merged; /* for each step, column_count values */
};

struct seen {
	uint64_t *hashes; /* open addressing; 0: free */
	size_t room, count;
};

struct past_rows {
	const struct past_question *question;
	const struct history_column *columns[PAST_COLUMNS];
	size_t column_count;
	struct found *found; /* rows as stored */
	size_t count;
	struct group *groups; /* merged rows */
	size_t group_count, group_room, steps;
	size_t by;            /* index of the column with the group's name */
	json_t *group_places; /* by name */
	struct seen seen;     /* rows that were added before */
	bool truncated, no_strings;
};

struct past_rows *
past_rows_new(const struct past_question *q)
{
	struct past_rows *rows = calloc(1, sizeof(*rows));

	if (rows == NULL)
		return NULL;
	rows->question = q;
	rows->column_count = past_question_columns(q, rows->columns);
	for (size_t i = 0; i < rows->column_count; i++)
		if (rows->columns[i] == q->by)
			rows->by = i;
	if (q->step_ns == 0)
		rows->found = calloc(PAST_ROWS, sizeof(*rows->found));
	else
		rows->steps =
		    (size_t)((q->to.ns - 1) / q->step_ns - q->from.ns / q->step_ns + 1);
	rows->group_places = json_object();
	if ((q->step_ns == 0 && rows->found == NULL) || rows->group_places == NULL) {
		past_rows_free(rows);
		return NULL;
	}
	return rows;
}

void
past_rows_free(struct past_rows *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->count; i++)
		json_decref(rows->found[i].values);
	for (size_t i = 0; i < rows->group_count; i++) {
		free(rows->groups[i].name);
		free(rows->groups[i].merged);
	}
	free(rows->found);
	free(rows->groups);
	json_decref(rows->group_places);
	free(rows->seen.hashes);
	free(rows);
}

void
past_rows_cut(struct past_rows *rows)
{
	rows->truncated = true;
}

void
past_rows_no_strings(struct past_rows *rows)
{
	rows->no_strings = true;
}

/* ---- merging rows ---- */

static int
seen_grow(struct seen *seen)
{
	struct seen grown = { .room = seen->room == 0 ? 4096 : 2 * seen->room,
		.count = seen->count };

	grown.hashes = calloc(grown.room, sizeof(*grown.hashes));
	if (grown.hashes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < seen->room; i++) {
		size_t at = seen->hashes[i] % grown.room;

		if (seen->hashes[i] == 0)
			continue;
		while (grown.hashes[at] != 0)
			at = (at + 1) % grown.room;
		grown.hashes[at] = seen->hashes[i];
	}
	free(seen->hashes);
	*seen = grown;
	return 0;
}

/* Adds a hash. 1: it was added. 0: it was there already. -ENOSPC, -ENOMEM. */
static int
seen_add(struct seen *seen, uint64_t hash)
{
	size_t at;
	int r;

	if (seen->count == SEEN_MAX)
		return -ENOSPC;
	if (2 * (seen->count + 1) > seen->room) {
		r = seen_grow(seen);
		if (r < 0)
			return r;
	}
	for (at = hash % seen->room; seen->hashes[at] != 0; at = (at + 1) % seen->room)
		if (seen->hashes[at] == hash)
			return 0;
	seen->hashes[at] = hash;
	seen->count++;
	return 1;
}

static void
merge_value(struct merged *merged, enum history_merge how, int64_t value)
{
	int64_t sum;

	if (!merged->there) {
		*merged = (struct merged){ true, value };
	} else if (how == HISTORY_MERGE_LARGEST) {
		if (value > merged->value)
			merged->value = value;
	} else if (how == HISTORY_MERGE_SMALLEST) {
		if (value < merged->value)
			merged->value = value;
	} else if (!__builtin_add_overflow(merged->value, value, &sum)) {
		merged->value = sum;
	}
}

/* Leaves out the later half of the time, so that the answer has all groups until then:
 * the next request begins there. */
static int
halve_time(struct past_rows *rows)
{
	if (rows->steps == 1)
		return -ENOSPC;
	past_rows_cut(rows);
	rows->steps = (rows->steps + 1) / 2;
	for (size_t i = 0; i < rows->group_count; i++) {
		struct merged *smaller = reallocarray(rows->groups[i].merged,
		    rows->steps * rows->column_count, sizeof(*smaller));

		if (smaller == NULL)
			return -ENOMEM;
		rows->groups[i].merged = smaller;
	}
	return 0;
}

/* name: NULL if the query has no `by`. *ret is valid until the next group is added. */
static int
add_group(struct past_rows *rows, const char *name, struct group **ret)
{
	struct group group = { 0 };

	/* Merged rows count for the limit of an answer, too. */
	while (rows->group_count > 0 &&
	       (rows->group_count + 1) * rows->steps > PAST_ROWS) {
		int r = halve_time(rows);

		if (r < 0)
			return r;
	}
	if (rows->group_count == rows->group_room) {
		const size_t room = rows->group_room == 0 ? 1 : 2 * rows->group_room;
		struct group *grown =
		    reallocarray(rows->groups, room, sizeof(*rows->groups));

		if (grown == NULL)
			return -ENOMEM;
		rows->groups = grown;
		rows->group_room = room;
	}
	group.merged = calloc(rows->steps * rows->column_count, sizeof(*group.merged));
	group.name = name != NULL ? strdup(name) : NULL;
	if (group.merged == NULL || (name != NULL && group.name == NULL) ||
	    (name != NULL && json_object_set_new(rows->group_places, name,
				 json_integer((json_int_t)rows->group_count)) < 0)) {
		free(group.merged);
		free(group.name);
		return -ENOMEM;
	}
	rows->groups[rows->group_count] = group;
	*ret = &rows->groups[rows->group_count++];
	return 0;
}

static int
find_group(struct past_rows *rows, const json_t *values, struct group **ret)
{
	const char *name = NULL;
	const json_t *place;

	if (rows->question->by == NULL && rows->group_count > 0) {
		*ret = &rows->groups[0];
		return 0;
	}
	if (rows->question->by != NULL) {
		name = json_string_value(json_array_get(values, rows->by));
		if (name == NULL)
			name = ""; /* the row has no such tag */
		place = json_object_get(rows->group_places, name);
		if (place != NULL) {
			*ret = &rows->groups[json_integer_value(place)];
			return 0;
		}
	}
	return add_group(rows, name, ret);
}

static int
merge_row(struct past_rows *rows, rm_wall_t when, uint64_t hash, const json_t *values)
{
	const struct past_question *q = rows->question;
	const size_t step = (size_t)(when.ns / q->step_ns - q->from.ns / q->step_ns);
	struct group *group = NULL;
	const json_t *value;
	size_t i;
	int r;

	if (step >= rows->steps)
		return 0;
	r = hash != 0 ? seen_add(&rows->seen, hash) : 1;
	if (r <= 0)
		return r;
	r = find_group(rows, values, &group);
	if (r < 0 || step >= rows->steps)
		return r;
	json_array_foreach (values, i, value)
		if (i < rows->column_count && json_is_integer(value))
			merge_value(&group->merged[step * rows->column_count + i],
			    rows->columns[i]->merge, json_integer_value(value));
	return 0;
}

/* ---- both ------------------------------------------------------------------------ */

int
past_rows_add(struct past_rows *rows, rm_wall_t when, uint64_t hash, json_t *values)
{
	const struct past_question *q = rows->question;
	/* The time of a step is its start, which may be before the requested time. */
	const int64_t first =
	    q->step_ns == 0 ? q->from.ns : q->from.ns / q->step_ns * q->step_ns;
	int r = 0;

	if (values == NULL)
		return -ENOMEM;
	while (json_array_size(values) > rows->column_count)
		json_array_remove(values, json_array_size(values) - 1);
	if (when.ns < first || when.ns >= q->to.ns) {
		json_decref(values);
	} else if (q->step_ns != 0) {
		r = merge_row(rows, when, hash, values);
		json_decref(values);
	} else if (rows->count == PAST_ROWS) {
		r = -ENOSPC;
		json_decref(values);
	} else {
		rows->found[rows->count] =
		    (struct found){ when, hash, rows->count, values };
		rows->count++;
	}
	if (r == -ENOSPC)
		past_rows_cut(rows);
	return r;
}

static json_t *
time_json(rm_wall_t when)
{
	char text[RM_WALL_TEXT];

	rm_wall_format(when, text);
	return json_string(text);
}

/* False: the limit is reached. */
static bool
put_row(struct past_rows *rows, json_t *list, rm_wall_t when, json_t *values)
{
	if (json_array_size(list) == rows->question->limit) {
		past_rows_cut(rows);
		return false;
	}
	json_array_insert_new(values, 0, time_json(when));
	json_array_append(list, values);
	return true;
}

static int
by_time(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->when.ns != y->when.ns)
		return x->when.ns < y->when.ns ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void
put_found(struct past_rows *rows, json_t *list)
{
	qsort(rows->found, rows->count, sizeof(*rows->found), by_time);
	for (size_t i = 0; i < rows->count; i++) {
		const struct found *row = &rows->found[i];

		if (i > 0 && row->hash != 0 && row->when.ns == row[-1].when.ns &&
		    row->hash == row[-1].hash)
			continue;
		if (!put_row(rows, list, row->when, row->values))
			return;
	}
}

static int
by_group_name(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* False: the limit is reached. */
static bool
put_step(struct past_rows *rows, const struct group *group, size_t step, json_t *list)
{
	const struct past_question *q = rows->question;
	const rm_wall_t when = { (q->from.ns / q->step_ns + (int64_t)step) *
				 q->step_ns };
	json_t *values = json_array();
	bool there = false, more = true;

	for (size_t i = 0; i < rows->column_count; i++) {
		const struct merged *merged =
		    &group->merged[step * rows->column_count + i];

		there = there || merged->there;
		json_array_append_new(
		    values, merged->there ? json_integer(merged->value)
			    : rows->columns[i] == q->by && group->name[0] != '\0'
				? json_string(group->name)
				: json_null());
	}
	if (there)
		more = put_row(rows, list, when, values);
	json_decref(values);
	return more;
}

static void
put_merged(struct past_rows *rows, json_t *list)
{
	if (rows->question->by != NULL && rows->group_count > 0)
		qsort(rows->groups, rows->group_count, sizeof(*rows->groups),
		    by_group_name);
	for (size_t step = 0; step < rows->steps; step++)
		for (size_t i = 0; i < rows->group_count; i++)
			if (!put_step(rows, &rows->groups[i], step, list))
				return;
}

int
past_rows_json(struct past_rows *rows, char **ret, struct rm_error *error)
{
	const struct past_question *q = rows->question;
	json_t *columns = json_array(), *list = json_array(), *lacking = json_array();
	json_t *all;

	json_array_append_new(columns, json_string("time"));
	for (size_t i = 0; i < rows->column_count; i++) {
		json_array_append_new(columns, json_string(rows->columns[i]->name));
		if (rows->no_strings && rows->columns[i]->type == RM_LINE_STRING)
			json_array_append_new(
			    lacking, json_string(rows->columns[i]->name));
	}
	if (q->step_ns == 0)
		put_found(rows, list);
	else
		put_merged(rows, list);
	all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "measurement",
	    q->measurement->name, "from", time_json(q->from), "to", time_json(q->to),
	    "columns", columns, "rows", list, "truncated", (int)rows->truncated,
	    "not_kept", lacking);
	*ret = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return *ret != NULL ? 0 : rm_error_set(error, -ENOMEM, "out of memory");
}
