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

/* Counts characters, not bytes: continuation bytes of UTF-8 take no column. */
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

#define LIST_SHOWN 8

static const json_t *
value_at(const json_t *object, const char *key)
{
	const char *dot = strchr(key, '.');

	if (dot != NULL)
		return json_object_get(
		    json_object_getn(object, key, (size_t)(dot - key)), dot + 1);
	return json_object_get(object, key);
}

static void
list_cell(struct table *table, const json_t *list)
{
	char text[512] = "";
	size_t at = 0, i;
	const json_t *item;

	json_array_foreach (list, i, item) {
		if (i == LIST_SHOWN || at + 64 > sizeof text) {
			snprintf(text + at, sizeof text - at, " +%zu",
			    json_array_size(list) - i);
			break;
		}
		if (json_is_string(item))
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%.60s",
			    i > 0 ? "," : "", json_string_value(item));
		else
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld",
			    i > 0 ? "," : "", (long long)json_integer_value(item));
	}
	table_cell(table, text);
}

static void
cell(struct table *table, const struct column *column, const json_t *value)
{
	if (value == NULL || json_is_null(value)) {
		table_cell(table, NULL);
		return;
	}
	switch (column->kind) {
	case COLUMN_TEXT:
		table_cell(table, json_string_value(value));
		break;
	case COLUMN_NUMBER:
		table_cellf(table, "%lld", (long long)json_integer_value(value));
		break;
	case COLUMN_US:
		/* the daemons send 0 if nothing was measured */
		if (json_integer_value(value) == 0)
			table_cell(table, NULL);
		else
			table_cellf(
			    table, "%.1f", (double)json_integer_value(value) / 1000.0);
		break;
	case COLUMN_YES:
		table_cell(table, json_is_true(value) ? "yes" : "no");
		break;
	case COLUMN_LIST:
		list_cell(table, value);
		break;
	}
}

int
columns_print(const struct column *columns, const json_t *list)
{
	const char *heads[TABLE_MAX_COLUMNS + 1] = { NULL };
	struct table *table;
	const json_t *object;
	size_t i;
	int r;

	for (i = 0; columns[i].head != NULL; i++) {
		if (i == TABLE_MAX_COLUMNS)
			return -E2BIG;
		heads[i] = columns[i].head;
	}
	table = table_new(heads);
	if (table == NULL)
		return -ENOMEM;
	json_array_foreach (list, i, object) {
		for (size_t c = 0; heads[c] != NULL; c++)
			cell(table, &columns[c], value_at(object, columns[c].key));
	}
	r = table_print(table);
	table_free(table);
	return r;
}
