#include "host-agent/probe/overdue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe/prober_target.h"
#include "rackmesh/core/clock.h"

#define MS RM_NS_PER_MS
#define S RM_NS_PER_S
#define TIMEOUT (500 * MS)
#define SENT (1700000000 * S)

static struct overdue_probe
probe(uint8_t has)
{
	return (struct overdue_probe){
		.probe = { .sent_ns = SENT, .has = has },
		.result = { .outcome = WIRE_NO_REPLY, .seq = 7 },
	};
}

static bool
came_after(int64_t took, int64_t share, struct wire_result *ret)
{
	const struct overdue_probe p = probe(PENDING_SENT);

	return overdue_report(&p, SENT + took, share, TIMEOUT, ret);
}

static void
the_whole_delay_is_reported(void **state)
{
	struct wire_result result;

	assert_true(came_after(900 * MS, 100 * MS, &result));
	assert_int_equal(result.outcome, WIRE_OVERDUE);
	assert_int_equal(result.seq, 7);
	assert_int_equal(wire_result_overdue_ns(&result), 800 * MS);
	/* The network delays both directions by 3 s; then by the longest accepted
	 * time. */
	assert_true(came_after(6 * S, 0, &result));
	assert_int_equal(wire_result_overdue_ns(&result), 6 * S);
	assert_true(came_after(8 * S, 0, &result));
	assert_int_equal(wire_result_overdue_ns(&result), 8 * S);
	assert_int_equal(result.round_trip_ns, UINT32_MAX);
}

static void
replies_in_time_or_too_old_are_not_reported(void **state)
{
	const struct overdue_probe unsent = probe(0);
	struct wire_result result;

	assert_false(came_after(500 * MS, 0, &result));
	/* The responder caused the delay. */
	assert_false(came_after(900 * MS, 400 * MS, &result));
	assert_false(came_after(900 * MS, -1, &result));
	assert_false(came_after(8 * S + 1, 0, &result));
	assert_false(overdue_report(&unsent, SENT + S, 0, TIMEOUT, &result));
}

static void
five_hundred_a_second_are_kept_for_as_long(void **state)
{
	struct prober_target target = { .refs = 1 };
	struct overdue overdue = { 0 };
	struct overdue_probe p = probe(PENDING_SENT);
	const uint32_t kept = 500 * (uint32_t)(OVERDUE_NS / S);
	const uint32_t first = UINT32_MAX - 100;

	p.probe.target = &target;
	for (uint32_t i = 0; i < kept; i++) {
		p.probe.seq = first + i;
		overdue_put(&overdue, &p.probe, &p.result);
	}
	assert_non_null(overdue_find(&overdue, first));
	assert_non_null(overdue_find(&overdue, first + kept - 1));
	assert_null(overdue_find(&overdue, first + kept));
	assert_int_equal(target.refs, 1 + kept);
	overdue_forget(overdue_find(&overdue, first));
	assert_null(overdue_find(&overdue, first));
	overdue_clear(&overdue);
	assert_int_equal(target.refs, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_delay_is_reported),
		cmocka_unit_test(replies_in_time_or_too_old_are_not_reported),
		cmocka_unit_test(five_hundred_a_second_are_kept_for_as_long),
	};

	return cmocka_run_group_tests_name("overdue", tests, NULL, NULL);
}
