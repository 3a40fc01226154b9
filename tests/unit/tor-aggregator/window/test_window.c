#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/window/window.h"

#define MS RM_NS_PER_MS
#define BIN (250 * MS)
#define START (1000 * BIN)

static const struct window_options options = {
	.bin_ns = BIN,
	.judge_bins = 4,
	.open_bins = 16,
	.timeout_ns = 500 * MS,
	.wait_ns = 500 * MS,
	.max_pairs = 1000,
};

static rm_mono_t
at(int64_t ns)
{
	return (rm_mono_t){ START + ns };
}

static int
setup(void **state)
{
	return window_new(&options, at(0), (struct window **)state);
}

static int
teardown(void **state)
{
	window_free(*state);
	return 0;
}

static enum window_status
add(struct window *window, int64_t ns, uint8_t outcome, uint32_t src, uint32_t dst)
{
	const struct wire_result result = { .outcome = outcome, .kind = WIRE_WITNESS };

	return window_add(window, at(ns), &result, src, dst);
}

static const struct window_pair *
find(const struct window_closed *closed, uint32_t src, uint32_t dst)
{
	for (size_t i = 0; i < closed->pair_count; i++)
		if (closed->pairs[i].src == src && closed->pairs[i].dst == dst)
			return &closed->pairs[i];
	return NULL;
}

/* Closes the next bin after its longest wait. */
static struct window_closed
close_next(struct window *window, int64_t bin)
{
	struct window_closed closed = { 0 };

	assert_true(
	    window_close(window, at((bin + 1) * BIN + 1000 * MS), at(0), &closed));
	assert_int_equal(closed.end.ns, START + (bin + 1) * BIN);
	assert_int_equal(closed.start.ns, closed.end.ns - 4 * BIN);
	return closed;
}

static void
a_bin_closes_when_everything_is_in_or_after_the_wait(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	assert_false(window_close(window, at(BIN + 999 * MS), at(BIN - 1), &closed));
	assert_true(window_close(window, at(BIN + 600 * MS), at(BIN), &closed));
	assert_int_equal(closed.end.ns, START + BIN);
	assert_false(window_close(window, at(2 * BIN + 999 * MS), at(BIN), &closed));
	assert_true(window_close(window, at(2 * BIN + 1000 * MS), at(BIN), &closed));
	/* After a long silence the bins close one after the other. */
	for (int i = 2; i < 40; i++)
		assert_true(window_close(window, at(40 * BIN), at(40 * BIN), &closed));
	assert_int_equal(closed.end.ns, START + 40 * BIN);
	assert_false(window_close(window, at(40 * BIN), at(40 * BIN), &closed));
}

static void
a_new_timeout_counts_for_the_open_bin_too(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	window_set_timeout(window, 300 * MS);
	assert_false(window_close(window, at(BIN + 799 * MS), at(BIN - 1), &closed));
	assert_true(window_close(window, at(BIN + 800 * MS), at(BIN - 1), &closed));
}

static void
a_window_is_the_sum_of_its_last_four_bins(void **state)
{
	struct window *window = *state;
	struct window_closed closed;
	const struct window_pair *pair;

	for (int64_t bin = 0; bin < 8; bin++)
		for (int64_t i = 0; i <= bin; i++)
			assert_int_equal(add(window, bin * BIN + i,
					     bin >= 6 ? WIRE_NO_REPLY : WIRE_OK, 1, 2),
			    WINDOW_COUNTED);
	for (int64_t bin = 0; bin < 7; bin++)
		closed = close_next(window, bin);
	pair = find(&closed, 1, 2);
	assert_non_null(pair);
	assert_int_equal(pair->outcomes[WIRE_OK], 4 + 5 + 6);
	assert_int_equal(pair->outcomes[WIRE_NO_REPLY], 7);
	assert_int_equal(pair->newest_sent, 6 + 7);
	assert_int_equal(pair->newest_lost, 7);
	assert_int_equal(pair->kind, WIRE_WITNESS);
	for (int64_t bin = 7; bin < 11; bin++)
		closed = close_next(window, bin);
	assert_int_equal(closed.pair_count, 1);
	close_next(window, 11);
	closed = close_next(window, 12);
	assert_int_equal(closed.pair_count, 0);
}

