#include "rackmesh/metrics/line_reader.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	char *at, *end;
	char stopped; /* the character that ended the last name; 0: end of line */
};

/*
 * Reads a name up to one of `stops`, removes escapes in place, and terminates it. A
 * backslash before a character without a special meaning stands for itself.
 */
static char *
read_name(struct reader *reader, const char *stops, const char *escaped)
{
	char *name = reader->at, *out = reader->at;

	while (reader->at < reader->end && strchr(stops, *reader->at) == NULL) {
		if (*reader->at == '\\' && reader->at + 1 < reader->end &&
		    strchr(escaped, reader->at[1]) != NULL)
			reader->at++;
		*out++ = *reader->at++;
	}
	reader->stopped = reader->at < reader->end ? *reader->at++ : '\0';
	*out = '\0';
	return out > name ? name : NULL;
}

/* Reads a string; the opening quote has been read. */
static char *
read_quoted(struct reader *reader)
{
	char *text = reader->at, *out = reader->at;

	while (reader->at < reader->end && *reader->at != '"') {
		if (*reader->at == '\\' && reader->at + 1 < reader->end &&
		    (reader->at[1] == '"' || reader->at[1] == '\\'))
			reader->at++;
		*out++ = *reader->at++;
	}
	if (reader->at == reader->end)
		return NULL;
	reader->at++; /* the closing quote */
	reader->stopped = reader->at < reader->end ? *reader->at++ : '\0';
	*out = '\0';
	return text;
}

static int
read_integer(const char *text, const char *suffix, int64_t *ret)
{
	char *end;
	long long value;

	if (*text != '-' && (*text < '0' || *text > '9'))
		return -EBADMSG;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno != 0 || end == text || strcmp(end, suffix) != 0)
		return -EBADMSG;
	*ret = value;
	return 0;
}

static int
read_value(struct rm_line_column *column)
{
	static const char *const literals[2][5] = { { "f", "F", "false", "False",
							"FALSE" },
		{ "t", "T", "true", "True", "TRUE" } };
	size_t len = strlen(column->text);
	char *end;

	for (int truth = 0; truth < 2; truth++)
		for (size_t i = 0; i < 5; i++) {
			if (strcmp(column->text, literals[truth][i]) != 0)
				continue;
			column->type = RM_LINE_BOOLEAN;
			column->integer = truth;
			return 0;
		}
	if (column->text[len - 1] == 'i') {
		column->type = RM_LINE_INTEGER;
		return read_integer(column->text, "i", &column->integer);
	}
	column->type = RM_LINE_FLOAT;
	/* strtod would also take blanks, "inf", "nan" and hexadecimal numbers. */
	if (strspn(column->text, "+-.0123456789eE") != len)
		return -EBADMSG;
	column->number = strtod(column->text, &end);
	return *end == '\0' && isfinite(column->number) ? 0 : -EBADMSG;
}

static int
read_column(struct reader *reader, bool tag, struct rm_line_point *point)
{
	struct rm_line_column *column;

	if (point->column_count == RM_LINE_COLUMNS)
		return -EMSGSIZE;
	column = &point->columns[point->column_count++];
	*column = (struct rm_line_column){ .type = RM_LINE_TAG };
	column->key = read_name(reader, "=, ", ",= ");
	if (column->key == NULL || reader->stopped != '=')
		return -EBADMSG;
	if (!tag && reader->at < reader->end && *reader->at == '"') {
		column->type = RM_LINE_STRING;
		reader->at++;
		column->text = read_quoted(reader);
	} else
		column->text = read_name(reader, ", ", ",= ");
	if (column->text == NULL)
		return -EBADMSG;
	if (tag || column->type == RM_LINE_STRING)
		return reader->stopped == ',' || reader->stopped == ' ' ? 0 : -EBADMSG;
	return reader->stopped == '\0' ? -EBADMSG : read_value(column);
}

int
rm_line_read(char *line, size_t len, struct rm_line_point *ret)
{
	struct reader reader = { line, line + len, '\0' };
	int r = 0;

	ret->column_count = 0;
	if (len == 0 || line[0] == '#' || memchr(line, '\0', len) != NULL)
		return -EBADMSG;
	ret->measurement = read_name(&reader, ", ", ", ");
	if (ret->measurement == NULL || reader.stopped == '\0')
		return -EBADMSG;
	while (r == 0 && reader.stopped == ',')
		r = read_column(&reader, true, ret);
	if (r < 0 || reader.stopped != ' ')
		return r < 0 ? r : -EBADMSG;
	do
		r = read_column(&reader, false, ret);
	while (r == 0 && reader.stopped == ',');
	if (r < 0 || reader.stopped != ' ')
		return r < 0 ? r : -EBADMSG;
	*reader.end = '\0';
	return read_integer(reader.at, "", &ret->when.ns);
}

const struct rm_line_column *
rm_line_find(const struct rm_line_point *point, const char *key)
{
	for (size_t i = 0; i < point->column_count; i++)
		if (strcmp(point->columns[i].key, key) == 0)
			return &point->columns[i];
	return NULL;
}
