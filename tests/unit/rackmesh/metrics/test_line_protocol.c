#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/metrics/line_protocol.h"

static const rm_wall_t when = { 1234567890123456789 };
static char out[256];

static void
assert_line(const struct rm_line *line, const char *expected)
{
	assert_int_equal(line->len, strlen(expected));
	assert_memory_equal(line->out, expected, line->len);
}

static void
a_point_is_written_in_the_order_of_the_calls(void **state)
{
	struct rm_line line;

	rm_line_init(&line, out, sizeof(out));
	rm_line_begin(&line, "rm_rnic");
	rm_line_tag(&line, "rack", "r1");
	rm_line_tag(&line, "plane", "");
	rm_line_int(&line, "sent", -5);
	rm_line_double(&line, "loss", 0.1);
	rm_line_double(&line, "bad", NAN);
	rm_line_double(&line, "worse", INFINITY);
	rm_line_string(&line, "text", "dead");
	assert_int_equal(rm_line_end(&line, when), 0);
	assert_line(&line,
	    "rm_rnic,rack=r1 sent=-5i,loss=0.1,text=\"dead\" 1234567890123456789\n");
}

static void
characters_of_the_syntax_are_escaped(void **state)
{
	struct rm_line line;

	rm_line_init(&line, out, sizeof(out));
	rm_line_begin(&line, "a b,c=d");
	rm_line_tag(&line, "k =,", "v =,\\x\"");
	rm_line_string(&line, "f =,", "say \"x\", c:\\ = y");
	assert_int_equal(rm_line_end(&line, (rm_wall_t){ 0 }), 0);
	assert_line(&line, "a\\ b\\,c=d,k\\ \\=\\,=v\\ \\=\\,\\x\" "
			   "f\\ \\=\\,=\"say \\\"x\\\", c:\\\\ = y\" 0\n");
}

static void
an_invalid_point_is_taken_back_whole(void **state)
{
	static const char *const names[] = { "", "a\nb", "a\rb", "a\\" };
	const char first[] = "m f=1i 1234567890123456789\n";
	struct rm_line line;

	rm_line_init(&line, out, sizeof(out));
	rm_line_begin(&line, "m");
	rm_line_int(&line, "f", 1);
	assert_int_equal(rm_line_end(&line, when), 0);

	rm_line_begin(&line, "m");
	rm_line_tag(&line, "t", "v");
	rm_line_double(&line, "f", NAN); /* its only field was left out */
	assert_int_equal(rm_line_end(&line, when), -EINVAL);
	assert_line(&line, first);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		rm_line_begin(&line, names[i]);
		rm_line_int(&line, "f", 1);
		assert_int_equal(rm_line_end(&line, when), -EINVAL);
		rm_line_begin(&line, "m");
		rm_line_tag(&line, names[i], "v");
		rm_line_int(&line, "f", 1);
		assert_int_equal(rm_line_end(&line, when), -EINVAL);
		rm_line_begin(&line, "m");
		rm_line_tag(&line, "t", names[i]);
		rm_line_int(&line, names[i], 1);
		assert_int_equal(rm_line_end(&line, when), -EINVAL);
	}
	rm_line_begin(&line, "#m");
	rm_line_int(&line, "f", 1);
	assert_int_equal(rm_line_end(&line, when), -EINVAL);
	rm_line_begin(&line, "m");
	rm_line_string(&line, "f", "two\nlines");
	assert_int_equal(rm_line_end(&line, when), -EINVAL);
	rm_line_begin(&line, "m");
	rm_line_int(&line, "f", 1);
	rm_line_tag(&line, "late", "tag");
	assert_int_equal(rm_line_end(&line, when), -EINVAL);
	assert_int_equal(rm_line_end(&line, when), -EINVAL); /* without rm_line_begin */
	assert_line(&line, first);
}

static void
a_point_that_does_not_fit_leaves_the_others(void **state)
{
	const char point[] = "m,t=v f=1i 1234567890123456789\n";
	struct rm_line line;
	size_t one = strlen(point);

	for (size_t room = 0; room <= 2 * one; room++) {
		size_t points = room / one;

		memset(out, '#', sizeof(out));
		rm_line_init(&line, out, room);
		for (size_t i = 0; i < 2; i++) {
			rm_line_begin(&line, "m");
			rm_line_tag(&line, "t", "v");
			rm_line_int(&line, "f", 1);
			assert_int_equal(
			    rm_line_end(&line, when), i < points ? 0 : -ENOSPC);
		}
		assert_int_equal(line.len, points * one);
		assert_int_equal(out[room], '#');
	}
}

static void
integers_are_written_as_printf_would(void **state)
{
	static const int64_t values[] = { 0, 1, 9, 10, 11, 99, 100, 101, 999, 1000,
		12345, 123456, 1234567890123456789, INT64_MAX, -1, -9, -10, -100,
		-987654321, INT64_MIN };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char expected[128];
		struct rm_line line;

		rm_line_init(&line, out, sizeof(out));
		rm_line_begin(&line, "m");
		rm_line_int(&line, "f", values[i]);
		assert_int_equal(rm_line_end(&line, (rm_wall_t){ values[i] }), 0);
		snprintf(expected, sizeof(expected), "m f=%" PRId64 "i %" PRId64 "\n",
		    values[i], values[i]);
		assert_line(&line, expected);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_is_written_in_the_order_of_the_calls),
		cmocka_unit_test(characters_of_the_syntax_are_escaped),
		cmocka_unit_test(an_invalid_point_is_taken_back_whole),
		cmocka_unit_test(a_point_that_does_not_fit_leaves_the_others),
		cmocka_unit_test(integers_are_written_as_printf_would),
	};

	return cmocka_run_group_tests_name("line_protocol", tests, NULL, NULL);
}
