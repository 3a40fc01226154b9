#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/report/heartbeat.h"

static rm_mono_t
at_ms(int64_t ms)
{
	return (rm_mono_t){ ms * RM_NS_PER_MS };
}

static struct loop_turn
turn_at(struct loop_watch *watch, int64_t ms)
{
	return loop_watch_turn(watch, at_ms(ms));
}

static void
a_running_loop_reports_no_stall(void **state)
{
	struct loop_watch watch;

	loop_watch_init(&watch, at_ms(1000));
	for (int64_t ms = 1025; ms < 3000; ms += 25) {
		struct loop_turn turn = turn_at(&watch, ms);

		assert_int_equal(turn.lag_ns, 0);
		assert_false(turn.stalled);
	}
}

static void
every_stall_of_100_ms_is_seen_wherever_it_begins(void **state)
{
	for (int64_t begin = 1001; begin <= 1025; begin++) {
		struct loop_watch watch;
		struct loop_turn turn;

		loop_watch_init(&watch, at_ms(1000));
		/* The loop stops at begin and runs again after the deadline. */
		turn = turn_at(&watch, begin + 101);
		assert_true(turn.stalled);
		/* The stall includes the time in which the loop may have run, so no
		 * stalled moment is missed. */
		assert_true(turn.stall.start_ns <= (uint64_t)at_ms(begin).ns);
		assert_int_equal(turn.stall.end_ns, at_ms(begin + 101).ns);
	}
}

static void
a_short_delay_is_lag_and_no_stall(void **state)
{
	struct loop_watch watch;
	struct loop_turn turn;

	loop_watch_init(&watch, at_ms(1000));
	turn = turn_at(&watch, 1025 + 70);
	assert_false(turn.stalled);
	assert_int_equal(turn.lag_ns, 70 * RM_NS_PER_MS);
}

static void
deadlines_do_not_drift_and_missed_ones_are_not_made_up(void **state)
{
	struct loop_watch watch;

	loop_watch_init(&watch, at_ms(1000));
	turn_at(&watch, 1027);
	assert_int_equal(watch.deadline.ns, at_ms(1050).ns);
	turn_at(&watch, 6060); /* the loop was stopped for five seconds */
	assert_int_equal(watch.deadline.ns, at_ms(6075).ns);
	assert_false(turn_at(&watch, 6075).stalled);
}

static void
an_early_call_changes_nothing(void **state)
{
	struct loop_watch watch;

	loop_watch_init(&watch, at_ms(1000));
	assert_int_equal(turn_at(&watch, 1010).lag_ns, 0);
	assert_int_equal(watch.deadline.ns, at_ms(1025).ns);
}

static struct loop_turn
stall(int64_t from_ms, int64_t to_ms)
{
	return (struct loop_turn){
		.lag_ns = (to_ms - from_ms) * RM_NS_PER_MS,
		.stalled = true,
		.stall = { (uint64_t)at_ms(from_ms).ns, (uint64_t)at_ms(to_ms).ns },
	};
}

static void
stalls_gather_until_a_heartbeat_has_gone_out(void **state)
{
	struct heartbeat heartbeat = { 0 };
	struct wire_heartbeat wire = { 0 };
	struct loop_turn first = stall(1000, 1200), second = stall(2000, 2500);

	heartbeat_note(&heartbeat, &first);
	/* The previous heartbeat could not be sent. */
	heartbeat_fill(&heartbeat, &wire);
	heartbeat_note(&heartbeat, &second);
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.seq, 1);
	assert_int_equal(wire.stall_count, 2);
	assert_int_equal(wire.stalls[0].start_ns, at_ms(1000).ns);
	assert_int_equal(wire.stalls[1].end_ns, at_ms(2500).ns);
	assert_int_equal(wire.loop_lag_max_ns, 500 * RM_NS_PER_MS);

	heartbeat_sent(&heartbeat);
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.seq, 2);
	assert_int_equal(wire.stall_count, 0);
	assert_int_equal(wire.loop_lag_max_ns, 0);
}

static void
too_many_stalls_become_one_long_one(void **state)
{
	struct heartbeat heartbeat = { 0 };
	struct wire_heartbeat wire = { 0 };

	for (int64_t i = 0; i < WIRE_MAX_STALLS + 10; i++) {
		struct loop_turn turn = stall(i * 1000, i * 1000 + 200);

		heartbeat_note(&heartbeat, &turn);
	}
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.stall_count, WIRE_MAX_STALLS);
	assert_int_equal(wire.stalls[WIRE_MAX_STALLS - 1].start_ns,
	    at_ms((WIRE_MAX_STALLS - 1) * 1000).ns);
	assert_int_equal(wire.stalls[WIRE_MAX_STALLS - 1].end_ns,
	    at_ms((WIRE_MAX_STALLS + 9) * 1000 + 200).ns);
}

/* Every turn sets the reason again; a heartbeat contains the last one. */
static void
the_reason_for_slowed_probing_is_in_the_heartbeat_while_it_holds(void **state)
{
	struct heartbeat heartbeat = { 0 };
	struct wire_heartbeat wire = { 0 };
	struct loop_turn turn = stall(1000, 1200);

	turn.slowed_permille = 250;
	turn.slowed_reason = WIRE_SLOW_CPU;
	heartbeat_note(&heartbeat, &turn);
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.slowed_permille, 250);
	assert_int_equal(wire.slowed_reason, WIRE_SLOW_CPU);
	heartbeat_sent(&heartbeat);
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.slowed_permille, 250);
	turn = (struct loop_turn){ 0 };
	heartbeat_note(&heartbeat, &turn);
	heartbeat_fill(&heartbeat, &wire);
	assert_int_equal(wire.slowed_permille, 0);
	assert_int_equal(wire.slowed_reason, WIRE_SLOW_NOT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_loop_reports_no_stall),
		cmocka_unit_test(every_stall_of_100_ms_is_seen_wherever_it_begins),
		cmocka_unit_test(a_short_delay_is_lag_and_no_stall),
		cmocka_unit_test(
		    deadlines_do_not_drift_and_missed_ones_are_not_made_up),
		cmocka_unit_test(an_early_call_changes_nothing),
		cmocka_unit_test(stalls_gather_until_a_heartbeat_has_gone_out),
		cmocka_unit_test(too_many_stalls_become_one_long_one),
		cmocka_unit_test(
		    the_reason_for_slowed_probing_is_in_the_heartbeat_while_it_holds),
	};

	return cmocka_run_group_tests_name("heartbeat", tests, NULL, NULL);
}
