#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sim/scheme_fixture.h"

/* The ten-percent rule stands for all schemes: they share the window. */
static const double ten_percent[SCHEME_PARAMETERS] = { 20, 0.1 };

static void
no_part_is_named_before_the_window_is_full(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named *named;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	for (int i = 1; i < 20; i++) {
		flow(f, "h1/r0", "h2/r0", "", 10, 2);
		assert_int_equal(report(f, i * S, &named), 0);
	}
	flow(f, "h1/r0", "h2/r0", "", 10, 2);
	assert_int_equal(report(f, 20 * S, &named), 2);
}

static void
a_named_part_stays_named_until_the_next_window_with_its_begin(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named *named;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 10, 2);
	report(f, 20 * S, &named);
	assert_int_equal(report(f, 39 * S, &named), 2);
	flow(f, "h1/r0", "h2/r0", "", 10, 2);
	assert_int_equal(report(f, 40 * S, &named), 2);
	assert_true(named[0].since_ns == 20 * S);
	assert_int_equal(report(f, 60 * S, &named), 0);
	flow(f, "h1/r0", "h2/r0", "", 10, 2);
	assert_int_equal(report(f, 80 * S, &named), 2);
	assert_true(named[0].since_ns == 80 * S);
}

static void
seconds_of_a_window_add_up(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named *named;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 50, 11);
	report(f, 10 * S, &named);
	flow(f, "h1/r0", "h2/r0", "", 60, 0);
	assert_int_equal(report(f, 20 * S, &named), 0); /* 11 of 110 */
	flow(f, "h1/r0", "h2/r0", "", 50, 11);
	report(f, 30 * S, &named);
	flow(f, "h1/r0", "h2/r0", "", 59, 0);
	assert_int_equal(report(f, 40 * S, &named), 2); /* 11 of 109 */
}

static void
a_host_that_was_excused_throughout_is_left_out(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named *named;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 10, 10)->dst_stalled = true;
	report(f, 10 * S, &named);
	flow(f, "h1/r0", "h2/r0", "", 10, 10)->src_stalled = true;
	assert_int_equal(report(f, 20 * S, &named), 0);
	flow(f, "h1/r0", "h2/r0", "", 10, 10)->dst_stalled = true;
	report(f, 30 * S, &named);
	flow(f, "h1/r0", "h2/r0", "", 10, 10);
	assert_int_equal(report(f, 40 * S, &named), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_part_is_named_before_the_window_is_full),
		TEST(a_named_part_stays_named_until_the_next_window_with_its_begin),
		TEST(seconds_of_a_window_add_up),
		TEST(a_host_that_was_excused_throughout_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
