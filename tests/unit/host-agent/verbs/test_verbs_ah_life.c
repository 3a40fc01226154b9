#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "verbs_ah_fixture.h"

static void
a_used_handle_is_renewed_and_serves_until_then(void **state)
{
	struct seen *seen = *state;
	struct verbs_ah *held, *ah;

	held = take(seen, 1, 0);
	let_pass(61);
	seen->manner[1] = HELD;
	ah = take(seen, 1, 0);
	assert_ptr_equal(ah, held);
	assert_ptr_equal(take(seen, 1, 0), held); /* no second refresh begins */
	verbs_ah_put(held);
	open_gate(seen);
	while (verbs_ah_counts(seen->cache)->refreshed == 0)
		turn(seen);
	assert_int_equal(seen->creates[1], 2);
	assert_int_equal(seen->destroyed, 0);
	verbs_ah_put(take(seen, 1, 0));
	assert_int_equal(verbs_ah_counts(seen->cache)->handles, 1);
	assert_int_equal(seen->ready, 1); /* no caller waited for the refresh */

	/* A send still uses the old handle. */
	assert_int_equal(verbs_ah_handle(held)->key.gid[15], 1);
	verbs_ah_put(held);
	assert_int_equal(seen->destroyed, 0);
	verbs_ah_put(held);
	wait_destroyed(seen, 1);
	assert_int_equal(seen->creates[1], 2);
}

static void
the_old_handle_serves_on_when_the_target_is_dead(void **state)
{
	struct seen *seen = *state;

	for (uint32_t label = 0; label < 8; label++)
		verbs_ah_put(take(seen, 1, label));
	let_pass(61);
	seen->manner[1] = ODD;
	seen->error[1] = ETIMEDOUT;
	for (int i = 0; i < 3; i++) {
		for (uint32_t label = 0; label < 8; label++)
			assert_int_equal(ask(seen, 1, label), 0);
		while (verbs_ah_counts(seen->cache)->refresh_failed < (unsigned)i + 1)
			turn(seen);
		assert_int_equal(ask(seen, 1, 0), 0);
		/* One refresh for all labels. */
		assert_int_equal(seen->creates[1], 8 + i + 1);
		let_pass(1 << i);
	}
	assert_int_equal(verbs_ah_counts(seen->cache)->handles, 8);
	assert_int_equal(seen->failed, 0);
}

#define FAILURES 6

static void
after_a_change_of_the_path_handles_are_renewed(void **state)
{
	const struct verbs_ah_key one = key_of(1, 0);
	struct seen *seen = *state;
	struct verbs_ah *held;

	/* After so many failures it is not retried for 16 s, however slow the
	 * machine is. */
	seen->manner[3] = ODD;
	seen->error[3] = ETIMEDOUT;
	for (unsigned i = 1; i <= FAILURES; i++) {
		let_pass(30);
		assert_int_equal(ask(seen, 3, 0), -EINPROGRESS);
		wait_reported(seen, i);
	}
	held = take(seen, 1, 0);
	verbs_ah_put(take(seen, 1, 1));
	verbs_ah_put(take(seen, 2, 0));

	verbs_ah_forget(seen->cache, one.gid);
	wait_destroyed(seen, 1);
	assert_int_equal(ask(seen, 2, 0), 0);
	assert_int_equal(ask(seen, 3, 0), -ETIMEDOUT);
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
	wait_reported(seen, FAILURES + 4);
	verbs_ah_put(held);
	wait_destroyed(seen, 2);

	verbs_ah_forget(seen->cache, NULL);
	wait_destroyed(seen, 4);
	assert_int_equal(verbs_ah_counts(seen->cache)->handles, 0);
	seen->manner[3] = ALIVE;
	assert_int_equal(ask(seen, 3, 0), -EINPROGRESS); /* retried at once */
	wait_reported(seen, FAILURES + 5);
	assert_int_equal(seen->last, 0);
}

static void
a_handle_made_during_a_path_change_is_made_again(void **state)
{
	struct seen *seen = *state;

	seen->manner[1] = HELD;
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
	verbs_ah_forget(seen->cache, NULL);
	open_gate(seen);
	wait_reported(seen, 1);
	let_pass(0.001);
	assert_int_equal(ask(seen, 1, 0), 0);
	while (verbs_ah_counts(seen->cache)->refreshed == 0)
		turn(seen);
	assert_int_equal(seen->creates[1], 2);
}

static void
stopping_ends_with_the_last_call_and_the_last_put(void **state)
{
	struct seen *seen = *state;
	struct verbs_ah *held, *ah;

	held = take(seen, 1, 0);
	verbs_ah_put(take(seen, 2, 0));
	seen->manner[3] = HELD;
	assert_int_equal(ask(seen, 3, 0), -EINPROGRESS);
	/* Waits for the call in progress. */
	assert_int_equal(ask(seen, 3, 1), -EINPROGRESS);
	assert_int_equal(
	    verbs_ah_cache_stop(seen->cache, on_stopped, seen), -EINPROGRESS);
	assert_int_equal(get(seen, 1, 0, &ah), -ESHUTDOWN);
	wait_destroyed(seen, 1);
	open_gate(seen);
	wait_destroyed(seen, 2);
	assert_int_equal(seen->stopped, 0);
	verbs_ah_put(held);
	while (seen->stopped == 0)
		turn(seen);
	assert_int_equal(seen->destroyed, 3);
	/* Only those before the stop. */
	assert_int_equal(seen->ready + seen->failed, 2);
	assert_int_equal(seen->creates[3], 1);

	make_cache(seen, 0);
	assert_int_equal(verbs_ah_cache_stop(seen->cache, on_stopped, seen), 0);
}

