#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "verbs_ah_fixture.h"

static void
a_handle_is_made_once_and_then_found(void **state)
{
	struct seen *seen = *state;
	struct verbs_ah *ah;

	assert_int_equal(ask(seen, 1, 7), -EINPROGRESS);
	assert_int_equal(ask(seen, 1, 7), -EINPROGRESS);
	assert_int_equal(verbs_ah_counts(seen->cache)->waiting, 1);
	wait_reported(seen, 1);
	assert_int_equal(seen->last, 0);
	ah = take(seen, 1, 7);
	assert_int_equal(verbs_ah_handle(ah)->key.flow_label, 7);
	verbs_ah_put(ah);
	assert_int_equal(seen->creates[1], 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->created, 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->hits, 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->waiting, 0);
	assert_int_equal(verbs_ah_counts(seen->cache)->handles, 1);
}

static void
every_part_of_the_key_makes_another_handle(void **state)
{
	const struct verbs_ah_key base = key_of(1, 7);
	struct verbs_ah_key keys[8];
	struct seen *seen = *state;
	struct verbs_ah *ah;

	for (size_t i = 0; i < 8; i++)
		keys[i] = base;
	keys[1].gid[0]++;
	keys[2].flow_label = 8;
	keys[3].lid = 9;
	keys[4].gid_index = 2;
	keys[5].traffic_class = 0;
	keys[6].sl = 3;
	keys[7].port = 2;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(
		    verbs_ah_get(seen->cache, &keys[i], now(), &ah), -EINPROGRESS);
	wait_reported(seen, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(verbs_ah_get(seen->cache, &keys[i], now(), &ah), 0);
		assert_memory_equal(
		    &verbs_ah_handle(ah)->key, &keys[i], sizeof(keys[i]));
		verbs_ah_put(ah);
	}
}

/* Prints the times: a few hundred us on an idle machine. */
static void
one_dead_target_delays_no_other(void **state)
{
	struct seen *seen = *state;
	int64_t start, worst = 0;

	/* A target that failed before is retried at the same time. */
	seen->manner[62] = DEAD;
	assert_int_equal(ask(seen, 62, 0), -EINPROGRESS);
	wait_reported(seen, 1);
	start = rm_mono_now().ns;
	seen->manner[62] = seen->manner[63] = DEAD_HELD;
	let_pass(1.5);
	assert_int_equal(ask(seen, 62, 0), -EINPROGRESS);
	for (uint32_t label = 0; label < 16; label++)
		assert_int_equal(ask(seen, 63, label), -EINPROGRESS);
	for (int target = 0; target < 40; target++)
		assert_int_equal(ask(seen, target, 0), -EINPROGRESS);
	wait_reported(seen, 41);
	for (int target = 0; target < 40; target++) {
		int64_t took = seen->ready_ns[target] - start;

		assert_int_equal(seen->failed, 1);
		worst = took > worst ? took : worst;
	}
	print_message("40 handles beside 2 dead targets: the slowest after %.2f ms\n",
	    (double)worst / RM_NS_PER_MS);

	/* A new label of a known good target is not delayed either. */
	assert_int_equal(ask(seen, 5, 1), -EINPROGRESS);
	wait_reported(seen, 42);
	assert_int_equal(seen->failed, 1);

	open_gate(seen);
	wait_reported(seen, 42 + 17);
	assert_int_equal(seen->failed, 18);
}

static void
handles_of_a_good_target_do_not_wait_for_uncertain_ones(void **state)
{
	struct seen *seen = *state;

	verbs_ah_put(take(seen, 1, 0));
	for (int target = 10; target < 20; target++) {
		seen->manner[target] = HELD;
		assert_int_equal(ask(seen, target, 0), -EINPROGRESS);
	}
	assert_int_equal(ask(seen, 1, 1), -EINPROGRESS);
	wait_reported(seen, 2);
	assert_int_equal(ask(seen, 1, 1), 0);

	/* A success long ago does not count. */
	let_pass(11);
	assert_int_equal(ask(seen, 1, 2), -EINPROGRESS);
	open_gate(seen);
	wait_reported(seen, 13);
}

