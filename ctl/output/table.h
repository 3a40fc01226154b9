/*
 * table - rows of text in columns as wide as their widest cell.
 */
#ifndef CTL_OUTPUT_TABLE_H
#define CTL_OUTPUT_TABLE_H

#include <jansson.h>

#include <stddef.h>

#define TABLE_MAX_COLUMNS 16

struct table;

/* heads: ended by NULL; a head that begins with '>' makes its column right-aligned. */
struct table *table_new(const char *const *heads); /* NULL: memory */
void table_free(struct table *table);

/* The next cell, from left to right. NULL prints as "-". */
void table_cell(struct table *table, const char *text);
void table_cellf(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* To stdout. Returns -ENOMEM when a cell could not be kept: nothing is printed. */
int table_print(const struct table *table);

/* A JSON list of objects as a table, by one row per column. */
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

/* To stdout. -ENOMEM, -E2BIG (too many columns): nothing is printed. */
int columns_print(const struct column *columns, const json_t *list);

#endif
