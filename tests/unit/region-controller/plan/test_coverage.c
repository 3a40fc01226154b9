#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "region-controller/plan/coverage.h"

static void
the_published_table_is_met_exactly(void **state)
{
	static const uint32_t paths[] = { 2, 4, 8, 16, 32, 64, 128 };
	static const uint32_t p90[] = { 5, 13, 33, 79, 181, 408, 906 };
	static const uint32_t p99[] = { 8, 21, 51, 115, 255, 557, 1206 };
	static const uint32_t p999[] = { 11, 29, 68, 150, 327, 703, 1500 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(coverage_flows(paths[i], 0.90), p90[i]);
		assert_int_equal(coverage_flows(paths[i], 0.99), p99[i]);
		assert_int_equal(coverage_flows(paths[i], 0.999), p999[i]);
	}
}

static void
one_path_needs_one_flow(void **state)
{
	assert_int_equal(coverage_flows(1, 0.99), 1);
	assert_int_equal(coverage_flows(1, 0.999999), 1);
}

static void
never_fewer_flows_than_paths(void **state)
{
	for (uint32_t n = 1; n <= COVERAGE_MAX_PATHS; n++)
		assert_true(coverage_flows(n, 0.5) >= n);
}

static void
more_paths_need_more_flows_up_to_the_limit(void **state)
{
	uint32_t last = 0;

	for (uint32_t n = 1; n <= COVERAGE_MAX_PATHS; n++) {
		uint32_t flows = coverage_flows(n, 0.99);

		assert_true(flows > last);
		last = flows;
	}
	/* Expected values: the closed formula, computed with 200 digits. */
	assert_int_equal(last, 2593);
	assert_int_equal(coverage_flows(200, 0.99), 1975);
	assert_int_equal(coverage_flows(100000, 0.99), last);
	assert_true(coverage_flows(256, 0.999999) < COVERAGE_MAX_FLOWS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_table_is_met_exactly),
		cmocka_unit_test(one_path_needs_one_flow),
		cmocka_unit_test(never_fewer_flows_than_paths),
		cmocka_unit_test(more_paths_need_more_flows_up_to_the_limit),
	};

	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
