#include "host-agent/trace/flow_choice.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const uint16_t ports[] = { 50003, 50001, 50002, 50000 };

static void
of_each_path_the_smallest_port_is_kept(void **state)
{
	const uint64_t two[] = { 7, 7, 9, 9 }, one[] = { 7, 7, 7, 7 },
		       four[] = { 1, 2, 3, 4 };

	assert_int_equal(flow_choice(ports, two, 4), 1 << 1 | 1 << 3);
	assert_int_equal(flow_choice(ports, one, 4), 1 << 3);
	assert_int_equal(flow_choice(ports, four, 4), 15);
}

static void
a_flow_whose_path_is_not_known_stays(void **state)
{
	const uint64_t none[] = { 0, 0, 0, 0 }, some[] = { 7, 0, 7, 0 };

	assert_int_equal(flow_choice(ports, none, 4), 15);
	assert_int_equal(flow_choice(ports, some, 4), 1 << 1 | 1 << 2 | 1 << 3);
}

static void
the_choice_does_not_depend_on_the_order(void **state)
{
	static const uint16_t turned[] = { 50000, 50002, 50001, 50003 };
	const uint64_t path_ids[] = { 7, 7, 9, 9 }, back[] = { 9, 9, 7, 7 };

	assert_int_equal(flow_choice(ports, path_ids, 4), 1 << 1 | 1 << 3);
	assert_int_equal(flow_choice(turned, back, 4), 1 << 2 | 1 << 0);
}

static void
a_port_that_is_named_twice_is_kept_once(void **state)
{
	static const uint16_t twice[] = { 50000, 50000 };
	const uint64_t path_ids[] = { 7, 7 };

	assert_int_equal(flow_choice(twice, path_ids, 2), 1);
}

static void
as_many_flows_as_a_target_may_have_have_a_bit_each(void **state)
{
	uint16_t many[64];
	uint64_t path_ids[64];

	for (size_t i = 0; i < 64; i++) {
		many[i] = (uint16_t)(50000 + i);
		path_ids[i] = 1 + i / 2;
	}
	assert_true(flow_choice(many, path_ids, 64) == UINT64_C(0x5555555555555555));
	path_ids[63] = 0;
	assert_true(flow_choice(many, path_ids, 64) == UINT64_C(0xd555555555555555));
	assert_int_equal(flow_choice(many, path_ids, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_path_the_smallest_port_is_kept),
		cmocka_unit_test(a_flow_whose_path_is_not_known_stays),
		cmocka_unit_test(the_choice_does_not_depend_on_the_order),
		cmocka_unit_test(a_port_that_is_named_twice_is_kept_once),
		cmocka_unit_test(as_many_flows_as_a_target_may_have_have_a_bit_each),
	};

	return cmocka_run_group_tests_name("flow_choice", tests, NULL, NULL);
}
