#include "tests/sim/wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLICE_NS 50

static int
setup(void **state)
{
	struct wheel *wheel = NULL;
	const int r = wheel_new(SLICE_NS, &wheel);

	*state = wheel;
	return r;
}

static int
teardown(void **state)
{
	wheel_free(*state);
	return 0;
}

static uint32_t
take(struct wheel *wheel, int64_t end_ns)
{
	uint32_t item;

	assert_int_equal(wheel_take(wheel, end_ns, &item), 0);
	return item;
}

static void
an_item_comes_once_in_its_slice(void **state)
{
	struct wheel *wheel = *state;

	assert_int_equal(wheel_put(wheel, 7, 120), 0);
	assert_int_equal(take(wheel, 50), WHEEL_NONE);
	assert_int_equal(take(wheel, 100), WHEEL_NONE);
	assert_int_equal(take(wheel, 150), 7);
	assert_int_equal(take(wheel, 150), WHEEL_NONE);
}

static void
a_removed_item_does_not_come(void **state)
{
	struct wheel *wheel = *state;

	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(wheel_put(wheel, i, 10), 0);
	wheel_remove(wheel, 4); /* first of its list */
	wheel_remove(wheel, 2); /* in the middle of it */
	wheel_remove(wheel, 0); /* last of it */
	wheel_remove(wheel, 0); /* no longer in it */
	assert_int_equal(take(wheel, 50), 1);
	assert_int_equal(take(wheel, 50), 3);
	assert_int_equal(take(wheel, 50), WHEEL_NONE);
}

static void
overdue_and_far_items_come_early(void **state)
{
	struct wheel *wheel = *state;
	uint32_t item = WHEEL_NONE;
	int64_t end = 5000;

	assert_int_equal(take(wheel, end), WHEEL_NONE);
	assert_int_equal(wheel_put(wheel, 1, 10), 0);
	assert_int_equal(take(wheel, end), 1);
	assert_int_equal(wheel_put(wheel, 2, INT64_C(1000000000)), 0);
	while (item == WHEEL_NONE && end < 1000000)
		item = take(wheel, end += SLICE_NS);
	assert_int_equal(item, 2);
	assert_true(end > 100000);
}

static void
items_of_a_slice_come_in_the_order_of_time(void **state)
{
	static const int64_t due_ns[] = { 31, 7, 49, 0, 12, 7, 30 };
	static const uint32_t order[] = { 3, 1, 5, 4, 6, 0, 2 };
	struct wheel *wheel = *state;

	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(wheel_put(wheel, i, due_ns[i]), 0);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(take(wheel, SLICE_NS), order[i]);
	assert_int_equal(take(wheel, SLICE_NS), WHEEL_NONE);
}

static void
an_item_that_is_put_again_comes_in_its_turn(void **state)
{
	struct wheel *wheel = *state;

	assert_int_equal(wheel_put(wheel, 1, 10), 0);
	assert_int_equal(wheel_put(wheel, 2, 20), 0);
	assert_int_equal(wheel_put(wheel, 3, 40), 0);
	assert_int_equal(take(wheel, SLICE_NS), 1);
	assert_int_equal(wheel_put(wheel, 1, 30), 0);
	wheel_remove(wheel, 3);
	assert_int_equal(wheel_put(wheel, 3, 15), 0);
	assert_int_equal(take(wheel, SLICE_NS), 3);
	assert_int_equal(take(wheel, SLICE_NS), 2);
	assert_int_equal(take(wheel, SLICE_NS), 1);
	assert_int_equal(take(wheel, SLICE_NS), WHEEL_NONE);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_item_comes_once_in_its_slice),
		TEST(a_removed_item_does_not_come),
		TEST(items_of_a_slice_come_in_the_order_of_time),
		TEST(an_item_that_is_put_again_comes_in_its_turn),
		TEST(overdue_and_far_items_come_early),
	};

	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
