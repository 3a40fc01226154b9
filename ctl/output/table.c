#include "ctl/output/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	const char *heads[TABLE_MAX_COLUMNS];
	bool right[TABLE_MAX_COLUMNS];
	size_t widths[TABLE_MAX_COLUMNS];
	size_t columns;
	char **cells;
	size_t count, room;
	bool failed;
};

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t
text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

struct table *
table_new(const char *const *heads)
{
	struct table *table = calloc(1, sizeof *table);

	if (table == NULL)
		return NULL;
	for (size_t i = 0; heads[i] != NULL && i < TABLE_MAX_COLUMNS; i++) {
		table->right[i] = heads[i][0] == '>';
		table->heads[i] = heads[i] + table->right[i];
		table->widths[i] = text_width(table->heads[i]);
		table->columns++;
	}
	return table;
}

void
table_free(struct table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

void
table_cell(struct table *table, const char *text)
{
	size_t column = table->count % table->columns;
	size_t width;

	if (text == NULL || text[0] == '\0')
		text = "-";
	if (table->count == table->room) {
		size_t room = table->room > 0 ? 2 * table->room : 64;
		char **cells = realloc(table->cells, room * sizeof *cells);

		if (cells == NULL) {
			table->failed = true;
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->count] = strdup(text);
	if (table->cells[table->count] == NULL) {
		table->failed = true;
		return;
	}
	table->count++;
	width = text_width(text);
	if (width > table->widths[column])
		table->widths[column] = width;
}

void
table_cellf(struct table *table, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	table_cell(table, text);
}

static void
print_cell(const struct table *table, size_t column, const char *text)
{
	int pad = (int)(table->widths[column] - text_width(text));
	bool last = column + 1 == table->columns;

	if (table->right[column])
		printf("%*s%s", pad, "", text);
	else
		printf("%s%*s", text, last ? 0 : pad, "");
	printf("%s", last ? "\n" : "  ");
}

int
table_print(const struct table *table)
{
	if (table->failed)
		return -ENOMEM;
	for (size_t i = 0; i < table->columns; i++)
		print_cell(table, i, table->heads[i]);
	for (size_t i = 0; i < table->count; i++)
		print_cell(table, i % table->columns, table->cells[i]);
	return 0;
}