static void
a_dead_target_costs_one_call_for_all_its_labels(void **state)
{
	struct seen *seen = *state;

	seen->manner[1] = ODD;
	seen->error[1] = ETIMEDOUT;
	for (uint32_t label = 0; label < 16; label++)
		assert_int_equal(ask(seen, 1, label), -EINPROGRESS);
	assert_int_equal(verbs_ah_counts(seen->cache)->waiting, 16);
	wait_reported(seen, 16);
	assert_int_equal(seen->failed, 16);
	assert_int_equal(seen->last, -ETIMEDOUT);
	assert_int_equal(seen->creates[1], 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->waiting, 0);
	assert_int_equal(verbs_ah_counts(seen->cache)->failed[0].error, ETIMEDOUT);
	assert_int_equal(verbs_ah_counts(seen->cache)->failed[0].count, 1);

	/* Later requests fail at once instead of waiting. */
	assert_int_equal(ask(seen, 1, 3), -ETIMEDOUT);
	assert_int_equal(ask(seen, 1, 99), -ETIMEDOUT);
	assert_int_equal(verbs_ah_counts(seen->cache)->refused_bad, 2);
	assert_int_equal(seen->creates[1], 1);
}

static void
the_labels_of_a_live_target_follow_the_first(void **state)
{
	struct seen *seen = *state;

	for (uint32_t label = 0; label < 16; label++)
		assert_int_equal(ask(seen, 1, label), -EINPROGRESS);
	wait_reported(seen, 16);
	assert_int_equal(seen->ready, 16);
	assert_int_equal(seen->creates[1], 16);
}

static void
a_dead_target_is_tried_at_ever_longer_intervals(void **state)
{
	const double intervals[] = { 0.25, 1, 2, 4, 8, 16, 30 };
	struct seen *seen = *state;

	seen->manner[1] = ODD;
	seen->error[1] = EHOSTUNREACH;
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
	wait_reported(seen, 1);
	for (int i = 0; i < 7; i++) {
		let_pass(intervals[i] - 0.2);
		assert_int_equal(ask(seen, 1, 0), -EHOSTUNREACH);
		let_pass(0.2);
		assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
		/* One request causes a retry; the others still fail at once. */
		assert_int_equal(ask(seen, 1, 1), -EHOSTUNREACH);
		wait_reported(seen, i + 2);
		assert_int_equal(seen->creates[1], i + 2);
	}
	seen->manner[1] = ALIVE;
	let_pass(30);
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS);
	wait_reported(seen, 9);
	assert_int_equal(seen->last, 0);
	assert_int_equal(ask(seen, 1, 0), 0);
	assert_int_equal(ask(seen, 1, 1), -EINPROGRESS);
	wait_reported(seen, 10);
	assert_int_equal(seen->failed, 8);

	/* After a success earlier failures do not count. */
	seen->manner[1] = ODD;
	let_pass(11);
	assert_int_equal(ask(seen, 1, 2), -EINPROGRESS);
	wait_reported(seen, 11);
	let_pass(1);
	assert_int_equal(ask(seen, 1, 2), -EINPROGRESS);
	wait_reported(seen, 12);
}

static void
the_least_used_handle_makes_room(void **state)
{
	struct seen *seen = *state;

	make_cache(seen, 3);
	for (int target = 0; target < 3; target++)
		verbs_ah_put(take(seen, target, 0));
	verbs_ah_put(take(seen, 0, 0));
	verbs_ah_put(take(seen, 3, 0));
	wait_destroyed(seen, 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->evicted, 1);
	assert_int_equal(verbs_ah_counts(seen->cache)->handles, 3);
	assert_int_equal(ask(seen, 0, 0), 0);
	assert_int_equal(ask(seen, 2, 0), 0);
	assert_int_equal(ask(seen, 1, 0), -EINPROGRESS); /* target 1 had been evicted */
	wait_reported(seen, 5);
}

static void
a_handle_with_a_send_outstanding_stays(void **state)
{
	struct verbs_ah *held[3], *ah = NULL;
	struct seen *seen = *state;

	make_cache(seen, 3);
	for (int target = 0; target < 3; target++)
		held[target] = take(seen, target, 0);
	assert_ptr_equal(take(seen, 1, 0), held[1]); /* in use twice */
	assert_int_equal(get(seen, 3, 0, &ah), -ENOBUFS);
	assert_null(ah);
	assert_int_equal(verbs_ah_counts(seen->cache)->refused_full, 1);
	verbs_ah_put(held[1]);
	assert_int_equal(get(seen, 3, 0, &ah), -ENOBUFS);
	assert_int_equal(seen->destroyed, 0);
	verbs_ah_put(held[1]);
	verbs_ah_put(take(seen, 3, 0));
	wait_destroyed(seen, 1);
	assert_int_equal(ask(seen, 0, 0), 0);
	verbs_ah_put(held[0]);
	verbs_ah_put(held[2]);
}

