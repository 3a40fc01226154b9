#include "host-agent/probe/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS RM_NS_PER_MS

static const rm_mono_t start = { 1000 * RM_NS_PER_S };

static rm_mono_t
at(int64_t ns)
{
	return rm_mono_add(start, ns);
}

static int
setup(void **state)
{
	static struct pacer pacer;

	pacer = (struct pacer){ 0 };
	*state = &pacer;
	return pacer_reserve(&pacer, 8);
}

static int
teardown(void **state)
{
	pacer_clear(*state);
	return 0;
}

static void
add(struct pacer *pacer, struct pacer_entry *entry, int64_t interval_ns)
{
	*entry = (struct pacer_entry){ .due = start };
	pacer_add(pacer, entry);
	pacer_set_pace(pacer, entry, interval_ns, false, start);
}

static void
a_late_tick_does_not_move_the_next_deadline(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;

	add(pacer, &entry, 10 * MS);
	for (int64_t i = 0; i < 1000; i++) {
		assert_ptr_equal(
		    pacer_take(pacer, at(i * 10 * MS + i % 9 * MS), 0, &tick), &entry);
		assert_true(tick.deadline.ns == at(i * 10 * MS).ns);
		assert_int_equal(tick.skipped, 0);
	}
	assert_null(pacer_take(pacer, at(1000 * 10 * MS - 1), 0, &tick));
}

static void
all_packets_due_within_the_window_come_at_once_earliest_first(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entries[5];
	struct pacer_tick tick;
	rm_mono_t next;

	for (int i = 0; i < 5; i++) {
		add(pacer, &entries[i], 10 * MS);
		pacer_set_due(pacer, &entries[i], at((5 - i) * 1000));
	}
	for (int i = 4; i > 0; i--)
		assert_ptr_equal(pacer_take(pacer, start, 4000, &tick), &entries[i]);
	assert_null(pacer_take(pacer, start, 4000, &tick));
	assert_true(pacer_next(pacer, &next));
	assert_true(next.ns == at(5000).ns);
}

static void
packets_that_are_a_little_late_are_all_sent(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;
	int n = 0;

	add(pacer, &entry, MS);
	while (pacer_take(pacer, at(50 * MS), 0, &tick) != NULL) {
		assert_int_equal(tick.skipped, 0);
		n++;
	}
	assert_int_equal(n, 51);
}

static void
packets_that_are_far_too_late_are_skipped_and_counted(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;
	uint64_t taken = 0, skipped = 0;

	add(pacer, &entry, MS);
	while (pacer_take(pacer, at(5000 * MS), 0, &tick) != NULL) {
		assert_in_range(
		    rm_mono_since(at(5000 * MS), tick.deadline), 0, PACER_MAKE_UP_NS);
		taken++;
		skipped += tick.skipped;
	}
	assert_int_equal(taken, 51);
	assert_int_equal(taken + skipped, 5001);
}

static void
only_the_latest_packet_of_a_slow_target_is_sent_late(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;

	add(pacer, &entry, 100 * MS);
	assert_non_null(pacer_take(pacer, at(590 * MS), 0, &tick));
	assert_int_equal(tick.skipped, 5);
	assert_true(tick.deadline.ns == at(500 * MS).ns);
	assert_null(pacer_take(pacer, at(590 * MS), 0, &tick));
	assert_true(entry.due.ns == at(600 * MS).ns);
}

static void
pairs_are_two_packets_an_interval(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;
	uint64_t all = 0;

	add(pacer, &entry, 100 * MS);
	pacer_set_pace(pacer, &entry, 100 * MS, true, start);
	for (int i = 0; i < 4; i++) {
		assert_null(pacer_take(
		    pacer, at(i / 2 * 100 * MS + i % 2 * 10 * MS - 1), 0, &tick));
		assert_non_null(pacer_take(
		    pacer, at(i / 2 * 100 * MS + i % 2 * 10 * MS), 0, &tick));
		assert_int_equal(tick.second, i % 2);
	}
	/* 200 to 10,205 ms contain 101 pairs; the second probe of the last is still
	 * due */
	while (pacer_take(pacer, at(10205 * MS), 0, &tick) != NULL)
		all += 1 + tick.skipped;
	assert_int_equal(all, 201);
	assert_true(entry.second);
}

static void
a_stall_within_a_pair_skips_whole_pairs(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;
	struct pacer_tick tick;
	uint64_t all = 0;

	add(pacer, &entry, 100 * MS);
	pacer_set_pace(pacer, &entry, 100 * MS, true, start);
	assert_non_null(pacer_take(pacer, start, 0, &tick));
	while (pacer_take(pacer, at(1000 * MS), 0, &tick) != NULL)
		all += 1 + tick.skipped;
	assert_int_equal(all, 1 + 9 * 2 + 1);
	assert_true(entry.due.ns == at(1010 * MS).ns);
}

static void
a_faster_pace_begins_within_its_interval(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entry;

	add(pacer, &entry, 1000 * MS);
	pacer_set_due(pacer, &entry, at(900 * MS));
	pacer_set_pace(pacer, &entry, 10 * MS, false, at(100 * MS));
	assert_in_range(rm_mono_since(entry.due, at(100 * MS)), 0, 10 * MS);
}

/* Otherwise all targets that a focus had slowed down would be probed in one burst
 * when the focus ends, and again in every interval. */
static void
a_faster_pace_keeps_targets_apart(void **state)
{
	struct pacer *pacer = *state;
	struct pacer_entry entries[4];

	for (int64_t i = 0; i < 4; i++) {
		add(pacer, &entries[i], 1000 * MS);
		pacer_set_due(pacer, &entries[i], at((200 * i + 100) * MS));
	}
	for (int64_t i = 0; i < 4; i++) {
		pacer_set_pace(pacer, &entries[i], 100 * MS, false, start);
		assert_true(entries[i].due.ns == at((20 * i + 10) * MS).ns);
	}
}

static void
a_packet_is_late_after_half_an_interval_within_bounds(void **state)
{
	assert_false(pacer_is_late(MS, start, at(2 * MS)));
	assert_true(pacer_is_late(MS, start, at(2 * MS + 1)));
	assert_false(pacer_is_late(20 * MS, start, at(10 * MS)));
	assert_true(pacer_is_late(20 * MS, start, at(10 * MS + 1)));
	assert_false(pacer_is_late(1000 * MS, start, at(50 * MS)));
	assert_true(pacer_is_late(1000 * MS, start, at(50 * MS + 1)));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_late_tick_does_not_move_the_next_deadline),
		TEST(all_packets_due_within_the_window_come_at_once_earliest_first),
		TEST(packets_that_are_a_little_late_are_all_sent),
		TEST(packets_that_are_far_too_late_are_skipped_and_counted),
		TEST(only_the_latest_packet_of_a_slow_target_is_sent_late),
		TEST(pairs_are_two_packets_an_interval),
		TEST(a_stall_within_a_pair_skips_whole_pairs),
		TEST(a_faster_pace_begins_within_its_interval),
		TEST(a_faster_pace_keeps_targets_apart),
		TEST(a_packet_is_late_after_half_an_interval_within_bounds),
	};

	return cmocka_run_group_tests_name("pacer", tests, NULL, NULL);
}
