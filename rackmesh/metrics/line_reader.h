/*
 * line_reader - parses one line of InfluxDB line protocol. Pure.
 *
 * The bytes are not trusted: everything is checked. It is for files of history, and for
 * tests of line_protocol.
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
	/* text of a tag or string; for other fields, the number as it was written */
	const char *text;
	int64_t integer; /* value of an integer; 0 or 1 for a boolean */
	double number;   /* of floats */
};

struct rm_line_point {
	const char *measurement;
	struct rm_line_column columns[RM_LINE_COLUMNS];
	size_t column_count;
	rm_wall_t when;
};

/* Parses a line of len bytes, without its line break, in place; it must have room for
 * one more byte. The texts in *ret point into line. A point must have a field and a
 * time. -EBADMSG: not such a line; -EMSGSIZE: more than RM_LINE_COLUMNS columns. */
int rm_line_read(char *line, size_t len, struct rm_line_point *ret);

/* Returns NULL if no field has this name. */
const struct rm_line_column *rm_line_find(
    const struct rm_line_point *point, const char *key);

#endif
