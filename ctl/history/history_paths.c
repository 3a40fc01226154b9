#include "ctl/history/history_paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/output/printable.h"
#include "ctl/output/table.h"

#define MOST 12 /* maximum number of paths that are printed */

static const char *const names[] = { "sent", "lost_forward", "lost_reverse",
	"lost_unknown", "path", "arrived", "congested" };
#define NAMES (sizeof(names) / sizeof(names[0]))
enum { SENT, LOST_FORWARD, LOST_REVERSE, LOST_UNKNOWN, PATH, ARRIVED, CONGESTED };

/* False: a column is missing. Only of an older analyzer's answer ARRIVED and CONGESTED
 * may be missing: no row has an element SIZE_MAX. */
static bool
find_columns(const json_t *answer, size_t at[NAMES])
{
	const json_t *columns = json_object_get(answer, "columns"), *column;
	size_t i;

	for (size_t n = 0; n < NAMES; n++) {
		at[n] = SIZE_MAX;
		json_array_foreach (columns, i, column)
			if (json_is_string(column) &&
			    strcmp(json_string_value(column), names[n]) == 0)
				at[n] = i;
		if (at[n] == SIZE_MAX && n <= PATH)
			return false;
	}
	return true;
}

static json_int_t
number_of(const json_t *path, const char *key)
{
	return json_integer_value(json_object_get(path, key));
}

static void
add(json_t *path, const char *key, json_int_t more)
{
	json_object_set_new(path, key, json_integer(number_of(path, key) + more));
}

static void
take_row(json_t *by_path, const json_t *row, const size_t at[NAMES])
{
	const char *text = json_string_value(json_array_get(row, at[PATH]));
	json_t *path;

	if (text == NULL)
		text = "";
	path = json_object_get(by_path, text);
	if (path == NULL) {
		path = json_pack("{s:s, s:i, s:i, s:i, s:i}", "path", text, "sent", 0,
		    "lost", 0, "arrived", 0, "congested", 0);
		json_object_set_new(by_path, text, path);
	}
	add(path, "sent", json_integer_value(json_array_get(row, at[SENT])));
	add(path, "arrived", json_integer_value(json_array_get(row, at[ARRIVED])));
	add(path, "congested", json_integer_value(json_array_get(row, at[CONGESTED])));
	for (size_t n = LOST_FORWARD; n <= LOST_UNKNOWN; n++)
		add(path, "lost", json_integer_value(json_array_get(row, at[n])));
}

/* Most lost probes first, then most marks; of equal ones, the one with fewer probes. */
static int
compare(const void *a, const void *b)
{
	static const struct {
		const char *key;
		int most_first;
	} orders[] = { { "lost", 1 }, { "congested", 1 }, { "sent", -1 } };
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const json_int_t of_x = number_of(x, orders[i].key),
				 of_y = number_of(y, orders[i].key);

		if (of_x != of_y)
			return of_x < of_y ? orders[i].most_first
					   : -orders[i].most_first;
	}
	return 0;
}

json_t *
history_paths(const json_t *answer)
{
	const json_t *rows = json_object_get(answer, "rows"), *row;
	json_t *by_path = json_object(), *list = json_array(), *path, **sorted;
	const char *text;
	size_t at[NAMES], i, count = 0;

	sorted = calloc(json_array_size(rows) + 1, sizeof(*sorted));
	if (!json_is_array(rows) || !find_columns(answer, at) || sorted == NULL) {
		json_decref(by_path);
		json_decref(list);
		free(sorted);
		return NULL;
	}
	json_array_foreach (rows, i, row)
		take_row(by_path, row, at);
	json_object_foreach (by_path, text, path)
		sorted[count++] = path;
	qsort(sorted, count, sizeof(*sorted), compare);
	for (i = 0; i < count; i++)
		json_array_append(list, sorted[i]);
	free(sorted);
	json_decref(by_path);
	return list;
}

static void
put_share(struct table *table, json_int_t part, json_int_t whole)
{
	if (whole > 0)
		table_cellf(table, "%.4f", 100 * (double)part / (double)whole);
	else
		table_cell(table, "-");
}

int
history_paths_print(const json_t *paths, uint64_t pair_sent)
{
	static const char *const heads[] = { ">LOST", ">LOST % OF PAIR", ">ECN CE",
		">ECN CE % OF PAIR", "PATH", NULL };
	const size_t count = json_array_size(paths);
	struct table *table = table_new(heads);
	const json_t *path;
	size_t i;
	int r;

	if (table == NULL)
		return -ENOMEM;
	json_array_foreach (paths, i, path) {
		const char *text = json_string_value(json_object_get(path, "path"));
		char *copy = strdup(text[0] == '\0'          ? "(not traced)"
				    : strcmp(text, "*") == 0 ? "(several at once)"
							     : text);
		const json_int_t lost = number_of(path, "lost"),
				 congested = number_of(path, "congested"),
				 sent = (json_int_t)pair_sent;
		const bool marks_known = number_of(path, "arrived") > 0;

		if (i == MOST || copy == NULL) {
			free(copy);
			break;
		}
		printable_text(copy);
		table_cellf(table, "%" PRId64, (int64_t)lost);
		put_share(table, lost, sent);
		if (marks_known)
			table_cellf(table, "%" PRId64, (int64_t)congested);
		else
			table_cell(table, "-");
		put_share(table, congested, marks_known ? sent : 0);
		table_cell(table, copy);
		free(copy);
	}
	printf("\nPaths in that time, those that lost most first%s; %% OF PAIR: of all "
	       "probes of the two racks in that time:\n",
	    count > MOST ? ", twelve of them" : "");
	r = table_print(table);
	table_free(table);
	return r;
}
