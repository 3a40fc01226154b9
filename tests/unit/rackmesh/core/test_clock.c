#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"

static void
wall_time_is_written_in_utc_with_milliseconds(void **state)
{
	char text[RM_WALL_TEXT];

	rm_wall_format((rm_wall_t){ INT64_C(1769860800000000000) }, text);
	assert_string_equal(text, "2026-01-31T12:00:00.000Z");
	rm_wall_format((rm_wall_t){ INT64_C(1769860800042999999) }, text);
	assert_string_equal(text, "2026-01-31T12:00:00.042Z");
	rm_wall_format((rm_wall_t){ -1 }, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	rm_wall_format((rm_wall_t){ INT64_MAX }, text);
	assert_string_equal(text, "2262-04-11T23:47:16.854Z");
}

static void
monotonic_time_does_not_go_backwards(void **state)
{
	rm_mono_t first = rm_mono_now();

	for (int i = 0; i < 1000; i++)
		assert_true(rm_mono_since(rm_mono_now(), first) >= 0);
	assert_int_equal(rm_mono_since(rm_mono_add(first, -5), first), -5);
}

static void
wall_times_are_read_in_utc_only(void **state)
{
	const rm_wall_t noon = { INT64_C(1769860800) * RM_NS_PER_S };
	rm_wall_t t;

	assert_true(rm_wall_parse("2026-01-31T12:00:00Z", &t));
	assert_true(t.ns == noon.ns);
	assert_true(rm_wall_parse("2026-01-31T12:00Z", &t));
	assert_true(t.ns == noon.ns);
	assert_true(rm_wall_parse("2026-01-31T12:00:00.250Z", &t));
	assert_true(t.ns == noon.ns + 250 * RM_NS_PER_MS);
	assert_false(rm_wall_parse("2026-01-31T12:00:00", &t));
	assert_false(rm_wall_parse("2026-01-31T12:00:00+01:00", &t));
	assert_false(rm_wall_parse("2026-01-31T12:00:00Z'", &t));
	assert_false(rm_wall_parse("1969-12-31T23:59:59Z", &t));
	assert_false(rm_wall_parse("2026-02-31T12:00:00Z", &t));
	assert_false(rm_wall_parse("2026-02-29T12:00:00Z", &t));
	assert_true(rm_wall_parse("2028-02-29T12:00:00Z", &t));
	assert_false(rm_wall_parse("yesterday", &t));
	assert_false(rm_wall_parse("", &t));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wall_time_is_written_in_utc_with_milliseconds),
		cmocka_unit_test(wall_times_are_read_in_utc_only),
		cmocka_unit_test(monotonic_time_does_not_go_backwards),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
