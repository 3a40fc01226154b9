/*
 * table - rows of text in columns as wide as their widest cell.
 */
#ifndef CTL_OUTPUT_TABLE_H
#define CTL_OUTPUT_TABLE_H

#include <jansson.h>

#include <stddef.h>

#define TABLE_MAX_COLUMNS 16

struct table;

/* heads: ends with NULL; a column is right-aligned if its head begins with '>'. */
struct table *table_new(
    const char *const *heads); /* Returns NULL when out of memory. */
void table_free(struct table *table);

/* Adds the next cell, from left to right. text NULL: "-". */
void table_cell(struct table *table, const char *text);
void table_cellf(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints to stdout. -ENOMEM: a cell could not be stored, and nothing was printed. */
int table_print(const struct table *table);

/* Prints a JSON array of objects as a table; each struct column describes one column.
 */
enum column_kind {
	COLUMN_TEXT = 1,
	COLUMN_NUMBER,
	COLUMN_US,  /* ns in the JSON, us in the table */
	COLUMN_YES, /* a boolean as "yes" or "no" */
	/* array of texts or numbers, printed with commas; at most 8, then "+N" */
	COLUMN_LIST,
};

struct column {
	/* head of the column; NULL ends the list of columns. '>' at its beginning:
	 * right-aligned */
	const char *head;
	const char *key; /* "a" or "a.b"; a missing value is printed as "-" */
	enum column_kind kind;
};

/* Prints to stdout. -ENOMEM; -E2BIG: too many columns. On failure nothing was
 * printed. */
int columns_print(const struct column *columns, const json_t *list);

#endif
