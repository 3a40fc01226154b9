#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "analyzer/history/history_files.h"
#include "analyzer/history/history_schema.h"
#include "analyzer/past/past_answer.h"
#include "analyzer/past/past_rows.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/identity/identity.h"
#include "rackmesh/metrics/line_reader.h"

/* maximum number of bytes that are read for one query */
#define READ_BYTES (UINT64_C(2) << 30)
/* The most by which the clock of a row's sender may be ahead. */
#define AHEAD_NS (3600 * RM_NS_PER_S)

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
	/* NULL: the text is not UTF-8, or the number is not finite. This analyzer
	 * writes neither. */
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
region_matches(const struct rm_line_point *point, const struct past_question *q)
{
	const struct rm_line_column *region = NULL;

	if (q->regions[0] == '\0')
		return true;
	region = rm_line_find(point, past_filter_names[PAST_REGION]);
	return region != NULL && rm_identity_is_of(q->regions, region->text);
}

static bool
point_matches(const struct rm_line_point *point, const struct past_question *q)
{
	for (int i = 0; i < PAST_FILTERS; i++) {
		const char *tags[2], *name = q->filter[i];

		past_filter_columns(q->measurement, i, tags);
		if (name[0] != '\0' && !column_is(point, tags[0], name) &&
		    !column_is(point, tags[1], name))
			return false;
	}
	return strcmp(point->measurement, q->measurement->name) == 0 &&
	       region_matches(point, q);
}

static json_t *
point_values(const struct rm_line_point *point, const struct past_question *q)
{
	const struct history_column *columns[PAST_COLUMNS];
	const size_t count = past_question_columns(q, columns);
	json_t *values = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    values, value_json(rm_line_find(point, columns[i]->name)));
	return values;
}

/* A cheap test before parsing. False: the line is of another measurement or time, as
 * most lines are. */
static bool
line_may_match(const char *line, const struct past_question *q)
{
	const size_t len = strlen(q->measurement->name);
	const char *time = strrchr(line, ' ');
	long long ns = time != NULL ? strtoll(time + 1, NULL, 10) : 0;

	return strncmp(line, q->measurement->name, len) == 0 && line[len] == ',' &&
	       ns >= q->from.ns && ns < q->to.ns;
}

struct reading {
	const struct past_question *question;
	struct past_rows *rows;
	struct rm_line_point *point;
	FILE *files[HISTORY_FILES]; /* the newest first; NULL: no file */
	uint64_t bytes;             /* so far */
};

/* Incomplete lines are skipped. -ENOSPC: the answer is full. */
static int
read_file(struct reading *reading, FILE *file)
{
	const struct past_question *q = reading->question;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	while (r == 0 && (len = getline(&line, &room, file)) > 0 &&
	       line[len - 1] == '\n') {
		uint64_t hash;

		reading->bytes += (uint64_t)len;
		if (reading->bytes > READ_BYTES) {
			past_rows_cut(reading->rows);
			r = -ENOSPC;
			break;
		}
		line[--len] = '\0';
		if (!line_may_match(line, q))
			continue;
		hash = rm_fnv1a(RM_FNV1A, line, (size_t)len) | 1;
		if (rm_line_read(line, (size_t)len, reading->point) == 0 &&
		    point_matches(reading->point, q))
			r = past_rows_add(reading->rows, reading->point->when, hash,
			    point_values(reading->point, q));
	}
	if (r == 0 && ferror(file))
		r = -EIO;
	free(line);
	return r;
}

static bool
is_same(FILE *file, const struct stat *other)
{
	struct stat of;

	return file != NULL && fstat(fileno(file), &of) == 0 &&
	       of.st_dev == other->st_dev && of.st_ino == other->st_ino;
}

/* A file that was last written before the requested time is not read. */
static bool
is_needed(const struct reading *reading, int at)
{
	struct stat of;

	if (fstat(fileno(reading->files[at]), &of) < 0)
		return true;
	for (int i = 0; i < at; i++)
		if (is_same(reading->files[i], &of))
			return false;
	return of.st_mtim.tv_sec >=
	       (reading->question->from.ns - AHEAD_NS) / RM_NS_PER_S;
}

/* Opens the newest file first. A file that is renamed meanwhile is opened again under
 * its new name, so that no file is missed. */
static int
open_all(struct reading *reading, const char *folder, struct rm_error *error)
{
	const char *name = reading->question->measurement->retention == HISTORY_RAW
			       ? "rackmesh.lp"
			       : "incidents.lp";
	char path[4096];

	for (int i = 0; i < HISTORY_FILES; i++) {
		if (i > 0)
			snprintf(path, sizeof(path), "%s/%s.%d", folder, name, i);
		else
			snprintf(path, sizeof(path), "%s/%s", folder, name);
		reading->files[i] = fopen(path, "re");
		if (reading->files[i] == NULL && errno != ENOENT)
			return rm_error_set(
			    error, -errno, "cannot read %s: %s", path, strerror(errno));
		if (reading->files[i] != NULL && !is_needed(reading, i)) {
			fclose(reading->files[i]);
			reading->files[i] = NULL;
		}
	}
	return 0;
}

/* Reads the oldest file first: if the answer is full, the newest rows are left out. */
static int
read_all(struct reading *reading, const char *folder, struct rm_error *error)
{
	int r = open_all(reading, folder, error);

	for (int i = HISTORY_FILES - 1; r == 0 && i >= 0; i--) {
		if (reading->files[i] == NULL)
			continue;
		r = read_file(reading, reading->files[i]);
		if (r < 0 && r != -ENOSPC)
			rm_error_set(error, r, "cannot read the history in %s: %s",
			    folder, strerror(-r));
	}
	for (int i = 0; i < HISTORY_FILES; i++)
		if (reading->files[i] != NULL)
			fclose(reading->files[i]);
	return r == -ENOSPC ? 0 : r;
}

int
past_answer_files(const struct past_question *q, const char *folder, char **json,
    struct rm_error *error)
{
	struct reading reading = { .question = q,
		.rows = past_rows_new(q),
		.point = malloc(sizeof(*reading.point)) };
	int r;

	if (reading.rows == NULL || reading.point == NULL)
		r = rm_error_set(error, -ENOMEM, "out of memory");
	else
		r = read_all(&reading, folder, error);
	if (r == 0)
		r = past_rows_json(reading.rows, json, error);
	past_rows_free(reading.rows);
	free(reading.point);
	return r;
}
