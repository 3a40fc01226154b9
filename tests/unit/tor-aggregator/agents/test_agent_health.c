#include "tor-aggregator/agents/agent_health.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS RM_NS_PER_MS
#define TIMEOUT (500 * MS)
#define BEAT 250

static rm_mono_t
ms(int64_t t)
{
	return (rm_mono_t){ t * MS };
}

static int
setup(void **state)
{
	return agent_health_new((struct agent_health **)state);
}

static int
teardown(void **state)
{
	agent_health_free(*state);
	return 0;
}

/* The state in the second that ended wait_ms ago. */
static enum host_state
state_at(struct agent_health *watch, int64_t now, int64_t wait)
{
	struct host_silence silence;

	return agent_health_state(
	    watch, ms(now), ms(now - wait - 1000), ms(now - wait), TIMEOUT, &silence);
}

/* Regular heartbeats from `from` to `to`; the session begins 10 s earlier. */
static void
beat(struct agent_health *watch, int64_t from, int64_t to)
{
	for (int64_t t = from; t <= to; t += BEAT)
		agent_health_beat(watch, ms(t), ms(t), ms(t), false);
}

static void
begin(struct agent_health *watch)
{
	agent_health_hello(watch, ms(10000), true);
	beat(watch, 10000, 20000);
}

static void
an_agent_that_never_came_is_unknown(void **state)
{
	assert_int_equal(state_at(*state, 5000, 600), HOST_UNKNOWN);
}

static void
steady_heartbeats_are_good(void **state)
{
	begin(*state);
	assert_int_equal(state_at(*state, 20000, 600), HOST_OK);
	assert_int_equal(state_at(*state, 20200, 600), HOST_OK);
}

static void
a_new_agent_is_excused_for_the_time_before_and_just_after(void **state)
{
	agent_health_hello(*state, ms(10000), true);
	beat(*state, 10000, 13000);
	assert_int_equal(state_at(*state, 11000, 600), HOST_RESTARTING);
	assert_int_equal(state_at(*state, 13000, 600), HOST_OK);
}

static void
a_frozen_agent_stalls_first_and_is_frozen_after_two_seconds(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	assert_false(agent_health_wants_ping(watch, ms(20400)));
	assert_int_equal(state_at(watch, 20450, 100), HOST_STUTTERED);
	assert_int_equal(state_at(watch, 20700, 300), HOST_STALLED);
	assert_true(agent_health_wants_ping(watch, ms(20500)));
	assert_false(agent_health_wants_ping(watch, ms(20550)));
	agent_health_acked(watch, ms(20500));
	assert_int_equal(state_at(watch, 20900, 300), HOST_STALLED);
	for (int64_t t = 21050; t < 26000; t += 50) {
		if (agent_health_wants_ping(watch, ms(t)))
			agent_health_acked(watch, ms(t + 1));
		assert_int_equal(state_at(watch, t + 2, 600),
		    t < 22000 ? HOST_STALLED : HOST_AGENT_FROZEN);
	}
}

static void
an_agent_that_stops_for_a_second_of_five_is_never_frozen(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	for (int64_t stop = 20000; stop < 40000; stop += 5000) {
		/* When the agent stops, its last heartbeat may be a whole interval old.
		 */
		for (int64_t t = stop; t < stop + 1250; t += 50) {
			if (agent_health_wants_ping(watch, ms(t)))
				agent_health_acked(watch, ms(t + 1));
			assert_int_not_equal(
			    state_at(watch, t + 2, 600), HOST_AGENT_FROZEN);
		}
		beat(watch, stop + 1250, stop + 5000);
	}
}

/* The agent reports each stop when it runs again. */
static void
stop_and_go(struct agent_health *watch, int64_t from, int64_t every_ms,
    int64_t still_ms, int times)
{
	for (int64_t t = from; times-- > 0; t += every_ms) {
		agent_health_stall(watch, ms(t), ms(t + still_ms));
		beat(watch, t + still_ms, t + every_ms);
	}
}

static struct host_silence
silence_at(struct agent_health *watch, int64_t now)
{
	struct host_silence silence;

	agent_health_state(watch, ms(now), ms(now), ms(now), TIMEOUT, &silence);
	return silence;
}

