#include "analyzer/localise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WALL (INT64_C(1700000000) * RM_NS_PER_S)
#define VIA(src, at, dst) src "@10.0.0.1 s1@" at " " dst "@10.2.0.1"

struct rows {
	struct localise *localise;
	struct wire_writer *writer;
	uint64_t seq;
	int64_t now_ns;
};

static int
setup(void **state)
{
	const struct localise_options options = { "r1", 10 * RM_NS_PER_S };
	static struct rows rows;
	const struct rm_verdict *verdicts;

	rows =
	    (struct rows){ .writer = wire_writer_new(), .now_ns = 100 * RM_NS_PER_S };
	if (rows.writer == NULL || localise_new(&options, &rows.localise) < 0)
		return -1;
	*state = &rows;
	return localise_judge(rows.localise, (rm_mono_t){ rows.now_ns },
	    (rm_wall_t){ WALL + rows.now_ns }, &verdicts);
}

static int
teardown(void **state)
{
	struct rows *rows = *state;

	localise_free(rows->localise);
	wire_writer_free(rows->writer);
	return 0;
}

/* One second of this rack, which ended `ago` before now. */
static int
tell(struct rows *rows, const char *tor, uint64_t seq, int64_t ago_ns,
    const struct wire_path_row *paths, size_t count)
{
	const uint64_t end = (uint64_t)(WALL + rows->now_ns - ago_ns);
	const struct wire_summary summary = {
		.head = { "agg", "r1", 77, seq },
		.tor = tor,
		.start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = end,
		.paths_start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.paths = paths,
		.path_count = count,
	};
	struct wire_summary_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(rows->writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	return localise_summary(rows->localise, &view, (rm_mono_t){ rows->now_ns });
}

static int
judge(struct rows *rows, const struct rm_verdict **verdicts)
{
	return localise_judge(rows->localise, (rm_mono_t){ rows->now_ns },
	    (rm_wall_t){ WALL + rows->now_ns }, verdicts);
}

/* Tells the same each second. Returns how many verdicts there are at last. */
static int
tell_for(struct rows *rows, int seconds, const char *const *tors,
    const struct wire_path_row *const *paths, const size_t *counts, size_t tor_count,
    const struct rm_verdict **verdicts)
{
	int n = 0;

	for (int step = 0; step < 4 * seconds; step++) {
		if (step % 4 == 0) {
			rows->seq++;
			for (size_t i = 0; i < tor_count; i++)
				assert_int_equal(tell(rows, tors[i], rows->seq,
						     RM_NS_PER_S, paths[i], counts[i]),
				    0);
		}
		n = judge(rows, verdicts);
		assert_true(n >= 0);
		rows->now_ns += RM_NS_PER_S / 4;
	}
	return n;
}

static void
late_and_repeated_summaries_count_nothing(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row row = {
		.dst_tor = "tor2", .path = VIA("tor1", "10.1.0.1", "tor2"), .sent = 8
	};
	const struct localise_counts *counts = localise_counts(rows->localise);

	assert_int_equal(tell(rows, "tor1", 5, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(tell(rows, "tor1", 5, 0, &row, 1), 0);
	assert_int_equal(tell(rows, "tor1", 4, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(tell(rows, "tor1", 6, 60 * RM_NS_PER_S, &row, 1), 0);
	assert_int_equal(tell(rows, "tor1", 7, -60 * RM_NS_PER_S, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(tell(rows, "tor1", 8, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 2);
}

static void
a_clock_that_is_wrong_all_the_time_is_put_up_with(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row row = {
		.dst_tor = "tor2", .path = VIA("tor1", "10.1.0.1", "tor2"), .sent = 8
	};

	for (uint64_t seq = 1; seq <= 10; seq++) {
		assert_int_equal(
		    tell(rows, "tor1", seq, 300 * RM_NS_PER_S, &row, 1), 0);
		rows->now_ns += RM_NS_PER_S;
	}
	assert_true(localise_counts(rows->localise)->rows >= 4);
}

static void
what_makes_no_sense_is_refused_and_counted(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row bad[] = {
		{ .dst_tor = "tor1", .path = "", .sent = 1 },
		{ .dst_tor = "a b", .path = "", .sent = 1 },
		{ .dst_tor = "", .path = "", .sent = 1 },
		{ .dst_tor = "tor2", .path = "@10.0.0.1", .sent = 1 },
		{ .dst_tor = "tor2", .path = "s1  tor2", .sent = 1 },
		{ .dst_tor = "tor2", .path = "s1@a@b", .sent = 1 },
		{ .dst_tor = "tor2", .path = "s1@a>b", .sent = 1 },
		{ .dst_tor = "tor2",
		    .path = "a b c d e f g h i j k l m n o p q r s t",
		    .sent = 1 },
		{ .dst_tor = "tor2", .path = "", .sent = 1, .lost_forward = 2 },
		{ .dst_tor = "tor2",
		    .path = "",
		    .sent = 2,
		    .lost_forward = 1,
		    .lost_reverse = 1,
		    .lost_unknown = 1 },
		{ .dst_tor = "tor2", .path = "", .sent = 1, .flows_dead = 1 },
		{ .dst_tor = "tor2", .path = "", .sent = UINT64_C(1) << 40 },
	};
	const size_t count = sizeof bad / sizeof bad[0];
	const struct rm_verdict *verdicts;

	assert_int_equal(tell(rows, "tor1", 1, 0, bad, count), 0);
	assert_int_equal(localise_counts(rows->localise)->refused_rows, count);
	assert_int_equal(localise_counts(rows->localise)->rows, 0);
	assert_int_equal(localise_counts(rows->localise)->paths, 0);
	assert_int_equal(judge(rows, &verdicts), 0);
}

static void
silence_behind_the_last_known_hop_is_the_same_way(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row same[] = {
		{ .dst_tor = "tor2", .path = "tor1 s1 tor2", .sent = 1 },
		{ .dst_tor = "tor2", .path = "tor1 s1 tor2 ?", .sent = 1 },
		{ .dst_tor = "tor2", .path = "tor1 s1 tor2 ? ?", .sent = 1 },
		{ .dst_tor = "tor2", .path = "", .sent = 1 },
		{ .dst_tor = "tor2", .path = "*", .sent = 1 },
		{ .dst_tor = "tor2", .path = "? ?", .sent = 1 },
	};

	assert_int_equal(tell(rows, "tor1", 1, 0, same, 6), 0);
	assert_int_equal(localise_counts(rows->localise)->refused_rows, 0);
	assert_int_equal(localise_counts(rows->localise)->paths, 2);
	assert_int_equal(localise_counts(rows->localise)->untraced, 3);
}

static void
flows_without_a_path_are_the_whole_way(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row one[] = {
		{ .dst_tor = "tor2",
		    .path = "*",
		    .sent = 20,
		    .lost_forward = 10,
		    .flows = 20 },
		{ .dst_tor = "tor3", .path = "", .sent = 40, .flows = 20 },
	};
	const struct wire_path_row three[] = {
		{ .dst_tor = "tor2", .path = "", .sent = 40, .flows = 20 },
	};
	const char *const tors[] = { "tor1", "tor3" };
	const struct wire_path_row *const paths[] = { one, three };
	const size_t counts[] = { 2, 1 };
	const struct rm_verdict *verdicts;

	assert_int_equal(tell_for(rows, 7, tors, paths, counts, 2, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_PATH_LOSSY);
	assert_string_equal(verdicts[0].part.name, "tor1->tor2");
}

/* Its own rack may need some seconds to see what an RNIC loses; nobody else tells. */
static void
what_one_pair_of_rnics_loses_waits_for_their_racks(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row one[] = {
		{ .dst_tor = "tor2",
		    .path = "*",
		    .sent = 20,
		    .lost_forward = 10,
		    .flows = 20,
		    .samples = "h1/r0>h9/r0:49153 h1/r0>h9/r0:49154" },
		{ .dst_tor = "tor3", .path = "", .sent = 40, .flows = 20 },
	};
	const struct wire_path_row three[] = {
		{ .dst_tor = "tor2", .path = "", .sent = 40, .flows = 20 },
	};
	const char *const tors[] = { "tor1", "tor3" };
	const struct wire_path_row *const paths[] = { one, three };
	const size_t counts[] = { 2, 1 };
	const struct rm_verdict *verdicts;

	assert_int_equal(tell_for(rows, 7, tors, paths, counts, 2, &verdicts), 0);
	assert_int_equal(tell_for(rows, 12, tors, paths, counts, 2, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_PATH_LOSSY);
}

static void
of_two_cables_between_the_same_switches_the_sick_one_is_told(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row one[] = {
		{ .dst_tor = "tor2",
		    .path = VIA("tor1", "10.1.0.1", "tor2"),
		    .sent = 20,
		    .lost_forward = 20,
		    .flows = 10,
		    .flows_dead = 10 },
		{ .dst_tor = "tor2",
		    .path = VIA("tor1", "10.1.0.5", "tor2"),
		    .sent = 20,
		    .flows = 10 },
		{ .dst_tor = "tor3",
		    .path = VIA("tor1", "10.1.0.1", "tor3"),
		    .sent = 20,
		    .lost_forward = 20,
		    .flows = 10,
		    .flows_dead = 10 },
		{ .dst_tor = "tor3",
		    .path = VIA("tor1", "10.1.0.5", "tor3"),
		    .sent = 20,
		    .flows = 10 },
	};
	const char *const tors[] = { "tor1" };
	const struct wire_path_row *const paths[] = { one };
	const size_t counts[] = { 4 };
	const struct rm_verdict *verdicts;

	assert_int_equal(tell_for(rows, 6, tors, paths, counts, 1, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_LINK_DOWN);
	assert_string_equal(verdicts[0].part.name, "s1--tor1");
	assert_non_null(strstr(verdicts[0].evidence.observed, "10.1.0.1"));
	assert_null(strstr(verdicts[0].evidence.observed, "10.1.0.5"));
}

static void
a_rack_that_accuses_its_uplinks_alone_is_no_witness(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row clean = { .dst_tor = "tor2",
		.path = VIA("tor1", "10.1.0.1", "tor2"),
		.sent = 20,
		.flows = 10 };
	const char *const tors[] = { "tor1" };
	const struct wire_path_row *const paths[] = { &clean };
	const size_t counts[] = { 1 };
	const struct rm_verdict *verdicts;

	localise_tor_verdict(
	    rows->localise, "tor1", true, false, (rm_mono_t){ rows->now_ns });
	assert_int_equal(tell_for(rows, 5, tors, paths, counts, 1, &verdicts), 0);
}

int
main(void)
{
#define ROWS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROWS_TEST(late_and_repeated_summaries_count_nothing),
		ROWS_TEST(a_clock_that_is_wrong_all_the_time_is_put_up_with),
		ROWS_TEST(what_makes_no_sense_is_refused_and_counted),
		ROWS_TEST(silence_behind_the_last_known_hop_is_the_same_way),
		ROWS_TEST(flows_without_a_path_are_the_whole_way),
		ROWS_TEST(what_one_pair_of_rnics_loses_waits_for_their_racks),
		ROWS_TEST(of_two_cables_between_the_same_switches_the_sick_one_is_told),
		ROWS_TEST(a_rack_that_accuses_its_uplinks_alone_is_no_witness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
