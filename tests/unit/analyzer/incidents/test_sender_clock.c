#include "analyzer/incidents/sender_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS RM_NS_PER_MS
#define S RM_NS_PER_S

/* A message arrives at `at`. The sender stamped it `end` by its own clock, which is 90
 * s ahead. */
static void
note(struct sender_clock *clock, int64_t end, int64_t at)
{
	assert_true(
	    sender_clock_note(clock, (uint64_t)(end + 90 * S), (rm_mono_t){ at }));
}

static int64_t
age(const struct sender_clock *clock, int64_t end, int64_t at)
{
	return sender_clock_age(clock, (uint64_t)(end + 90 * S), (rm_mono_t){ at });
}

static bool
is_steady(const struct sender_clock *clock, int64_t at)
{
	return sender_clock_is_steady(clock, (rm_mono_t){ at });
}

static void
the_age_of_a_message_is_its_delay_beyond_the_fastest_one(void **state)
{
	struct sender_clock clock = { 0 };

	(void)state;
	assert_false(is_steady(&clock, 500 * S));
	note(&clock, 10 * S, 10 * S + 20 * MS);
	assert_false(is_steady(&clock, 11 * S));
	assert_true(is_steady(&clock, 11 * S + 20 * MS));
	note(&clock, 20 * S, 20 * S + 5 * MS);
	assert_true(is_steady(&clock, 20 * S + 5 * MS));
	assert_int_equal(age(&clock, 30 * S, 30 * S + 5 * MS), 0);
	assert_int_equal(age(&clock, 30 * S, 34 * S + 5 * MS), 4 * S);
	assert_int_equal(age(&clock, 30 * S, 30 * S), 0); /* never negative */
}

static void
small_delays_add_up_to_a_backlog(void **state)
{
	struct sender_clock clock = { 0 };

	(void)state;
	note(&clock, 0, 100 * S);
	for (int64_t i = 1; i <= 200;
	     i++) { /* the sender's clock advances 200 s in 50 s */
		note(&clock, i * 400 * MS, 100 * S + i * 100 * MS);
		if (i > 2)
			assert_false(is_steady(&clock, 100 * S + i * 100 * MS));
	}
}

static void
clocks_that_drift_apart_make_nothing_old(void **state)
{
	struct sender_clock clock = { 0 };

	(void)state;
	for (int64_t i = 1; i <= 100000; i++) /* a drift of 200 parts in a million */
		note(&clock, i * 10 * S, i * (10 * S + 2 * MS));
	assert_true(age(&clock, 1000000 * S, 1000200 * S) < 100 * MS);
}

static void
a_permanent_delay_is_learned_within_two_minutes(void **state)
{
	struct sender_clock clock = { 0 };
	int64_t at = 0;

	(void)state;
	for (; at < 300 * S; at += S)
		note(&clock, at, at);
	for (at = 500 * S; at < 600 * S; at += S) /* the sender was paused for 200 s */
		note(&clock, at - 200 * S, at);
	assert_int_equal(age(&clock, 400 * S, 600 * S), 0);
	assert_true(is_steady(&clock, 600 * S));
}

static void
a_backlog_of_half_a_minute_is_old(void **state)
{
	struct sender_clock clock = { 0 };
	int64_t at = 0;

	(void)state;
	for (; at < 300 * S; at += S)
		note(&clock, at, at);
	for (int64_t i = 0; i < 30; i++) /* all messages arrive at once */
		note(&clock, at + i * S, 330 * S);
	assert_int_equal(age(&clock, 300 * S, 330 * S), 30 * S);
	assert_int_equal(age(&clock, 330 * S, 330 * S), 0);
}

/* After a reboot the monotonic clock begins at 0. */
static void
a_machine_that_was_restarted_is_known_within_a_second(void **state)
{
	struct sender_clock clock = { 0 };

	(void)state;
	note(&clock, 9000 * S, 500 * S);
	note(&clock, 9001 * S, 501 * S);
	assert_false(sender_clock_note(&clock, 20 * S, (rm_mono_t){ 600 * S }));
	assert_int_equal(
	    sender_clock_age(&clock, 20 * S, (rm_mono_t){ 603 * S }), 3 * S);
	assert_false(is_steady(&clock, 601 * S - 1));
	assert_true(is_steady(&clock, 601 * S));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_age_of_a_message_is_its_delay_beyond_the_fastest_one),
		cmocka_unit_test(small_delays_add_up_to_a_backlog),
		cmocka_unit_test(clocks_that_drift_apart_make_nothing_old),
		cmocka_unit_test(a_permanent_delay_is_learned_within_two_minutes),
		cmocka_unit_test(a_backlog_of_half_a_minute_is_old),
		cmocka_unit_test(a_machine_that_was_restarted_is_known_within_a_second),
	};

	return cmocka_run_group_tests_name("sender_clock", tests, NULL, NULL);
}
