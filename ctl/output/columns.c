#include "ctl/output/columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/output/table.h"

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
		table_cellf(table, "%.1f", (double)json_integer_value(value) / 1000.0);
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

	for (i = 0; columns[i].head != NULL && i < TABLE_MAX_COLUMNS; i++)
		heads[i] = columns[i].head;
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
