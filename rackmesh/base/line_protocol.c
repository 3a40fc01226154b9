#include "rackmesh/base/line_protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/base/decimal.h"

enum line_state {
	LINE_BEGUN = 1,
	LINE_FIELDS = 2, /* at least one: no tag may follow */
	LINE_INVALID = 4,
	LINE_FULL = 8,
};

static void
line_put(struct rm_line *line, char c)
{
	if (line->at < line->capacity)
		line->out[line->at++] = c;
	else
		line->state |= LINE_FULL;
}

static void
line_put_text(struct rm_line *line, const char *text)
{
	for (; *text != '\0'; text++)
		line_put(line, *text);
}

/*
 * Line breaks have no escape outside string fields, and a backslash at the end
 * would escape the separator behind it: both make the point invalid.
 */
static void
line_put_name(struct rm_line *line, const char *name, const char *escaped)
{
	size_t len = strlen(name);

	if (len == 0 || name[len - 1] == '\\' || strpbrk(name, "\r\n") != NULL)
		line->state |= LINE_INVALID;
	for (; *name != '\0'; name++) {
		if (strchr(escaped, *name) != NULL)
			line_put(line, '\\');
		line_put(line, *name);
	}
}

void
rm_line_init(struct rm_line *line, char *out, size_t capacity)
{
	*line = (struct rm_line){ .out = out, .capacity = capacity };
}

void
rm_line_begin(struct rm_line *line, const char *measurement)
{
	line->at = line->len;
	line->state = LINE_BEGUN;
	if (measurement[0] == '#') /* would be a comment */
		line->state |= LINE_INVALID;
	line_put_name(line, measurement, ", ");
}

void
rm_line_tag(struct rm_line *line, const char *key, const char *value)
{
	if (line->state & LINE_FIELDS)
		line->state |= LINE_INVALID;
	if (value[0] == '\0')
		return; /* an empty tag is the same as none, and has no syntax */
	line_put(line, ',');
	line_put_name(line, key, ",= ");
	line_put(line, '=');
	line_put_name(line, value, ",= ");
}

static void
line_field(struct rm_line *line, const char *key)
{
	line_put(line, line->state & LINE_FIELDS ? ',' : ' ');
	line->state |= LINE_FIELDS;
	line_put_name(line, key, ",= ");
	line_put(line, '=');
}

void
rm_line_int(struct rm_line *line, const char *key, int64_t value)
{
	char text[32];

	line_field(line, key);
	snprintf(text, sizeof(text), "%" PRId64 "i", value);
	line_put_text(line, text);
}

void
rm_line_double(struct rm_line *line, const char *key, double value)
{
	char text[RM_DECIMAL_TEXT];

	if (!isfinite(value))
		return;
	line_field(line, key);
	line_put_text(line, rm_decimal_format(value, text));
}

void
rm_line_string(struct rm_line *line, const char *key, const char *value)
{
	/* Allowed by the reference, but whoever reads by lines would be torn apart. */
	if (strpbrk(value, "\r\n") != NULL)
		line->state |= LINE_INVALID;
	line_field(line, key);
	line_put(line, '"');
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			line_put(line, '\\');
		line_put(line, *value);
	}
	line_put(line, '"');
}

int
rm_line_end(struct rm_line *line, rm_wall_t when)
{
	unsigned state;
	char text[32];

	snprintf(text, sizeof(text), " %" PRId64 "\n", when.ns);
	line_put_text(line, text);

	state = line->state;
	line->state = 0;
	if ((state & LINE_INVALID) || !(state & LINE_BEGUN) || !(state & LINE_FIELDS)) {
		line->at = line->len;
		return -EINVAL;
	}
	if (state & LINE_FULL) {
		line->at = line->len;
		return -ENOSPC;
	}
	line->len = line->at;
	return 0;
}
