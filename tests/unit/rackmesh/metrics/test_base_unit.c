#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/metrics/base_unit.h"

static void
times_are_seconds_and_speeds_bytes_per_second(void **state)
{
	assert_true(base_unit_value("microseconds", 1500000) == 1.5);
	assert_true(base_unit_value("microseconds per priority", 1234567) == 1.234567);
	assert_true(base_unit_value("megabits per second", 400000) == 5e10);
	assert_true(base_unit_value("nanowatts", 500000000) == 0.5);
	assert_true(base_unit_value("microamperes", 6500) == 0.0065);
	assert_true(base_unit_value("millivolts", 3300) == 3.3);
}

static void
counts_are_not_converted(void **state)
{
	assert_true(base_unit_value("frames per priority", 7) == 7);
	assert_true(base_unit_value("bytes", 9286478) == 9286478);
	assert_true(base_unit_value("", 1) == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_seconds_and_speeds_bytes_per_second),
		cmocka_unit_test(counts_are_not_converted),
	};

	return cmocka_run_group_tests_name("base_unit", tests, NULL, NULL);
}