static void
replaced_handles_that_are_held_are_bounded_too(void **state)
{
	struct verbs_ah *held[8], *ah;
	struct seen *seen = *state;

	make_cache(seen, 4);
	for (int i = 0; i < 8; i++) {
		held[i] = take(seen, i % 4, 0);
		if (i % 4 == 3)
			verbs_ah_forget(seen->cache, NULL);
	}
	assert_int_equal(get(seen, 0, 0, &ah), -ENOBUFS);
	verbs_ah_put(held[0]);
	wait_destroyed(seen, 1);
	while (verbs_ah_counts(seen->cache)->destroyed == 0)
		turn(seen);
	assert_int_equal(get(seen, 0, 0, &ah), -EINPROGRESS);
	for (int i = 1; i < 8; i++)
		verbs_ah_put(held[i]);
	wait_reported(seen, 9);
}

static void
failures_are_counted_by_error(void **state)
{
	const struct verbs_ah_counts *counts;
	struct seen *seen = *state;

	for (int target = 0; target < 20; target++) {
		seen->manner[target] = ODD;
		seen->error[target] = target < 10 ? ETIMEDOUT : target;
		assert_int_equal(ask(seen, target, 0), -EINPROGRESS);
		wait_reported(seen, target + 1);
	}
	counts = verbs_ah_counts(seen->cache);
	assert_int_equal(counts->failed[0].error, ETIMEDOUT);
	assert_int_equal(counts->failed[0].count, 10);
	assert_int_equal(counts->failed[1].error, 10);
	assert_int_equal(counts->failed[6].count, 1);
	assert_int_equal(counts->failed[VERBS_AH_ERRORS - 1].error, 0);
	assert_int_equal(counts->failed[VERBS_AH_ERRORS - 1].count, 4);
}

/* Any number of targets that never resolve must not fill the memory. */
static void
only_so_many_bad_targets_are_remembered(void **state)
{
	struct seen *seen = *state;
	int reported_at_once = 0;

	make_cache(seen, 4);
	for (int target = 0; target < 40; target++) {
		seen->manner[target] = ODD;
		seen->error[target] = ETIMEDOUT;
		assert_int_equal(ask(seen, target, 0), -EINPROGRESS);
		wait_reported(seen, target + 1);
	}
	for (int target = 39; target >= 0; target--)
		reported_at_once += ask(seen, target, 0) == -ETIMEDOUT;
	assert_in_range(reported_at_once, 4, 8);
}

static void
far_too_large_a_cache_is_refused(void **state)
{
	struct seen *seen = *state;
	const struct verbs_ah_options options = { .max_handles = 1u << 20 };
	struct verbs_ah_cache *cache = NULL;

	assert_int_equal(verbs_ah_cache_new(seen->pool, &options, &cache), -EINVAL);
	assert_null(cache);
	verbs_ah_cache_free(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ah_setup, ah_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_handle_is_made_once_and_then_found),
		TEST(every_part_of_the_key_makes_another_handle),
		TEST(one_dead_target_delays_no_other),
		TEST(handles_of_a_good_target_do_not_wait_for_uncertain_ones),
		TEST(a_dead_target_costs_one_call_for_all_its_labels),
		TEST(the_labels_of_a_live_target_follow_the_first),
		TEST(a_dead_target_is_tried_at_ever_longer_intervals),
		TEST(the_least_used_handle_makes_room),
		TEST(a_handle_with_a_send_outstanding_stays),
		TEST(replaced_handles_that_are_held_are_bounded_too),
		TEST(failures_are_counted_by_error),
		TEST(only_so_many_bad_targets_are_remembered),
		TEST(far_too_large_a_cache_is_refused),
	};

	return cmocka_run_group_tests_name("verbs_ah", tests, NULL, NULL);
}
