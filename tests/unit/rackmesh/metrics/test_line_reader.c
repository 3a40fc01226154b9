#include "rackmesh/metrics/line_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/metrics/line_protocol.h"

static char line[512];
static struct rm_line_point point;

static int
read_line(const char *text)
{
	strcpy(line, text);
	return rm_line_read(line, strlen(text), &point);
}

static void
a_written_point_is_read_back(void **state)
{
	struct rm_line writer;
	char out[512];

	rm_line_init(&writer, out, sizeof(out));
	rm_line_begin(&writer, "a b,c");
	rm_line_tag(&writer, "k =,", "v =,\\x\"");
	rm_line_int(&writer, "i", INT64_MIN);
	rm_line_double(&writer, "d", -0.25);
	rm_line_string(&writer, "s =", "say \"x\", c:\\ = y i");
	rm_line_string(&writer, "empty", "");
	assert_int_equal(rm_line_end(&writer, (rm_wall_t){ 1234567890123456789 }), 0);
	assert_int_equal(rm_line_read(out, writer.len - 1, &point), 0);
	assert_string_equal(point.measurement, "a b,c");
	assert_int_equal(point.when.ns, 1234567890123456789);
	assert_int_equal(point.column_count, 5);
	assert_int_equal(point.columns[0].type, RM_LINE_TAG);
	assert_string_equal(point.columns[0].key, "k =,");
	assert_string_equal(point.columns[0].text, "v =,\\x\"");
	assert_true(rm_line_find(&point, "i")->integer == INT64_MIN);
	assert_true(rm_line_find(&point, "d")->number == -0.25);
	assert_string_equal(rm_line_find(&point, "s =")->text, "say \"x\", c:\\ = y i");
	assert_int_equal(rm_line_find(&point, "empty")->type, RM_LINE_STRING);
	assert_null(rm_line_find(&point, "no"));
}

static void
malformed_points_are_refused(void **state)
{
	static const char *const lines[] = { "", "m", "m ", "m f", "m f=", "m f=1i",
		"m f=1i ", "m f=1i x", "m f=1i 5x", "m f=1i  5", "# f=1i 5",
		"m, f=1i 5", "m,t f=1i 5", "m,t= f=1i 5", ",t=v f=1i 5", "m,t=v 5",
		"m f=i 5", "m f=1x 5", "m f=nan 5", "m f=0x1 5", "m f=\"x 5",
		"m f=\"x\"y 5", "m f=99999999999999999999i 5",
		"m f=1i 99999999999999999999", "m f=1i,=2i 5", "m f=1i, 5" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (read_line(lines[i]) != -EBADMSG)
			fail_msg("taken: '%s'", lines[i]);
	strcpy(line, "m f=1i 5");
	line[3] = '\0';
	assert_int_equal(rm_line_read(line, 8, &point), -EBADMSG);
	assert_int_equal(read_line("m,t=v f=t,g=1e3 -5"), 0);
	assert_int_equal(rm_line_find(&point, "f")->type, RM_LINE_BOOLEAN);
	assert_true(rm_line_find(&point, "g")->number == 1000);
	assert_int_equal(point.when.ns, -5);
}

static void
too_many_columns_are_refused(void **state)
{
	char text[512] = "m ";

	for (int i = 0; i <= RM_LINE_COLUMNS; i++)
		strcat(text, i == 0 ? "f=1i" : ",f=1i");
	strcat(text, " 5");
	assert_int_equal(read_line(text), -EMSGSIZE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_point_is_read_back),
		cmocka_unit_test(malformed_points_are_refused),
		cmocka_unit_test(too_many_columns_are_refused),
	};

	return cmocka_run_group_tests_name("line_reader", tests, NULL, NULL);
}
