#include "host-agent/reflector/replay_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
every_number_is_fresh_once(void **state)
{
	static const uint32_t starts[] = { 0, 1, UINT32_MAX - 500, 0x7fffffff };

	for (size_t s = 0; s < 4; s++) {
		struct replay_window window = { .any = false };

		for (uint32_t i = 0; i < 5000; i++)
			assert_true(replay_window_take(&window, starts[s] + i));
		for (uint32_t i = 0; i < 5000; i++)
			assert_false(replay_window_take(&window, starts[s] + i));
	}
}

static void
a_late_number_is_fresh_within_the_window(void **state)
{
	struct replay_window window = { .any = false };

	/* Blocks of the window's size, each in descending order, across the end of
	 * the ring. */
	for (uint32_t block = 0; block < 8; block++) {
		uint32_t start = UINT32_MAX - 2048 + block * REPLAY_WINDOW;

		for (uint32_t i = REPLAY_WINDOW; i-- > 0;)
			assert_true(replay_window_take(&window, start + i));
	}
}

static void
a_number_behind_the_window_is_not_fresh(void **state)
{
	struct replay_window window = { .any = false };

	assert_true(replay_window_take(&window, 10000));
	assert_true(replay_window_take(&window, 10000 - REPLAY_WINDOW + 1));
	assert_false(replay_window_take(&window, 10000 - REPLAY_WINDOW));
	assert_false(replay_window_take(&window, 0));
	assert_false(replay_window_take(&window, 10000 + 0x80000000u));
}

static void
a_jump_of_the_numbers_keeps_the_window(void **state)
{
	struct replay_window window = { .any = false };

	assert_true(replay_window_take(&window, 5));
	assert_true(replay_window_take(&window, 5 + REPLAY_WINDOW - 1));
	assert_false(replay_window_take(&window, 5));
	assert_true(replay_window_take(&window, 5 + REPLAY_WINDOW));
	assert_false(replay_window_take(&window, 5));
	assert_true(replay_window_take(&window, 1000000));
	assert_true(replay_window_take(&window, 1000000 - 5));
	assert_false(replay_window_take(&window, 1000000 - 5));
	assert_false(replay_window_take(&window, 1000000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_fresh_once),
		cmocka_unit_test(a_late_number_is_fresh_within_the_window),
		cmocka_unit_test(a_number_behind_the_window_is_not_fresh),
		cmocka_unit_test(a_jump_of_the_numbers_keeps_the_window),
	};

	return cmocka_run_group_tests_name("replay_window", tests, NULL, NULL);
}
