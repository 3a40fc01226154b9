#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "rackmesh/metrics/decimal.h"

static void
numbers_are_written_as_short_as_they_can_be(void **state)
{
	char text[RM_DECIMAL_TEXT];

	assert_string_equal(rm_decimal_format(0.1, text), "0.1");
	assert_string_equal(rm_decimal_format(5, text), "5");
	assert_string_equal(rm_decimal_format(-0.25, text), "-0.25");
	assert_string_equal(rm_decimal_format(0.1 + 0.2, text), "0.30000000000000004");
	assert_string_equal(rm_decimal_format(1e300, text), "1e+300");
}

static void
numbers_read_back_the_same(void **state)
{
	const double all[] = { 1.0 / 3, 2.0 / 3, M_PI, 5e-324, 1.7976931348623157e308,
		9007199254740993.0, -1e-9 };
	char text[RM_DECIMAL_TEXT];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(strtod(rm_decimal_format(all[i], text), NULL) == all[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_as_short_as_they_can_be),
		cmocka_unit_test(numbers_read_back_the_same),
	};

	return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