static void
only_what_left_counts_as_sent_in_the_newest_bins(void **state)
{
	struct window *window = *state;
	struct window_closed closed;
	const struct window_pair *pair;

	for (uint8_t outcome = 0; outcome < WIRE_OUTCOMES; outcome++)
		assert_int_equal(add(window, 0, outcome, 1, 2), WINDOW_COUNTED);
	closed = close_next(window, 0);
	pair = find(&closed, 1, 2);
	for (uint8_t outcome = 0; outcome < WIRE_OUTCOMES; outcome++)
		assert_int_equal(pair->outcomes[outcome], 1);
	assert_int_equal(pair->newest_sent, 4);
	assert_int_equal(pair->newest_lost, 1);
}

static void
large_probes_are_counted_apart(void **state)
{
	static const struct {
		uint8_t outcome;
		uint16_t size_bytes;
	} probes[] = { { WIRE_OK, 64 }, { WIRE_NO_REPLY, WIRE_ROCE_SMALL_BYTES },
		{ WIRE_OK, WIRE_ROCE_SMALL_BYTES + 1 }, { WIRE_LATE_REPLY, 4096 },
		{ WIRE_INVALID, 4096 }, { WIRE_NO_REPLY, 4096 },
		{ WIRE_NO_REPLY, 1024 }, { WIRE_SEND_FAILED, 4096 },
		{ WIRE_SENT_LATE, 4096 }, { WIRE_STALE_QPN, 4096 },
		{ WIRE_SELF_LOSS, 4096 } };
	struct window *window = *state;
	struct window_closed closed;
	const struct window_pair *pair;

	for (int64_t bin = 0; bin < 4; bin++)
		for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
			const struct wire_result result = { .outcome =
								probes[i].outcome,
				.size_bytes = probes[i].size_bytes };

			assert_int_equal(
			    window_add(window, at(bin * BIN + 1), &result, 1, 2),
			    WINDOW_COUNTED);
		}
	for (int64_t bin = 0; bin < 4; bin++)
		closed = close_next(window, bin);
	pair = find(&closed, 1, 2);
	assert_non_null(pair);
	assert_int_equal(pair->large.answered, 4 * 3);
	assert_int_equal(pair->large.lost, 4 * 2);
	assert_int_equal(pair->large.failed, 4);
	assert_int_equal(pair->large.newest_sent, 2 * 5);
	assert_int_equal(pair->large.newest_lost, 2 * 2);
	assert_int_equal(pair->large.bytes, 4096);
	assert_int_equal(pair->large.small_bytes, WIRE_ROCE_SMALL_BYTES);
	assert_int_equal(pair->outcomes[WIRE_NO_REPLY], 4 * 3);
}

/* Known delays of the responder do not count. Stamps of user space are not used. */
static void
slow_round_trips_are_counted(void **state)
{
	const uint32_t slow = 2 * WINDOW_SLOW_NS;
	const struct wire_result results[] = {
		{ .outcome = WIRE_OK, .round_trip_ns = slow },
		{ .outcome = WIRE_LATE_REPLY, .round_trip_ns = slow },
		{ .outcome = WIRE_OK,
		    .flags = WIRE_SPLIT,
		    .rtt_ns = slow,
		    .round_trip_ns = slow },
		{ .outcome = WIRE_OK,
		    .flags = WIRE_SPLIT,
		    .rtt_ns = 1,
		    .round_trip_ns = slow },
		{ .outcome = WIRE_OK,
		    .stamp_source = WIRE_STAMP_USER,
		    .round_trip_ns = slow },
		{ .outcome = WIRE_INVALID, .round_trip_ns = slow },
		{ .outcome = WIRE_OK, .round_trip_ns = WINDOW_SLOW_NS - 1 },
	};
	struct window *window = *state;
	struct window_closed closed;

	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		assert_int_equal(
		    window_add(window, at(1), &results[i], 1, 2), WINDOW_COUNTED);
	closed = close_next(window, 0);
	assert_int_equal(find(&closed, 1, 2)->timed, 5);
	assert_int_equal(find(&closed, 1, 2)->slow, 3);
}

static void
late_results_change_nothing(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	assert_int_equal(add(window, -1, WIRE_OK, 1, 2), WINDOW_LATE);
	assert_int_equal(add(window, -INT64_C(2000) * BIN, WIRE_OK, 1, 2), WINDOW_LATE);
	close_next(window, 0);
	assert_int_equal(add(window, BIN - 1, WIRE_OK, 1, 2), WINDOW_LATE);
	assert_int_equal(add(window, BIN, WIRE_OK, 1, 2), WINDOW_COUNTED);
	closed = close_next(window, 1);
	assert_int_equal(find(&closed, 1, 2)->outcomes[WIRE_OK], 1);
}