static void
an_agent_that_stops_again_and_again_for_most_of_the_time_is_counted(void **state)
{
	struct agent_health *watch = *state;
	struct host_silence silence;

	begin(watch);
	stop_and_go(watch, 20000, 1900, 1500, 4);
	assert_int_equal(silence_at(watch, 20000 + 4 * 1900).stops, 0);
	stop_and_go(watch, 20000 + 4 * 1900, 1900, 1500, 1);
	silence = silence_at(watch, 20000 + 5 * 1900);
	assert_int_equal(silence.stops, 5);
	assert_int_equal(silence.stops_ns, 5 * 1900 * MS);
	assert_int_equal(silence.stopped_ns, 5 * 1500 * MS);
	assert_int_equal(silence.recent_stops, 5);
	/* It has run for less than 4 s, then for 4 s. */
	assert_int_equal(silence_at(watch, 20000 + 5 * 1900 + 3500).stops, 5);
	assert_int_equal(silence_at(watch, 20000 + 5 * 1900 + 3600).stops, 0);
	assert_int_equal(silence_at(watch, 20000 + 5 * 1900 + 3600).recent_stops, 5);
	assert_int_equal(silence_at(watch, 20000 + 2 * 1900 + 31000).recent_stops, 3);
}

static void
short_rare_and_earlier_stops_are_not_counted(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	stop_and_go(watch, 20000, 1000, 950, 10);
	assert_int_equal(silence_at(watch, 30000).stops, 0);
	stop_and_go(watch, 30000, 5000, 1200, 10);
	assert_int_equal(silence_at(watch, 80000).stops, 0);
	stop_and_go(watch, 80000, 1500, 1400, 10);
	assert_int_equal(silence_at(watch, 95000).stops, 5);
	agent_health_hello(watch, ms(95000), true);
	assert_int_equal(silence_at(watch, 95000).stops, 0);
}

static void
a_thawed_agent_was_stalled_for_as_long_and_then_is_good(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	beat(watch, 25000, 30000);
	assert_int_equal(state_at(watch, 25300, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 26000, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 27000, 600), HOST_OK);
}

static void
silence_without_acknowledgement_is_a_host_out_of_reach(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_acked(
	    watch, ms(20010)); /* acknowledges something that was sent earlier */
	assert_true(agent_health_wants_ping(watch, ms(20500)));
	assert_int_equal(state_at(watch, 21050, 300), HOST_UNREACHABLE);
	assert_int_equal(state_at(watch, 29000, 600), HOST_UNREACHABLE);
	/* When the kernel gives up the connection, the agent has not restarted. */
	agent_health_ended(watch, ms(30000), false);
	assert_int_equal(state_at(watch, 30500, 600), HOST_UNREACHABLE);
	assert_int_equal(state_at(watch, 40000, 600), HOST_UNREACHABLE);
}

/* The path was cut for a while. Packets of the aggregator arrive again, but the agent's
 * heartbeats wait for TCP's back-off, which lasts at most about as long as the cut. */
static void
an_agent_is_not_frozen_while_its_heartbeats_may_be_backing_off(void **state)
{
	struct agent_health *watch = *state;

	begin(watch); /* the last heartbeat was at 20000 */
	assert_true(agent_health_wants_ping(watch, ms(20500)));
	assert_int_equal(state_at(watch, 21100, 300), HOST_UNREACHABLE);
	for (int64_t t = 22000; t < 24500; t += 50) {
		agent_health_wants_ping(watch, ms(t));
		agent_health_acked(watch, ms(t));
		assert_int_equal(state_at(watch, t, 600), HOST_STALLED);
	}
	/* By now heartbeats would have arrived. */
	agent_health_acked(watch, ms(24600));
	assert_int_equal(state_at(watch, 24610, 600), HOST_AGENT_FROZEN);
}

static void
a_host_that_vanishes_under_a_frozen_agent_is_out_of_reach(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	for (int64_t t = 20500; t <= 21500; t += 500) {
		agent_health_wants_ping(watch, ms(t));
		agent_health_acked(watch, ms(t + 1));
	}
	assert_int_equal(state_at(watch, 22100, 300), HOST_AGENT_FROZEN);
	agent_health_wants_ping(watch, ms(22000));
	agent_health_wants_ping(watch, ms(22500));
	assert_int_equal(state_at(watch, 23100, 300), HOST_UNREACHABLE);
}

