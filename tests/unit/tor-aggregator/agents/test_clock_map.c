#include "tor-aggregator/agents/clock_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S RM_NS_PER_S
#define MS RM_NS_PER_MS

static rm_mono_t
at(int64_t ns)
{
	return (rm_mono_t){ ns };
}

static int64_t
ours(const struct clock_map *map, uint64_t theirs)
{
	rm_mono_t ret = { -1 };

	assert_true(clock_map_ours(map, theirs, &ret));
	return ret.ns;
}

static void
nothing_is_mapped_before_the_first_sample(void **state)
{
	struct clock_map map = { 0 };
	rm_mono_t ret;

	assert_false(clock_map_ours(&map, 5, &ret));
}

static void
the_least_delayed_message_sets_the_offset(void **state)
{
	struct clock_map map = { 0 };

	clock_map_sample(&map, 10 * S, at(100 * S + 9 * MS));
	assert_int_equal(ours(&map, 10 * S), 100 * S + 9 * MS);
	clock_map_sample(&map, 11 * S, at(101 * S + 1 * MS));
	clock_map_sample(&map, 12 * S, at(102 * S + 700 * MS));
	/* A message that arrived 700 ms late is mapped to the time at which it was
	 * made. */
	assert_int_equal(ours(&map, 12 * S), 102 * S + 1 * MS);
}

static void
clocks_that_drift_apart_are_followed(void **state)
{
	struct clock_map map = { 0 };
	int64_t error;

	/* The agent's clock loses 100 us a second: 360 ms in an hour. */
	for (int64_t t = 0; t < 3600; t++)
		clock_map_sample(&map, (uint64_t)(t * (S - 100000)), at(t * S + MS));
	error = ours(&map, 3599 * (S - 100000)) - 3599 * S;
	assert_true(error <= 1 * MS);
	assert_true(error >= -13 * MS);
}

static void
a_clock_that_stood_still_is_followed_within_seconds(void **state)
{
	struct clock_map map = { 0 };
	int64_t stood = 0;

	/* After 10 s the host is suspended for 5 s. */
	for (int64_t t = 0; t < 20 * S; t += 250 * MS) {
		stood = t >= 10 * S ? 5 * S : 0;
		clock_map_sample(&map, (uint64_t)t, at(t + stood + MS));
		if (t >= 15 * S)
			assert_int_equal(ours(&map, (uint64_t)t), t + stood + MS);
	}
}

static void
messages_that_were_held_up_together_move_nothing(void **state)
{
	struct clock_map map = { 0 };

	for (int64_t t = 0; t < 20 * S; t += 250 * MS) {
		int64_t arrives = t >= 10 * S && t < 14 * S ? 14 * S : t;

		clock_map_sample(&map, (uint64_t)t, at(arrives + MS));
		assert_int_equal(ours(&map, (uint64_t)t), t + MS);
	}
}

static void
a_reset_forgets_the_earlier_samples(void **state)
{
	struct clock_map map = { 0 };

	clock_map_sample(&map, 1000 * S, at(1 * S));
	clock_map_reset(&map);
	clock_map_sample(&map, 1 * S, at(5 * S));
	assert_int_equal(ours(&map, 1 * S), 5 * S);
}

static void
absurd_times_are_refused(void **state)
{
	struct clock_map map = { 0 };
	rm_mono_t ret;

	assert_int_equal(clock_map_sample(&map, UINT64_MAX, at(S)), -ERANGE);
	assert_int_equal(clock_map_sample(&map, INT64_MAX, at(S)), 0);
	assert_false(clock_map_ours(&map, UINT64_MAX, &ret));
	assert_true(clock_map_ours(&map, 0, &ret));
	/* The agent's clock jumps between its largest and its smallest value. */
	for (int64_t t = 2; t < 40; t++)
		assert_int_equal(
		    clock_map_sample(&map, t < 20 ? INT64_MAX : 0, at(t * S / 4)), 0);
}

/* For any time that an agent may send. */
static void
mapped_times_can_be_subtracted(void **state)
{
	struct clock_map map = { 0 };
	int64_t least, most, difference;

	clock_map_sample(&map, INT64_MAX, at(100 * S));
	least = ours(&map, 0);
	assert_false(__builtin_sub_overflow(least, 120 * S, &difference));
	assert_false(__builtin_sub_overflow(at(200 * S).ns, least, &difference));
	clock_map_reset(&map);
	clock_map_sample(&map, 0, at(100 * S));
	most = ours(&map, INT64_MAX);
	assert_false(__builtin_sub_overflow(most, least, &difference));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_mapped_before_the_first_sample),
		cmocka_unit_test(the_least_delayed_message_sets_the_offset),
		cmocka_unit_test(clocks_that_drift_apart_are_followed),
		cmocka_unit_test(a_clock_that_stood_still_is_followed_within_seconds),
		cmocka_unit_test(messages_that_were_held_up_together_move_nothing),
		cmocka_unit_test(a_reset_forgets_the_earlier_samples),
		cmocka_unit_test(mapped_times_can_be_subtracted),
		cmocka_unit_test(absurd_times_are_refused),
	};

	return cmocka_run_group_tests_name("clock_map", tests, NULL, NULL);
}
