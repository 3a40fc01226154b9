#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/racks/rack_source.h"

#define S UINT64_C(1000000000)

static bool
take(struct rack_source *turns, const char *tor, const char *aggregator, uint64_t from,
    uint64_t to)
{
	return rack_source_take(turns, "r", tor, aggregator, from * S, to * S,
	    (rm_mono_t){ (int64_t)(to * S) });
}

static void
windows_of_one_aggregator_all_count(void **state)
{
	struct rack_source *turns = *state;

	assert_true(take(turns, "t", "a", 100, 110));
	assert_true(take(turns, "t", "a", 110, 120));
	assert_true(take(turns, "t", "a", 105, 115)); /* late, out of the spool */
}

static void
a_probe_in_reports_of_two_aggregators_counts_once(void **state)
{
	struct rack_source *turns = *state;

	assert_true(take(turns, "t", "a", 100, 110));
	assert_false(take(turns, "t", "b", 108, 118));
	assert_true(take(turns, "t", "b", 118, 128));
	assert_false(take(turns, "t", "a", 120,
	    130)); /* before the other aggregator's turn has ended */
	assert_true(take(turns, "t", "a", 130, 140));
}

static void
racks_do_not_affect_each_other(void **state)
{
	struct rack_source *turns = *state;

	assert_true(take(turns, "t", "a", 100, 110));
	assert_true(take(turns, "u", "b", 105, 115));
	assert_true(rack_source_take(
	    turns, "s", "t", "b", 105 * S, 115 * S, (rm_mono_t){ 115 * (int64_t)S }));
}

static void
after_a_clock_was_ahead_rows_count_again_within_a_minute(void **state)
{
	struct rack_source *turns = *state;

	assert_true(rack_source_take(
	    turns, "r", "t", "a", 9000 * S, 9010 * S, (rm_mono_t){ 110 * (int64_t)S }));
	assert_false(take(turns, "t", "b", 108, 118));
	assert_false(take(turns, "t", "b", 158, 168));
	assert_true(take(turns, "t", "b", 168, 178));
}

static int
setup(void **state)
{
	return rack_source_new((struct rack_source **)state);
}

static int
teardown(void **state)
{
	rack_source_free(*state);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_of_one_aggregator_all_count),
		TEST(a_probe_in_reports_of_two_aggregators_counts_once),
		TEST(racks_do_not_affect_each_other),
		TEST(after_a_clock_was_ahead_rows_count_again_within_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