static void
a_killed_agent_has_a_second_to_come_back(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_ended(watch, ms(20100), true);
	assert_int_equal(state_at(watch, 20200, 300), HOST_RESTARTING);
	assert_int_equal(state_at(watch, 21050, 300), HOST_RESTARTING);
	assert_int_equal(state_at(watch, 21200, 300), HOST_AGENT_DOWN);
	assert_int_equal(state_at(watch, 90000, 300), HOST_AGENT_DOWN);
}

static void
windows_that_ended_before_the_kill_are_still_good(void **state)
{
	struct agent_health *watch = *state;
	struct host_silence silence;

	begin(watch);
	agent_health_ended(watch, ms(20100), true);
	assert_int_equal(agent_health_state(
			     watch, ms(20200), ms(18000), ms(19000), TIMEOUT, &silence),
	    HOST_OK);
}

static void
a_restarted_agent_is_excused_until_it_has_settled(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_ended(watch, ms(20100), true);
	agent_health_hello(watch, ms(22000), true);
	beat(watch, 22000, 27000);
	assert_int_equal(state_at(watch, 23500, 600), HOST_RESTARTING);
	assert_int_equal(state_at(watch, 24500, 600), HOST_RESTARTING);
	assert_int_equal(state_at(watch, 26000, 600), HOST_OK);
}

static void
heartbeats_held_up_on_the_path_are_no_stall(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	for (int64_t t = 20250; t <= 22000; t += BEAT)
		agent_health_beat(watch, ms(22001), ms(t), ms(t), false);
	beat(watch, 22250, 24000);
	assert_int_equal(state_at(watch, 22700, 600), HOST_OK);
}

/* A cut differs from a delay: the host's paths to other hosts may have been cut, too.
 */
static void
a_host_that_was_unreachable_is_no_witness_for_that_time(void **state)
{
	struct agent_health *watch = *state;

	begin(watch); /* the last heartbeat was at 20000 */
	assert_true(agent_health_wants_ping(watch, ms(20500)));
	assert_int_equal(state_at(watch, 21100, 300), HOST_UNREACHABLE);
	agent_health_acked(watch, ms(21990));
	for (int64_t t = 20250; t <= 22000; t += BEAT)
		agent_health_beat(watch, ms(22001), ms(t), ms(t), false);
	beat(watch, 22250, 25000);
	assert_int_equal(state_at(watch, 22250, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 23600, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 23700, 600), HOST_OK);
}

static void
a_stall_that_the_agent_reports_excuses_the_windows_it_touches(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_stall(watch, ms(19850), ms(20300));
	agent_health_stall(
	    watch, ms(20800), ms(20900)); /* too short to delay a probe */
	beat(watch, 20250, 24000);
	/* The window ended before the cut, but replies to its last probes were due
	 * during the cut. */
	assert_int_equal(state_at(watch, 20300, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 21500, 600), HOST_STALLED);
	assert_int_equal(state_at(watch, 22000, 600), HOST_OK);
}

/* Stalls of 300 ms in every second, which is less than the time-out of probes. */
static void
stalls_shorter_than_the_probe_time_out_leave_it_a_witness(void **state)
{
	struct agent_health *watch = *state;
	rm_mono_t through;
	struct host_silence silence;

	begin(watch);
	for (int64_t t = 20000; t < 30000; t += 1000) {
		beat(watch, t + 250, t + 500);
		/* The heartbeat that is due 250 ms later must come first. */
		assert_true(
		    agent_health_reported(watch, ms(t + 1000), TIMEOUT, &through));
		agent_health_stall(watch, ms(t + 700), ms(t + 1000));
		beat(watch, t + 1000, t + 1000);
		assert_int_equal(state_at(watch, t + 1000, 600), HOST_STUTTERED);
	}
	/* For a shorter time-out of probes the host counts as stalled. */
	assert_int_equal(agent_health_state(watch, ms(30000), ms(28000), ms(29000),
			     300 * MS, &silence),
	    HOST_STALLED);
}

static void
a_paused_host_has_the_state_paused(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_beat(watch, ms(20250), ms(20250), ms(20250), true);
	assert_int_equal(state_at(watch, 20300, 600), HOST_PAUSED);
	beat(watch, 20500, 24000);
	assert_int_equal(state_at(watch, 21500, 600), HOST_PAUSED);
	assert_int_equal(state_at(watch, 24000, 600), HOST_OK);
}

