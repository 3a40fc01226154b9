#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/backoff.h"

static void
the_wait_doubles_up_to_the_cap(void **state)
{
	struct rm_backoff backoff = { .base_ns = 100, .cap_ns = 1000 };
	const int64_t most[] = { 100, 200, 400, 800, 1000, 1000 };

	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		/* The random number that gives the largest value: a multiple of its
		 * range, then the range itself once more. */
		uint64_t range = (uint64_t)most[i] + 1;

		assert_int_equal(
		    rm_backoff_next_ns(&backoff, 7 * range + range - 1), most[i]);
	}
}

static void
the_jitter_is_full(void **state)
{
	unsigned low = 0, high = 0;

	for (uint64_t i = 0; i < 1001; i++) {
		struct rm_backoff backoff = { .base_ns = 1000, .cap_ns = 5000 };
		int64_t ns = rm_backoff_next_ns(&backoff, i);

		assert_in_range(ns, 0, 1000);
		low += ns < 500;
		high += ns > 500;
	}
	assert_int_equal(low, 500);
	assert_int_equal(high, 500);
}

static void
no_number_of_attempts_exceeds_the_cap(void **state)
{
	struct rm_backoff backoff = { .base_ns = 3, .cap_ns = INT64_MAX };

	for (int i = 0; i < 1000; i++)
		assert_true(rm_backoff_next_ns(&backoff, UINT64_MAX) >= 0);
	backoff =
	    (struct rm_backoff){ .base_ns = 1000, .cap_ns = 10, .attempt = UINT32_MAX };
	for (uint64_t i = 0; i < 100; i++)
		assert_in_range(rm_backoff_next_ns(&backoff, i), 0, 10);
}

static void
a_reset_starts_small_again(void **state)
{
	struct rm_backoff backoff = { .base_ns = 10, .cap_ns = 1000 };

	for (int i = 0; i < 5; i++)
		rm_backoff_next_ns(&backoff, 0);
	rm_backoff_reset(&backoff);
	assert_int_equal(rm_backoff_next_ns(&backoff, 10), 10);
	assert_int_equal(rm_backoff_next_ns(&backoff, 20), 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_doubles_up_to_the_cap),
		cmocka_unit_test(the_jitter_is_full),
		cmocka_unit_test(no_number_of_attempts_exceeds_the_cap),
		cmocka_unit_test(a_reset_starts_small_again),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
