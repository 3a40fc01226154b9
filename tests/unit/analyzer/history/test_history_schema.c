#include "analyzer/history/history_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>

#include "rackmesh/core/file.h"

static void
refuses(const char *line, const char *expected)
{
	struct rm_error error;

	assert_int_equal(history_schema_check(line, strlen(line), &error), -EINVAL);
	assert_string_equal(error.text, expected);
}

static void
a_point_that_the_table_does_not_have_is_refused(void **state)
{
	const char good[] = "rm_rack,region=lab,tor=t1 taken=1i 5\n"
			    "rm_incident,part=a\\ or\\ b confidence=0.5,id=\"x\" 6\n";
	struct rm_error error;

	assert_int_equal(history_schema_check(good, strlen(good), &error), 0);
	assert_int_equal(history_schema_check("", 0, &error), 0);
	refuses("rm_other f=1i 5\n", "no such measurement: rm_other");
	refuses("rm_rack,qpn=5 taken=1i 5\n", "rm_rack has no tag qpn");
	refuses("rm_rack,tor=t1 eaten=1i 5\n", "rm_rack has no integer eaten");
	refuses(
	    "rm_rack,tor=t1 taken=1 5\n", "rm_rack.taken: expected integer, not float");
	refuses("rm_rack tor=\"t1\" 5\n", "rm_rack.tor: expected tag, not string");
	refuses("rm_rack taken=1i,taken=2i 5\n", "rm_rack.taken twice");
	refuses("rm_rack taken=1i\n", "no point: rm_rack taken=1i");
	refuses("rm_rack taken=1i 5", "the last line has no end");
}

static void
the_table_of_measurements_is_consistent(void **state)
{
	for (size_t i = 0; history_measurements[i].name != NULL; i++) {
		const struct history_measurement *at = &history_measurements[i];
		bool fields = false;

		assert_int_equal(strncmp(at->name, "rm_", 3), 0);
		for (const struct history_column *column = at->columns;
		     column->name != NULL; column++) {
			assert_true(strlen(column->help) > 3);
			/* In a line of InfluxDB all tags come before the fields. */
			assert_false(fields && column->type == RM_LINE_TAG);
			fields = fields || column->type != RM_LINE_TAG;
			for (const struct history_column *other = at->columns;
			     other < column; other++)
				assert_string_not_equal(other->name, column->name);
		}
		assert_true(fields);
	}
}

/* To renew the page: analyzer --help-schema > docs/history.md */
static void
the_documentation_equals_the_printed_table(void **state)
{
	char *printed = NULL;
	size_t printed_len, len;
	FILE *out = open_memstream(&printed, &printed_len);
	uint8_t *file;

	history_schema_print(out);
	fclose(out);
	assert_int_equal(rm_file_read(SCHEMA_DOC, 1 << 20, &file, &len), 0);
	assert_string_equal((char *)file, printed);
	free(file);
	free(printed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_that_the_table_does_not_have_is_refused),
		cmocka_unit_test(the_table_of_measurements_is_consistent),
		cmocka_unit_test(the_documentation_equals_the_printed_table),
	};

	return cmocka_run_group_tests_name("history_schema", tests, NULL, NULL);
}