static void
future_and_unknown_results_are_refused(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	assert_int_equal(add(window, 16 * BIN, WIRE_OK, 1, 2), WINDOW_REFUSED);
	assert_int_equal(add(window, 16 * BIN - 1, WIRE_OK, 1, 2), WINDOW_COUNTED);
	assert_int_equal(add(window, 0, WIRE_OUTCOMES, 1, 2), WINDOW_REFUSED);
	assert_int_equal(
	    add(window, 0, WIRE_OK, WINDOW_REMOTE_BASE, 2), WINDOW_REFUSED);
	assert_int_equal(
	    window_arrived(window, WINDOW_REMOTE_BASE, 2, at(0), at(BIN), 1),
	    WINDOW_REFUSED);
	assert_int_equal(
	    window_arrived(window, 1, 2, at(BIN), at(BIN - 1), 1), WINDOW_REFUSED);
	assert_int_equal(
	    window_arrived(window, 1, 2, at(0), at(16 * BIN), 1), WINDOW_REFUSED);
	closed = close_next(window, 0);
	assert_int_equal(closed.pair_count, 0);
}

static void
pairs_beyond_the_limit_are_refused_and_the_rest_still_counts(void **state)
{
	struct window *window = *state;
	struct window_closed closed;
	size_t refused = 0;

	for (uint32_t i = 0; i < 1200; i++)
		refused += add(window, 0, WIRE_OK, i, WINDOW_REMOTE_BASE + i * 7) ==
			   WINDOW_REFUSED;
	assert_int_equal(refused, 200);
	assert_int_equal(
	    add(window, 0, WIRE_OK, 5, WINDOW_REMOTE_BASE + 35), WINDOW_COUNTED);
	closed = close_next(window, 0);
	assert_int_equal(closed.pair_count, 1000);
	assert_int_equal(
	    find(&closed, 5, WINDOW_REMOTE_BASE + 35)->outcomes[WIRE_OK], 2);
	assert_int_equal(
	    find(&closed, 999, WINDOW_REMOTE_BASE + 6993)->outcomes[WIRE_OK], 1);
}

static void
receive_counts_are_spread_over_the_time_they_cover(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	/* The count covers 3/4 of bin 0 and half of bin 1: 5 quarters, divided 3 to 2.
	 */
	assert_int_equal(
	    window_arrived(window, 1, 2, at(BIN / 4), at(BIN + BIN / 2), 10),
	    WINDOW_COUNTED);
	closed = close_next(window, 0);
	assert_true(find(&closed, 1, 2)->arrived == 6.0);
	closed = close_next(window, 1);
	assert_true(find(&closed, 1, 2)->arrived == 10.0);
	/* Bin 1 is closed: half of the first count is late, and all of the second. A
	 * count without a duration belongs to one bin. */
	assert_int_equal(
	    window_arrived(window, 1, 2, at(BIN), at(3 * BIN), 8), WINDOW_COUNTED);
	assert_int_equal(
	    window_arrived(window, 1, 2, at(BIN), at(2 * BIN), 8), WINDOW_LATE);
	assert_int_equal(
	    window_arrived(window, 1, 2, at(2 * BIN), at(2 * BIN), 3), WINDOW_COUNTED);
	closed = close_next(window, 2);
	assert_true(find(&closed, 1, 2)->arrived == 10.0 + 4.0 + 3.0);
}

static void
a_pair_is_counted_only_when_reports_cover_every_bin_in_time(void **state)
{
	struct window *window = *state;
	struct window_closed closed;

	for (int64_t bin = 0; bin < 15; bin++) {
		add(window, bin * BIN, WIRE_OK, 1, 2);
		add(window, bin * BIN, WIRE_OK, 1, WINDOW_REMOTE_BASE);
	}
	window_counts_through(window, 2, at(0));
	window_counts_through(
	    window, WINDOW_REMOTE_BASE, at(0)); /* ignored: no remote RNIC has counts */
	for (int64_t bin = 0; bin < 4; bin++) {
		window_counts_through(window, 2, at((bin + 1) * BIN));
		closed = close_next(window, bin);
		assert_int_equal(find(&closed, 1, 2)->counted, bin == 3);
		assert_false(find(&closed, 1, WINDOW_REMOTE_BASE)->counted);
	}
	/* Bin 4 closes before its counts are complete; later counts do not change that.
	 */
	window_counts_through(window, 2, at(5 * BIN - 1));
	closed = close_next(window, 4);
	assert_false(find(&closed, 1, 2)->counted);
	for (int64_t bin = 5; bin < 9; bin++) {
		window_counts_through(window, 2, at((bin + 1) * BIN));
		closed = close_next(window, bin);
		assert_int_equal(find(&closed, 1, 2)->counted, bin == 8);
	}
	window_renumber(window);
	closed = close_next(window, 9);
	assert_int_equal(closed.pair_count, 0);
}

