#include "rackmesh/metrics/counter_delta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct counter_state state;

static int
setup(void **unused)
{
	state = (struct counter_state){ 0 };
	return 0;
}

static enum counter_change
take(uint64_t value, unsigned width)
{
	const struct counter_sample sample = { true, 7, value };

	return counter_take(&state, &sample, width, true);
}

static enum counter_change
miss(void)
{
	const struct counter_sample sample = { 0 };

	return counter_take(&state, &sample, 64, true);
}

static void
the_first_reading_is_no_delta(void **unused)
{
	assert_int_equal(take(1000, 64), COUNTER_NEW);
	assert_int_equal(state.total, 1000);
	assert_int_equal(state.delta, 0);
	assert_int_equal(take(1007, 64), COUNTER_COUNTED);
	assert_int_equal(state.delta, 7);
	assert_int_equal(state.total, 1007);
}

static void
a_counter_of_32_bits_wraps(void **unused)
{
	take(UINT32_MAX - 9, 32);
	assert_int_equal(take(5, 32), COUNTER_WRAPPED);
	assert_int_equal(state.delta, 15);
	assert_int_equal(state.total, (uint64_t)UINT32_MAX - 9 + 15);
	assert_int_equal(state.wraps, 1);
	assert_int_equal(state.resets, 0);
}

static void
a_small_value_after_one_of_the_lower_half_is_a_reset(void **unused)
{
	take(UINT32_MAX / 2, 32);
	assert_int_equal(take(5, 32), COUNTER_RESET);
	assert_int_equal(state.delta, 5);
	assert_int_equal(state.wraps, 0);
	assert_int_equal(state.resets, 1);
}

static void
a_counter_of_64_bits_never_wraps(void **unused)
{
	take(UINT32_MAX, 64);
	assert_int_equal(take(5, 64), COUNTER_RESET);
	assert_int_equal(state.delta, 5);
}

static void
on_another_device_a_small_value_is_a_reset(void **unused)
{
	const struct counter_sample sample = { true, 7, 5 };

	take(UINT32_MAX, 32);
	assert_int_equal(counter_take(&state, &sample, 32, false), COUNTER_RESET);
	assert_int_equal(state.delta, 5);
}

static void
missing_is_not_zero(void **unused)
{
	assert_int_equal(miss(), COUNTER_MISSING);
	take(100, 64);
	assert_int_equal(miss(), COUNTER_VANISHED);
	assert_false(state.there);
	assert_int_equal(miss(), COUNTER_MISSING);
	assert_int_equal(take(130, 64), COUNTER_COUNTED);
	assert_int_equal(state.delta, 30);
	assert_int_equal(state.total, 130);
	assert_int_equal(state.resets, 0);
}

static void
another_source_is_no_burst_and_no_reset(void **unused)
{
	struct counter_sample sample = { true, 8, 5000000 };

	take(100, 64);
	take(110, 64);
	assert_int_equal(counter_take(&state, &sample, 64, true), COUNTER_NEW);
	assert_int_equal(state.delta, 0);
	assert_int_equal(state.total, 110);
	sample.value++;
	assert_int_equal(counter_take(&state, &sample, 64, true), COUNTER_COUNTED);
	assert_int_equal(state.total, 111);
}

static void
a_gauge_goes_up_and_down(void **unused)
{
	take(90, 0);
	take(20, 0);
	assert_int_equal(state.total, 20);
	assert_int_equal(state.delta, 90); /* its value before */
	assert_int_equal(state.resets, 0);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_reading_is_no_delta),
		TEST(a_counter_of_32_bits_wraps),
		TEST(a_small_value_after_one_of_the_lower_half_is_a_reset),
		TEST(a_counter_of_64_bits_never_wraps),
		TEST(on_another_device_a_small_value_is_a_reset),
		TEST(missing_is_not_zero),
		TEST(another_source_is_no_burst_and_no_reset),
		TEST(a_gauge_goes_up_and_down),
	};

	return cmocka_run_group_tests_name("counter_delta", tests, NULL, NULL);
}