static void
the_owner_may_stop_the_cache_in_on_ready(void **state)
{
	struct seen *seen = *state;

	seen->stop_on_signal = true;
	seen->manner[1] = ODD;
	seen->error[1] = EINVAL;
	for (uint32_t label = 0; label < 8; label++)
		assert_int_equal(ask(seen, 1, label), -EINPROGRESS);
	wait_reported(seen, 1);
	make_cache(seen, 0);
	for (uint32_t label = 0; label < 8; label++)
		assert_int_equal(ask(seen, 2, label), -EINPROGRESS);
	wait_reported(seen, 2);
	wait_destroyed(seen, 1);
	assert_int_equal(seen->creates[2], 1);
}

static void
handles_never_put_are_freed_with_the_cache(void **state)
{
	struct seen *seen = *state;

	(void)take(seen, 1, 0);
	verbs_ah_put(take(seen, 2, 0));
	make_cache(seen, 0);
	assert_int_equal(seen->destroyed, 2);
}

static void
a_call_that_outlives_the_cache_leaks_nothing(void **state)
{
	struct seen *seen = *state;

	seen->manner[1] = HELD;
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
	assert_int_equal(ask(seen, 1, 1), -EINPROGRESS);
	make_cache(seen, 0);
	open_gate(seen);
	wait_destroyed(seen, 1);
	assert_int_equal(seen->ready + seen->failed, 0);
}

static void
a_stopped_pool_is_reported(void **state)
{
	struct seen *seen = *state;
	struct verbs_ah *held, *ah;

	held = take(seen, 1, 0);
	for (int target = 10; target < 20; target++) {
		seen->manner[target] = HELD;
		assert_int_equal(ask(seen, target, 0), -EINPROGRESS);
		assert_int_equal(ask(seen, target, 1), -EINPROGRESS);
	}
	open_gate(seen);
	priority_pool_stop(seen->pool);
	assert_int_equal(seen->ready + seen->failed, 21);
	assert_int_equal(seen->last, -ECANCELED);
	assert_int_equal(get(seen, 30, 0, &ah), -ESHUTDOWN);
	assert_int_equal(verbs_ah_counts(seen->cache)->waiting, 0);
	assert_int_equal(verbs_ah_counts(seen->cache)->failed[0].count, 0);
	verbs_ah_forget(seen->cache, NULL);
	verbs_ah_put(held);
	assert_int_equal(seen->destroyed, seen->created);
}

/* In any order of events no handle is lost or created twice. A run can be repeated
 * by its seed. */
static void
any_order_of_calls_leaks_nothing(void **state)
{
	struct verbs_ah *held[32] = { 0 };
	const struct verbs_ah_counts *counts;
	struct seen *seen = *state;
	unsigned seed = 1;

	make_cache(seen, 24);
	counts = verbs_ah_counts(seen->cache);
	for (int i = 40; i < TARGETS; i++) {
		seen->manner[i] = ODD;
		seen->error[i] = ETIMEDOUT;
	}
	/* Until all kinds of events have occurred, however slowly the threads ran. */
	for (int i = 0; i < 20000 || counts->evicted == 0 || counts->refreshed == 0;
	     i++) {
		unsigned random = (unsigned)rand_r(&seed);
		struct verbs_ah **slot = &held[random % 32];

		if (*slot != NULL) {
			verbs_ah_put(*slot);
			*slot = NULL;
		} else {
			(void)get(
			    seen, (int)(random >> 8) % TARGETS, random >> 16 & 3, slot);
		}
		if (random % 64 == 1)
			let_pass(7);
		if (random % 500 == 1)
			verbs_ah_forget(seen->cache,
			    random & 4096
				? NULL
				: key_of((int)(random >> 8) % TARGETS, 0).gid);
		event_base_loop(rm_loop_base(seen->loop), EVLOOP_NONBLOCK);
		assert_false(seen->late);
		assert_true(seen->created - seen->destroyed <= 2 * 24);
	}
	for (int i = 0; i < 32; i++) {
		if (held[i] != NULL)
			verbs_ah_put(held[i]);
	}
	print_message("%d made, %d destroyed, %d refused\n", seen->created,
	    seen->destroyed, (int)counts->refused_full);
	if (verbs_ah_cache_stop(seen->cache, on_stopped, seen) < 0) {
		while (seen->stopped == 0)
			turn(seen);
	}
	assert_int_equal(seen->created, seen->destroyed);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ah_setup, ah_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_used_handle_is_renewed_and_serves_until_then),
		TEST(the_old_handle_serves_on_when_the_target_is_dead),
		TEST(after_a_change_of_the_path_handles_are_renewed),
		TEST(a_handle_made_during_a_path_change_is_made_again),
		TEST(stopping_ends_with_the_last_call_and_the_last_put),
		TEST(the_owner_may_stop_the_cache_in_on_ready),
		TEST(handles_never_put_are_freed_with_the_cache),
		TEST(a_call_that_outlives_the_cache_leaks_nothing),
		TEST(a_stopped_pool_is_reported),
		TEST(any_order_of_calls_leaks_nothing),
	};

	return cmocka_run_group_tests_name("verbs_ah_life", tests, NULL, NULL);
}