static void
windows_cut_by_a_start_or_a_stall_are_partial(void **state)
{
	struct window *window = *state;

	for (int64_t bin = 0; bin < 3; bin++)
		assert_true(close_next(window, bin).partial);
	assert_false(close_next(window, 3).partial);
	window_mark_partial(window, at(5 * BIN + 1));
	window_mark_partial(
	    window, at(0)); /* an earlier time does not shorten the mark */
	for (int64_t bin = 4; bin < 9; bin++)
		assert_true(close_next(window, bin).partial);
	assert_false(close_next(window, 9).partial);
}

/* Closes the next bin with all results present. */
static struct window_closed
close_whole(struct window *window, int64_t bin)
{
	const rm_mono_t end = at((bin + 1) * BIN);
	struct window_closed closed = { 0 };

	assert_true(window_close(window, end, end, &closed));
	return closed;
}

/* A bin that closed with missing results is in four windows. */
static void
after_a_short_stall_only_incomplete_windows_are_partial(void **state)
{
	struct window *window = *state;

	for (int64_t bin = 0; bin < 4; bin++)
		close_next(window, bin);
	window_mark_doubtful(window, at(6 * BIN));
	window_mark_doubtful(
	    window, at(0)); /* an earlier time does not shorten the mark */
	assert_false(close_whole(window, 4).partial);
	assert_true(close_next(window, 5).partial);
	for (int64_t bin = 6; bin < 9; bin++)
		assert_true(close_whole(window, bin).partial);
	assert_false(close_whole(window, 9).partial);
	/* Long after the stall, missing results have other reasons. */
	assert_false(close_next(window, 10).partial);
}

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* With judge_bins 1 every bin is in one window, so the sums must be equal. */
static void
every_result_is_in_exactly_one_bin_or_late_or_refused(void **state)
{
	struct window_options one = options;
	struct window_closed closed;
	struct window *window;
	uint64_t seed = 88172645463325252ULL, counted = 0, late = 0, refused = 0,
		 seen = 0;
	int64_t bin = 0;

	(void)state;
	one.judge_bins = 1;
	one.max_pairs = 60;
	assert_int_equal(window_new(&one, at(0), &window), 0);
	for (unsigned i = 0; i < 200000; i++) {
		const int64_t ns =
		    bin * BIN + (int64_t)(next_random(&seed) % (uint64_t)(20 * BIN)) -
		    2 * BIN;
		const uint32_t src = (uint32_t)(next_random(&seed) % 8);
		const uint32_t dst = (uint32_t)(next_random(&seed) % 8);

		const uint8_t outcome = (uint8_t)(next_random(&seed) % WIRE_OUTCOMES);
		const enum window_status status = add(window, ns, outcome, src, dst);

		counted += status == WINDOW_COUNTED;
		late += status == WINDOW_LATE;
		refused += status == WINDOW_REFUSED;
		if (next_random(&seed) % 50 == 0) {
			assert_true(window_close(
			    window, at((bin + 1) * BIN), at((bin + 1) * BIN), &closed));
			bin++;
			for (size_t p = 0; p < closed.pair_count; p++)
				for (int k = 0; k < WIRE_OUTCOMES; k++)
					seen += closed.pairs[p].outcomes[k];
		}
	}
	while (window_close(
	    window, at(bin * BIN + 18 * BIN), at(bin * BIN + 18 * BIN), &closed))
		for (size_t p = 0; p < closed.pair_count; p++)
			for (int k = 0; k < WIRE_OUTCOMES; k++)
				seen += closed.pairs[p].outcomes[k];
	print_message("counted %lu, late %lu, refused %lu, seen in bins %lu\n", counted,
	    late, refused, seen);
	assert_true(counted > 100000 && late > 5000 && refused > 5000);
	assert_int_equal(counted + late + refused, 200000);
	assert_int_equal(seen, counted);
	window_free(window);
}