static void
an_agent_that_ends_while_paused_counts_as_paused_until_it_is_back(void **state)
{
	struct agent_health *watch = *state;

	begin(watch);
	agent_health_beat(watch, ms(20250), ms(20250), ms(20250), true);
	agent_health_excuse(watch, true);
	agent_health_ended(watch, ms(20300), true);
	assert_int_equal(state_at(watch, 20900, 600), HOST_PAUSED);
	assert_int_equal(state_at(watch, 90000, 600), HOST_PAUSED);
	agent_health_hello(watch, ms(91000), true);
	agent_health_beat(watch, ms(91250), ms(91250), ms(91250), false);
	agent_health_excuse(watch, false);
	agent_health_ended(watch, ms(99000), true);
	assert_int_equal(state_at(watch, 102000, 600), HOST_AGENT_DOWN);
}

/* The brake pauses all agents, which does not explain why one of them ends. */
static void
an_agent_paused_by_the_brake_counts_as_down_when_it_ends(void **state)
{
	begin(*state);
	agent_health_beat(*state, ms(20250), ms(20250), ms(20250), true);
	agent_health_ended(*state, ms(20300), true);
	assert_int_equal(state_at(*state, 23000, 600), HOST_AGENT_DOWN);
}

static void
reports_reach_up_to_the_last_heartbeat_less_the_time_out(void **state)
{
	struct agent_health *watch = *state;
	rm_mono_t through = { 0 };

	assert_false(agent_health_reported(watch, ms(10000), TIMEOUT, &through));
	begin(watch);
	assert_true(agent_health_reported(watch, ms(20100), TIMEOUT, &through));
	assert_int_equal(through.ns, ms(19500).ns);
	assert_false(agent_health_reported(watch, ms(20700), TIMEOUT, &through));
	agent_health_ended(watch, ms(20800), true);
	assert_false(agent_health_reported(watch, ms(20800), TIMEOUT, &through));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Windows from before the kill are judged after it: in them the agent is frozen. */
static void
an_agent_frozen_before_it_was_killed_is_never_ok_in_between(void **state)
{
	begin(*state);
	for (int64_t t = 20500; t <= 25000; t += 500) {
		agent_health_wants_ping(*state, ms(t));
		agent_health_acked(*state, ms(t));
	}
	assert_int_equal(state_at(*state, 25000, 600), HOST_AGENT_FROZEN);
	agent_health_ended(*state, ms(25000), true);
	assert_int_equal(state_at(*state, 25100, 700), HOST_AGENT_FROZEN);
	assert_int_equal(state_at(*state, 27500, 600), HOST_AGENT_DOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agent_that_never_came_is_unknown),
		TEST(steady_heartbeats_are_good),
		TEST(a_new_agent_is_excused_for_the_time_before_and_just_after),
		TEST(a_frozen_agent_stalls_first_and_is_frozen_after_two_seconds),
		TEST(an_agent_that_stops_for_a_second_of_five_is_never_frozen),
		TEST(
		    an_agent_that_stops_again_and_again_for_most_of_the_time_is_counted),
		TEST(short_rare_and_earlier_stops_are_not_counted),
		TEST(a_thawed_agent_was_stalled_for_as_long_and_then_is_good),
		TEST(silence_without_acknowledgement_is_a_host_out_of_reach),
		TEST(an_agent_is_not_frozen_while_its_heartbeats_may_be_backing_off),
		TEST(a_host_that_vanishes_under_a_frozen_agent_is_out_of_reach),
		TEST(a_killed_agent_has_a_second_to_come_back),
		TEST(windows_that_ended_before_the_kill_are_still_good),
		TEST(a_restarted_agent_is_excused_until_it_has_settled),
		TEST(heartbeats_held_up_on_the_path_are_no_stall),
		TEST(a_host_that_was_unreachable_is_no_witness_for_that_time),
		TEST(a_stall_that_the_agent_reports_excuses_the_windows_it_touches),
		TEST(stalls_shorter_than_the_probe_time_out_leave_it_a_witness),
		TEST(a_paused_host_has_the_state_paused),
		TEST(an_agent_that_ends_while_paused_counts_as_paused_until_it_is_back),
		TEST(an_agent_paused_by_the_brake_counts_as_down_when_it_ends),
		TEST(reports_reach_up_to_the_last_heartbeat_less_the_time_out),
		TEST(an_agent_frozen_before_it_was_killed_is_never_ok_in_between),
	};

	return cmocka_run_group_tests_name("agent_watch", tests, NULL, NULL);
}
