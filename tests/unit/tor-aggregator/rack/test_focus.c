#include "tor-aggregator/rack/focus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static rm_mono_t
ms(int64_t t)
{
	return (rm_mono_t){ t * RM_NS_PER_MS };
}

static void
a_focused_pair_is_not_focused_again(void **state)
{
	struct focus focus = { 0 };

	assert_true(focus_wants(&focus, ms(1000), 1, 2));
	assert_false(focus_wants(&focus, ms(1250), 1, 2));
	assert_true(focus_wants(&focus, ms(1250), 2, 1));
	assert_true(focus_wants(&focus, ms(3000), 1, 2));
	assert_int_equal(focus.counts.asked, 3);
}

static void
the_number_of_focused_pairs_is_bounded(void **state)
{
	struct focus focus = { 0 };

	for (uint32_t i = 0; i < FOCUS_MAX_PAIRS; i++)
		assert_true(focus_wants(&focus, ms(1000), i, 1000));
	assert_false(focus_wants(&focus, ms(1000), 1, 1001));
	assert_int_equal(focus.counts.refused, 1);
	assert_true(focus_wants(&focus, ms(3000), 1, 1001));
	focus_forget(&focus);
	assert_true(focus_wants(&focus, ms(3000), 1, 1001));
}

static void
the_rate_is_five_times_but_bounded(void **state)
{
	assert_int_equal(focus_interval_us(100000), 20000);
	assert_int_equal(focus_interval_us(100), FOCUS_MIN_INTERVAL_US);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_focused_pair_is_not_focused_again),
		cmocka_unit_test(the_number_of_focused_pairs_is_bounded),
		cmocka_unit_test(the_rate_is_five_times_but_bounded),
	};

	return cmocka_run_group_tests_name("focus", tests, NULL, NULL);
}