static void
receive_counts_are_conserved_too(void **state)
{
	struct window_options one = options;
	struct window_closed closed;
	struct window *window;
	uint64_t seed = 42;
	double given = 0, seen = 0;
	int64_t from = 0;

	(void)state;
	one.judge_bins = 1;
	assert_int_equal(window_new(&one, at(0), &window), 0);
	for (int64_t bin = 0; bin < 2000; bin++) {
		while (from < (bin + 1) * BIN) {
			const int64_t to =
			    from + (int64_t)(next_random(&seed) % (uint64_t)(3 * BIN)) +
			    1;
			const uint64_t received = next_random(&seed) % 1000;

			assert_int_equal(
			    window_arrived(window, 3, 4, at(from), at(to), received),
			    WINDOW_COUNTED);
			given += (double)received;
			from = to;
		}
		assert_true(window_close(
		    window, at((bin + 1) * BIN), at((bin + 1) * BIN), &closed));
		seen += find(&closed, 3, 4)->arrived;
	}
	while (window_close(window, at(2010 * BIN), at(2010 * BIN), &closed))
		if (find(&closed, 3, 4) != NULL)
			seen += find(&closed, 3, 4)->arrived;
	assert_true(given - seen < 1e-3 && seen - given < 1e-3);
	window_free(window);
}

static void
impossible_options_are_refused(void **state)
{
	struct window_options bad = options;
	struct window *window = NULL;

	(void)state;
	bad.bin_ns = 0;
	assert_true(window_new(&bad, at(0), &window) < 0);
	bad = options;
	bad.judge_bins = 0;
	assert_true(window_new(&bad, at(0), &window) < 0);
	bad = options;
	bad.open_bins = 1000000;
	assert_true(window_new(&bad, at(0), &window) < 0);
	assert_null(window);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Slow replies that came at one moment are recognized, whichever bins their probes were
 * sent in, also if they were reported as lost before. */
static void
slow_replies_released_at_one_moment_are_recognized(void **state)
{
	struct wire_result result = { .outcome = WIRE_OK,
		.kind = WIRE_TOR_MESH,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = WIRE_SPLIT };
	struct window *window = *state;
	struct window_closed closed;

	for (int64_t ns = 0; ns < 4 * BIN; ns += BIN / 2) {
		result.rtt_ns = (uint32_t)(4 * BIN - ns + 100 * MS);
		window_add(window, at(ns), &result, 1, 2);
		result.rtt_ns = 200 * MS;
		window_add(window, at(ns), &result, 1, 3);
	}
	result.outcome = WIRE_OVERDUE;
	wire_result_overdue(&result, (uint64_t)(6 * BIN + 100 * MS));
	window_overdue(window, at(-2 * BIN), &result, 1, 2);
	window_overdue(window, at(-2 * BIN), &result, 1, 3);
	for (int i = 0; i < 4; i++)
		assert_true(window_close(window, at(0), at(100 * BIN), &closed));
	assert_int_equal(find(&closed, 1, 2)->slow, 8);
	assert_int_equal(find(&closed, 1, 2)->overdue, 1);
	assert_true(window_is_release(&find(&closed, 1, 2)->release));
	assert_false(window_is_release(&find(&closed, 1, 3)->release));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_bin_closes_when_everything_is_in_or_after_the_wait),
		TEST(a_new_timeout_counts_for_the_open_bin_too),
		TEST(a_window_is_the_sum_of_its_last_four_bins),
		TEST(only_what_left_counts_as_sent_in_the_newest_bins),
		TEST(large_probes_are_counted_apart),
		TEST(slow_round_trips_are_counted),
		TEST(slow_replies_released_at_one_moment_are_recognized),
		TEST(late_results_change_nothing),
		TEST(future_and_unknown_results_are_refused),
		TEST(pairs_beyond_the_limit_are_refused_and_the_rest_still_counts),
		TEST(receive_counts_are_spread_over_the_time_they_cover),
		TEST(a_pair_is_counted_only_when_reports_cover_every_bin_in_time),
		TEST(windows_cut_by_a_start_or_a_stall_are_partial),
		TEST(after_a_short_stall_only_incomplete_windows_are_partial),
		cmocka_unit_test(every_result_is_in_exactly_one_bin_or_late_or_refused),
		cmocka_unit_test(receive_counts_are_conserved_too),
		cmocka_unit_test(impossible_options_are_refused),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
