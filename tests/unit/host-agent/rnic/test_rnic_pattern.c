#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/rnic/rnic_pattern.h"

static void
patterns_are_distinguished_from_names(void **state)
{
	assert_true(rnic_pattern_is("auto"));
	assert_true(rnic_pattern_is("mlx5_*"));
	assert_true(rnic_pattern_is("eth?"));
	assert_true(rnic_pattern_is("eth[12]"));
	assert_false(rnic_pattern_is("mlx5_0"));
	assert_false(rnic_pattern_is("auto0"));
}

static void
auto_means_all(void **state)
{
	const struct rnic_pattern all = { .device = "auto" };

	assert_true(rnic_pattern_matches(&all, "mlx5_0", "ens1", "mlx5"));
	assert_true(rnic_pattern_matches(&all, "rxe0", "", ""));
}

static void
device_driver_and_netdev_all_have_to_match(void **state)
{
	const struct rnic_pattern pattern = {
		.device = "mlx5_*", .driver = "mlx5", .netdev = "ens*"
	};

	assert_true(rnic_pattern_matches(&pattern, "mlx5_0", "ens1", "mlx5"));
	assert_false(rnic_pattern_matches(&pattern, "rxe0", "ens1", "mlx5"));
	assert_false(rnic_pattern_matches(&pattern, "mlx5_0", "ib0", "mlx5"));
	assert_false(rnic_pattern_matches(&pattern, "mlx5_0", "ens1", "rxe"));
	assert_false(rnic_pattern_matches(&pattern, "mlx5_0", "", "mlx5"));
}

static void
an_exception_is_by_device_or_by_netdev(void **state)
{
	char bonds[] = "mlx5_bond*", ens9[] = "ens9*";
	char *except[] = { bonds, ens9 };
	const struct rnic_pattern pattern = {
		.device = "auto", .except = except, .except_count = 2
	};

	assert_true(rnic_pattern_matches(&pattern, "mlx5_0", "ens1", "mlx5"));
	assert_false(rnic_pattern_matches(&pattern, "mlx5_bond_0", "bond0", "mlx5"));
	assert_false(rnic_pattern_matches(&pattern, "mlx5_9", "ens9f0", "mlx5"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_distinguished_from_names),
		cmocka_unit_test(auto_means_all),
		cmocka_unit_test(device_driver_and_netdev_all_have_to_match),
		cmocka_unit_test(an_exception_is_by_device_or_by_netdev),
	};

	return cmocka_run_group_tests_name("rnic_pattern", tests, NULL, NULL);
}
