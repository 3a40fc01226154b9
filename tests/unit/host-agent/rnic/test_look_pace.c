#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/rnic/look_pace.h"
#include "rackmesh/core/clock.h"

static void
a_missing_rnic_is_looked_for_twice_a_second(void **state)
{
	assert_true(look_pace_ns(false, 0) == RM_NS_PER_S / 2);
	assert_true(look_pace_ns(true, 0) == 3 * RM_NS_PER_S);
	assert_in_range(look_pace_event_ns(0), 1, RM_NS_PER_S / 4);
}

/* A host with 64 RNICs, each with a full table of GIDs. */
static void
examinations_never_cost_more_than_a_percent_of_a_core(void **state)
{
	const int64_t cpu_ns = 64 * 3 * RM_NS_PER_MS;

	assert_true(100 * cpu_ns / look_pace_ns(false, cpu_ns) < 1);
	assert_true(100 * cpu_ns / look_pace_ns(true, cpu_ns) < 1);
	assert_true(100 * cpu_ns <= look_pace_event_ns(cpu_ns));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_rnic_is_looked_for_twice_a_second),
		cmocka_unit_test(examinations_never_cost_more_than_a_percent_of_a_core),
	};

	return cmocka_run_group_tests_name("look_pace", tests, NULL, NULL);
}
