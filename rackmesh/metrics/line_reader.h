/*
 * line_reader - one line of InfluxDB line protocol, taken apart. Pure.
 *
 * Foreign bytes: everything is checked. The counterpart of line_protocol, for files of
 * history and for tests.
 */
#ifndef RACKMESH_METRICS_LINE_READER_H
#define RACKMESH_METRICS_LINE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_LINE_COLUMNS 64 /* tags and fields of one point */

enum rm_line_type {
	RM_LINE_TAG = 1,
	RM_LINE_INTEGER,
	RM_LINE_FLOAT,
	RM_LINE_STRING,
	RM_LINE_BOOLEAN,
};

struct rm_line_column {
	enum rm_line_type type;
	const char *key;
	const char *text; /* of tags and strings; else the number as it was written */
	int64_t integer;  /* of integers; 0 or 1 of booleans */
	double number;    /* of floats */
};

struct rm_line_point {
	const char *measurement;
	struct rm_line_column columns[RM_LINE_COLUMNS];
	size_t column_count;
	rm_wall_t when;
};

/* line: len bytes without the line break, and room for one more; taken apart in place,
 * so ret's texts live as long as it. A point needs a field and a time. -EBADMSG,
 * -EMSGSIZE: more columns than that. */
int rm_line_read(char *line, size_t len, struct rm_line_point *ret);

/* NULL: no field has this name. */
const struct rm_line_column *rm_line_find(
    const struct rm_line_point *point, const char *key);

#endif
