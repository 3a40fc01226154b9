/*
 * columns - a JSON list of objects as a table, by one row per column.
 */
#ifndef CTL_OUTPUT_COLUMNS_H
#define CTL_OUTPUT_COLUMNS_H

#include <jansson.h>

enum column_kind {
	COLUMN_TEXT = 1,
	COLUMN_NUMBER,
	COLUMN_US,   /* nanoseconds in the JSON, microseconds in the table */
	COLUMN_YES,  /* a boolean as "yes" or "no" */
	COLUMN_LIST, /* texts or numbers, with commas; at most 8, then "+N" */
};

struct column {
	const char *head; /* NULL ends the columns; '>' in front: right-aligned */
	const char *key;  /* "a" or "a.b"; what is missing prints as "-" */
	enum column_kind kind;
};

/* To stdout. -ENOMEM: nothing is printed. */
int columns_print(const struct column *columns, const json_t *list);

#endif
