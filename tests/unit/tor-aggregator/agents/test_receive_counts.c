#include "tor-aggregator/agents/receive_counts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
setup(void **state)
{
	return receive_counts_new(2, (struct receive_counts **)state);
}

static int
teardown(void **state)
{
	receive_counts_free(*state);
	return 0;
}

static struct wire_count
row(uint64_t prober, uint64_t received)
{
	return (struct wire_count){ .own_guid = 1,
		.own_port_num = 1,
		.prober_guid = prober,
		.prober_port_num = 1,
		.dscp = 26,
		.received = received };
}

static uint64_t
delta(struct receive_counts *counts, uint64_t prober, uint64_t received)
{
	const struct wire_count r = row(prober, received);

	return receive_counts_delta(counts, &r);
}

static void
the_first_report_only_sets_the_base(void **state)
{
	uint64_t since = 0;

	assert_int_equal(receive_counts_report(*state, 100, &since), 0);
	assert_int_equal(delta(*state, 7, 5000), 0);
	/* A second message of the first report still sets the base. */
	assert_int_equal(receive_counts_report(*state, 100, &since), 0);
	assert_int_equal(delta(*state, 8, 6000), 0);
	assert_int_equal(receive_counts_report(*state, 350, &since), 1);
	assert_int_equal(since, 100);
	assert_int_equal(delta(*state, 7, 5025), 25);
	assert_int_equal(receive_counts_report(*state, 350, &since), 1);
	assert_int_equal(since, 100);
	assert_int_equal(delta(*state, 8, 6001), 1);
}

static void
a_prober_that_appears_later_counts_from_zero(void **state)
{
	uint64_t since;

	receive_counts_report(*state, 100, &since);
	receive_counts_report(*state, 350, &since);
	assert_int_equal(delta(*state, 7, 3), 3);
}

static void
a_count_that_fell_is_a_new_base(void **state)
{
	uint64_t since;

	receive_counts_report(*state, 100, &since);
	delta(*state, 7, 5000);
	receive_counts_report(*state, 350, &since);
	assert_int_equal(delta(*state, 7, 10), 0);
	assert_int_equal(delta(*state, 7, 12), 2);
}

static void
time_does_not_run_backwards(void **state)
{
	uint64_t since;

	receive_counts_report(*state, 100, &since);
	assert_int_equal(receive_counts_report(*state, 99, &since), -EINVAL);
	receive_counts_reset(*state);
	assert_int_equal(receive_counts_report(*state, 99, &since), 0);
}

static void
rows_beyond_the_bound_are_refused(void **state)
{
	uint64_t since;

	receive_counts_report(*state, 100, &since);
	receive_counts_report(*state, 200, &since);
	delta(*state, 1, 1);
	delta(*state, 2, 1);
	assert_int_equal(delta(*state, 3, 1), 0);
	assert_int_equal(receive_counts_refused(*state), 1);
	assert_int_equal(delta(*state, 2, 4), 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_report_only_sets_the_base),
		TEST(a_prober_that_appears_later_counts_from_zero),
		TEST(a_count_that_fell_is_a_new_base),
		TEST(time_does_not_run_backwards),
		TEST(rows_beyond_the_bound_are_refused),
	};

	return cmocka_run_group_tests_name("receive_counts", tests, NULL, NULL);
}
