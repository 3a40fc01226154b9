#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

#include "host-agent/reflector/reflector.h"
#include "host-agent/reflector/rx_count_report.h"

/* A reflector with this number of changed rows, all of the same RNIC. */
struct reflector {
	uint64_t guid;
	size_t changed;
};

size_t
reflector_changed_counts(
    struct reflector *reflector, struct wire_count *rows, size_t max)
{
	size_t n = reflector->changed < max ? reflector->changed : max;

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct wire_count){ .own_guid = reflector->guid,
			.prober_guid = reflector->changed - i };
	reflector->changed -= n;
	return n;
}

static int
setup(void **state)
{
	struct rx_count_report *rows;

	if (rx_count_report_new(&rows) < 0)
		return -1;
	rx_count_report_start(rows);
	*state = rows;
	return 0;
}

static int
teardown(void **state)
{
	rx_count_report_free(*state);
	return 0;
}

static bool
serves_all(size_t rnic, const void *arg)
{
	return true;
}

static bool
serves_one(size_t rnic, const void *arg)
{
	return rnic == *(const size_t *)arg;
}

static void
an_aggregator_gets_the_rows_of_its_rnics(void **state)
{
	struct reflector a = { 1, 3 }, b = { 2, 0 }, c = { 3, 2 };
	const struct wire_count *rows;
	size_t count, third = 2;

	assert_int_equal(rx_count_report_gather(*state, 0, &a), 0);
	assert_int_equal(rx_count_report_gather(*state, 1, &b), 0);
	assert_int_equal(rx_count_report_gather(*state, 2, &c), 0);
	rows = rx_count_report_pick(*state, serves_one, &third, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].own_guid, 3);
	rows = rx_count_report_pick(*state, serves_all, NULL, &count);
	assert_int_equal(count, 5);
	assert_int_equal(rows[0].own_guid, 1);
	assert_int_equal(rows[4].own_guid, 3);
}

static void
a_new_report_starts_with_nothing(void **state)
{
	struct reflector a = { 1, 3 };
	size_t count;

	rx_count_report_gather(*state, 0, &a);
	rx_count_report_start(*state);
	rx_count_report_pick(*state, serves_all, NULL, &count);
	assert_int_equal(count, 0);
}

static void
many_rows_find_room(void **state)
{
	struct reflector a = { 1, 1000 }, b = { 2, 3000 };
	const struct wire_count *rows;
	size_t count;

	assert_int_equal(rx_count_report_gather(*state, 0, &a), 0);
	assert_int_equal(rx_count_report_gather(*state, 1, &b), 0);
	rows = rx_count_report_pick(*state, serves_all, NULL, &count);
	assert_int_equal(count, 4000);
	assert_int_equal(rows[999].prober_guid, 1);
	assert_int_equal(rows[1000].own_guid, 2);
	assert_int_equal(rows[3999].prober_guid, 1);
}

static void
rows_without_room_stay_for_the_next_report(void **state)
{
	struct reflector a = { 1, WIRE_MAX_COUNTS + 5 }, b = { 2, 1 };
	size_t count;

	assert_int_equal(rx_count_report_gather(*state, 0, &a), -ENOBUFS);
	assert_int_equal(a.changed, 5);
	assert_int_equal(rx_count_report_gather(*state, 1, &b), -ENOBUFS);
	assert_int_equal(b.changed, 1);
	rx_count_report_pick(*state, serves_all, NULL, &count);
	assert_int_equal(count, WIRE_MAX_COUNTS);
	rx_count_report_start(*state);
	assert_int_equal(rx_count_report_gather(*state, 0, &a), 0);
	assert_int_equal(a.changed, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_aggregator_gets_the_rows_of_its_rnics),
		TEST(a_new_report_starts_with_nothing),
		TEST(many_rows_find_room),
		TEST(rows_without_room_stay_for_the_next_report),
	};

	return cmocka_run_group_tests_name("count_rows", tests, NULL, NULL);
}
