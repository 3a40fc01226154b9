/* Any line as a point: it is refused, or writing it again gives a line with the same
 * values. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/line_protocol.h"
#include "rackmesh/metrics/line_reader.h"

#define MAX_LEN 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* False: it cannot be written, for example a tag value that ends in a backslash. */
static bool
write_again(const struct rm_line_point *point, struct rm_line *line)
{
	rm_line_begin(line, point->measurement);
	for (size_t i = 0; i < point->column_count; i++) {
		const struct rm_line_column *column = &point->columns[i];

		switch (column->type) {
		case RM_LINE_TAG:
			rm_line_tag(line, column->key, column->text);
			break;
		case RM_LINE_INTEGER:
		case RM_LINE_BOOLEAN:
			rm_line_int(line, column->key, column->integer);
			break;
		case RM_LINE_FLOAT:
			rm_line_double(line, column->key, column->number);
			break;
		case RM_LINE_STRING:
			rm_line_string(line, column->key, column->text);
			break;
		}
	}
	return rm_line_end(line, point->when) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct rm_line_point point, again;
	char text[MAX_LEN + 1], out[64 * MAX_LEN];
	struct rm_line line;

	if (len > MAX_LEN)
		return 0;
	memcpy(text, data, len);
	if (rm_line_read(text, len, &point) < 0)
		return 0;
	rm_line_init(&line, out, sizeof(out));
	if (!write_again(&point, &line))
		return 0;
	if (rm_line_read(out, line.len - 1, &again) < 0 ||
	    again.column_count != point.column_count ||
	    again.when.ns != point.when.ns ||
	    strcmp(again.measurement, point.measurement) != 0)
		abort();
	for (size_t i = 0; i < point.column_count; i++) {
		if (strcmp(again.columns[i].key, point.columns[i].key) != 0)
			abort();
		if (point.columns[i].type == RM_LINE_STRING &&
		    strcmp(again.columns[i].text, point.columns[i].text) != 0)
			abort();
	}
	return 0;
}
