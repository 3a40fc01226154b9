#include "analyzer/localise/localise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_map.h"
#include "tests/support/failing_malloc.h"

#define WALL (INT64_C(1700000000) * RM_NS_PER_S)
#define VIA(src, at, dst) src "@10.0.0.1 s1@" at " " dst "@10.2.0.1"

struct rows {
	struct localise *localise;
	struct wire_writer *writer;
	uint64_t seq;
	int64_t now_ns;
	int64_t
	    set_back_ns;  /* by how much the aggregators' wall clocks were set back */
	bool reports_end; /* aggregators report the end by their monotonic clocks */
	int64_t ahead_ns; /* by how much these clocks are ahead of ours */
	uint64_t life;    /* incarnation of each aggregator */
	int set_at,
	    named_at; /* second that late_after sets clocks in; of the verdict */
};

static int
setup(void **state)
{
	const struct localise_options options = { "r1", 10 * RM_NS_PER_S };
	static struct rows rows;
	const struct rm_verdict *verdicts;

	rows = (struct rows){ .writer = wire_writer_new(),
		.now_ns = 100 * RM_NS_PER_S,
		.ahead_ns = 7000 * RM_NS_PER_S,
		.life = 77,
		.set_at = 10 };
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

/* Reports one second of this rack, which ended ago_ns before now. */
static int
report(struct rows *rows, const char *tor, uint64_t seq, int64_t ago_ns,
    const struct wire_path_row *paths, size_t count)
{
	const int64_t end_ns = rows->now_ns - ago_ns;
	const uint64_t end = (uint64_t)(WALL + end_ns - rows->set_back_ns);
	const struct wire_summary summary = {
		.head = { "agg", "r1", rows->life, seq },
		.tor = tor,
		.start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = end,
		.paths_start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.paths = paths,
		.path_count = count,
		.end_ns = rows->reports_end ? (uint64_t)(end_ns + rows->ahead_ns) : 0,
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

/* Reports the same rows each second. Returns the number of verdicts at the end. */
static int
report_for(struct rows *rows, int seconds, const char *const *tors,
    const struct wire_path_row *const *paths, const size_t *counts, size_t tor_count,
    const struct rm_verdict **verdicts)
{
	int n = 0;

	for (int step = 0; step < 4 * seconds; step++) {
		if (step % 4 == 0) {
			rows->seq++;
			for (size_t i = 0; i < tor_count; i++)
				assert_int_equal(report(rows, tors[i], rows->seq,
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

	assert_int_equal(report(rows, "tor1", 5, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(report(rows, "tor1", 5, 0, &row, 1), 0);
	assert_int_equal(report(rows, "tor1", 4, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(report(rows, "tor1", 6, 60 * RM_NS_PER_S, &row, 1), 0);
	assert_int_equal(report(rows, "tor1", 7, -60 * RM_NS_PER_S, &row, 1), 0);
	assert_int_equal(counts->rows, 1);
	assert_int_equal(report(rows, "tor1", 8, 0, &row, 1), 0);
	assert_int_equal(counts->rows, 2);
}

/* Reports one path, and ns later another one. Returns how many paths are known then. */
static uint64_t
paths_known_after(struct rows *rows, const char *tor, int64_t ns)
{
	const struct wire_path_row first = {
		.dst_tor = "t2", .path = VIA("t1", "10.1.0.1", "t2"), .sent = 9
	};
	const struct wire_path_row second = {
		.dst_tor = "t3", .path = VIA("t1", "10.1.0.1", "t3"), .sent = 9
	};
	const uint64_t before = localise_counts(rows->localise)->paths;

	assert_int_equal(report(rows, tor, 1, 0, &first, 1), 0);
	rows->now_ns += ns;
	assert_int_equal(report(rows, tor, 2, 0, &second, 1), 0);
	return localise_counts(rows->localise)->paths - before;
}

static void
paths_stay_known_for_longer_if_rows_are_rare(void **state)
{
	struct rows *rows = *state;

	assert_int_equal(paths_known_after(rows, "t1", 120 * RM_NS_PER_S), 1);
	localise_row_interval(rows->localise, 60 * RM_NS_PER_S);
	assert_int_equal(paths_known_after(rows, "t4", 120 * RM_NS_PER_S), 2);
}

static void
a_constant_clock_error_does_not_matter(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row row = {
		.dst_tor = "tor2", .path = VIA("tor1", "10.1.0.1", "tor2"), .sent = 8
	};

	for (uint64_t seq = 1; seq <= 10; seq++) {
		assert_int_equal(
		    report(rows, "tor1", seq, 300 * RM_NS_PER_S, &row, 1), 0);
		rows->now_ns += RM_NS_PER_S;
	}
	assert_true(localise_counts(rows->localise)->rows >= 4);
}

/* Two racks lose all packets over one link for five seconds. The messages of their
 * aggregators from this time arrive together, `seconds` later. The clock of the second
 * rack's aggregator is 3 s behind; then both clocks are set back. Returns by how much
 * the verdict reports that it is late. */
static int64_t
late_after(struct rows *rows, int seconds, int64_t set_back_ns)
{
	const struct wire_path_row good[] = {
		{ .dst_tor = "tor2",
		    .path = VIA("tor1", "10.1.0.1", "tor2"),
		    .sent = 40,
		    .flows = 8 },
		{ .dst_tor = "tor1",
		    .path = VIA("tor2", "10.1.0.2", "tor1"),
		    .sent = 40,
		    .flows = 8 },
	};
	const int64_t ago[] = { RM_NS_PER_S, 4 * RM_NS_PER_S };
	struct wire_path_row bad[] = { good[0], good[1] };
	const struct rm_verdict *verdicts;
	int64_t late_ns = -1;

	for (int i = 0; i < 2; i++) {
		bad[i].lost_forward = bad[i].sent;
		bad[i].flows_dead = bad[i].flows_silent = bad[i].flows;
	}
	for (int second = 0; second < 20 + seconds; second++) {
		const bool held = second >= 10 && second < 10 + seconds;
		const int first = second == 10 + seconds ? 10 : second;

		if (second == rows->set_at)
			rows->set_back_ns = set_back_ns;
		for (int reported = first; !held && reported <= second; reported++) {
			rows->seq++;
			for (int i = 0; i < 2; i++)
				assert_int_equal(
				    report(rows, i == 0 ? "tor1" : "tor2", rows->seq,
					ago[i] + (second - reported) * RM_NS_PER_S,
					reported < 10 ? &good[i] : &bad[i], 1),
				    0);
		}
		for (int step = 0; step < 4; step++) {
			if (judge(rows, &verdicts) > 0 && late_ns < 0) {
				late_ns = verdicts[0].evidence.late_ns;
				rows->named_at = second;
			}
			rows->now_ns += RM_NS_PER_S / 4;
		}
	}
	return late_ns;
}

static void
a_verdict_on_late_reports_has_the_delay(void **state)
{
	assert_in_range(late_after(*state, 4, 0), 2 * RM_NS_PER_S, 3 * RM_NS_PER_S);
}

static void
a_clock_that_is_set_back_makes_no_verdict_late(void **state)
{
	struct rows *rows = *state;

	rows->reports_end = true;
	assert_int_equal(late_after(rows, 0, 10 * RM_NS_PER_S), 0);
}

static void
a_clock_that_is_set_far_back_hides_nothing(void **state)
{
	struct rows *rows = *state;

	rows->reports_end = true;
	assert_int_equal(late_after(rows, 0, 1000 * RM_NS_PER_S), 0);
}

/* The clock is set back between the first loss and the verdict, which waits for the
 * rows of other racks. */
static void
a_clock_that_is_set_back_in_the_first_seconds_hides_nothing(void **state)
{
	struct rows *rows = *state;

	rows->reports_end = true;
	rows->set_at = 11;
	assert_int_equal(late_after(rows, 0, 1000 * RM_NS_PER_S), 0);
	assert_in_range(rows->named_at, 12, 13);
}

static void
an_older_aggregators_clock_that_is_set_back_hides_nothing_for_long(void **state)
{
	struct rows *rows = *state;

	rows->set_at = 11;
	assert_true(late_after(rows, 0, 8 * RM_NS_PER_S) >= 0);
	assert_in_range(rows->named_at, 12, 14);
}

static void
delayed_reports_are_also_recognized_by_the_monotonic_clock(void **state)
{
	struct rows *rows = *state;

	rows->reports_end = true;
	assert_in_range(late_after(rows, 4, 0), 2 * RM_NS_PER_S, 3 * RM_NS_PER_S);
}

/* Its monotonic clock then also begins anew. */
static void
an_aggregator_that_begins_anew_makes_no_verdict_late(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row row = {
		.dst_tor = "tor2", .path = VIA("tor1", "10.1.0.1", "tor2"), .sent = 8
	};

	rows->reports_end = true;
	assert_int_equal(report(rows, "tor1", 900, RM_NS_PER_S, &row, 1), 0);
	assert_int_equal(report(rows, "tor2", 900, RM_NS_PER_S, &row, 1), 0);
	rows->now_ns += 4 * RM_NS_PER_S;
	rows->ahead_ns = 0;
	rows->life++;
	assert_int_equal(late_after(rows, 0, 10 * RM_NS_PER_S), 0);
}

static void
reports_in_time_are_not_late_for_any_clock_error(void **state)
{
	assert_int_equal(late_after(*state, 0, 0), 0);
}

static void
nonsense_rows_are_refused_and_counted(void **state)
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

	assert_int_equal(report(rows, "tor1", 1, 0, bad, count), 0);
	assert_int_equal(localise_counts(rows->localise)->refused_rows, count);
	assert_int_equal(localise_counts(rows->localise)->rows, 0);
	assert_int_equal(localise_counts(rows->localise)->paths, 0);
	assert_int_equal(judge(rows, &verdicts), 0);
}

static void
silent_hops_behind_the_last_known_hop_do_not_change_the_path(void **state)
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

	assert_int_equal(report(rows, "tor1", 1, 0, same, 6), 0);
	assert_int_equal(localise_counts(rows->localise)->refused_rows, 0);
	assert_int_equal(localise_counts(rows->localise)->paths, 2);
	assert_int_equal(localise_counts(rows->localise)->untraced, 3);
}

static void
losses_of_flows_without_a_known_path_name_the_whole_path(void **state)
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

	assert_int_equal(report_for(rows, 7, tors, paths, counts, 2, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_PATH_LOSSY);
	assert_string_equal(verdicts[0].part.name, "tor1->tor2");
}

#define OVER(spine, dst) "tor1@10.0.0.1 " spine "@10.1.0.1 " dst "@10.2.0.1"
#define BACK(src, spine) src "@10.0.0.1 " spine "@10.1.0.2 tor1@10.2.0.1"

/* Half of the flows take another path with every packet. */
static void
packets_that_take_several_paths_blame_no_switch_for_a_dead_link(void **state)
{
#define PASSES(to, over)                                            \
	{                                                           \
		.dst_tor = to, .path = over, .sent = 10, .flows = 4 \
	}
#define LOST(to, over)                                                       \
	{                                                                    \
		.dst_tor = to, .path = over, .sent = 10, .lost_forward = 10, \
		.flows = 4, .flows_dead = 4, .flows_silent = 4               \
	}
#define SPRAYED(to)                                                         \
	{                                                                   \
		.dst_tor = to, .path = "*", .sent = 60, .lost_forward = 20, \
		.flows = 20, .flows_partial = 20                            \
	}
#define ANSWERED(over)                                                          \
	{                                                                       \
		.dst_tor = "tor1", .path = over, .sent = 10, .lost_reverse = 3, \
		.flows = 4, .flows_partial = 2                                  \
	}
	struct rows *rows = *state;
	const struct wire_path_row one[] = { LOST("tor2", OVER("s1", "tor2")),
		PASSES("tor2", OVER("s2", "tor2")), PASSES("tor2", OVER("s3", "tor2")),
		LOST("tor3", OVER("s1", "tor3")), PASSES("tor3", OVER("s2", "tor3")),
		PASSES("tor3", OVER("s3", "tor3")), SPRAYED("tor2"), SPRAYED("tor3") };
	const struct wire_path_row two[] = { ANSWERED(BACK("tor2", "s1")),
		ANSWERED(BACK("tor2", "s2")), ANSWERED(BACK("tor2", "s3")) };
	const struct wire_path_row three[] = { ANSWERED(BACK("tor3", "s1")),
		ANSWERED(BACK("tor3", "s2")), ANSWERED(BACK("tor3", "s3")) };
	const char *const tors[] = { "tor1", "tor2", "tor3" };
	const struct wire_path_row *const paths[] = { one, two, three };
	const size_t counts[] = { 8, 3, 3 };
	const struct rm_verdict *verdicts;

	for (int i = 0; i < 5; i++) {
		const int n = report_for(rows, 4, tors, paths, counts, 3, &verdicts);

		for (int k = 0; k < n; k++)
			assert_string_equal(verdicts[k].part.name, "s1--tor1");
		assert_true(i == 0 || n == 1);
	}
}

/* The rack of an RNIC may need some seconds to find its losses, and only that rack can
 * report them. */
static void
losses_of_one_pair_of_rnics_wait_for_the_verdicts_of_their_racks(void **state)
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

	assert_int_equal(report_for(rows, 7, tors, paths, counts, 2, &verdicts), 0);
	assert_int_equal(report_for(rows, 12, tors, paths, counts, 2, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_PATH_LOSSY);
}

static void
of_two_cables_between_the_same_switches_the_faulty_one_is_named(void **state)
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

	assert_int_equal(report_for(rows, 6, tors, paths, counts, 1, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_LINK_DOWN);
	assert_string_equal(verdicts[0].part.name, "s1--tor1");
	assert_non_null(strstr(verdicts[0].evidence.observed, "10.1.0.1"));
	assert_null(strstr(verdicts[0].evidence.observed, "10.1.0.5"));
}

#define HOPS(src, spine, at, dst) src "@10.0.0.1 " spine "@" at " " dst "@10.2.0.1"

/* All packets from tor1 to s1 are lost: probes, and the replies to probes that arrived
 * over s1, because both directions of a flow have the same hash. Half of the replies
 * arrive over s2. */
static void
an_uplink_with_a_dead_direction_is_not_named_as_many_paths(void **state)
{
	static const char *const tors[] = { "tor1", "tor2", "tor3" };
	static const struct wire_path_row first[] = {
		{ "tor2", HOPS("tor1", "s1", "10.1.0.1", "tor2"), 26, 2, 0, 0, 2, 1, 1,
		    0, 1 },
		{ "tor2", HOPS("tor1", "s2", "10.1.1.1", "tor2"), 26, 20, 0, 0, 0, 5 },
		{ "tor3", HOPS("tor1", "s1", "10.1.0.1", "tor3"), 26, 2, 0, 0, 2, 1, 1,
		    0, 1 },
		{ "tor3", HOPS("tor1", "s2", "10.1.1.1", "tor3"), 26, 24, 0, 0, 0, 6 },
	};
	static const struct wire_path_row second[] = {
		{ "tor1", HOPS("tor2", "s1", "10.1.0.2", "tor1"), 26, 90, 0, 88, 2, 26,
		    26, 0, 26 },
		{ "tor1", HOPS("tor2", "s2", "10.1.1.2", "tor1"), 26, 60, 0, 0, 0, 30 },
		{ "tor3", HOPS("tor2", "s1", "10.1.0.2", "tor3"), 26, 20, 0, 0, 0, 5 },
		{ "tor3", HOPS("tor2", "s2", "10.1.1.2", "tor3"), 26, 20, 0, 0, 0, 5 },
	};
	static const struct wire_path_row third[] = {
		{ "tor1", HOPS("tor3", "s1", "10.1.0.3", "tor1"), 26, 80, 0, 78, 2, 24,
		    24, 0, 24 },
		{ "tor1", HOPS("tor3", "s2", "10.1.1.3", "tor1"), 26, 60, 0, 0, 0, 28 },
		{ "tor2", HOPS("tor3", "s1", "10.1.0.3", "tor2"), 26, 20, 0, 0, 0, 5 },
		{ "tor2", HOPS("tor3", "s2", "10.1.1.3", "tor2"), 26, 20, 0, 0, 0, 5 },
	};
	static const struct wire_path_row *const paths[] = { first, second, third };
	static const size_t counts[] = { 4, 4, 4 };
	const struct rm_verdict *verdicts;
	struct rows *rows = *state;

	assert_int_equal(report_for(rows, 6, tors, paths, counts, 3, &verdicts), 1);
	assert_string_equal(verdicts[0].part.name, "s1--tor1");
	assert_int_equal(verdicts[0].kind, RM_KIND_LINK_DOWN);
}

/* Reports two rows of tor1 and two of tor3. True: s1--tor2 is named. */
static void
swallows_flows(struct rows *rows, const struct wire_path_row *first,
    const struct wire_path_row *second, int seconds)
{
	static const char *const tors[] = { "tor1", "tor3" };
	static const size_t counts[] = { 2, 2 };
	const struct wire_path_row *const paths[] = { first, second };
	const struct rm_verdict *verdicts;

	assert_int_equal(
	    report_for(rows, seconds, tors, paths, counts, 2, &verdicts), 1);
	assert_string_equal(verdicts[0].part.name, "s1--tor2");
	assert_int_equal(verdicts[0].kind, RM_KIND_FLOWS_BLACKHOLED);
}

/* A flow with one packet a second does not show whether it loses all of its packets. */
static void
flows_of_one_packet_do_not_hide_that_others_lose_all(void **state)
{
	static const struct wire_path_row first[] = {
		{ "tor2", HOPS("tor1", "s1", "10.1.0.1", "tor2"), 26, 68, 20, 0, 0, 24,
		    3, 0, 11,
		    "a/b>c/d:1 a/b>c/d:2 a/b>c/d:3 a/b>c/d:4 a/b>c/d:5 a/b>c/d:6 "
		    "a/b>c/d:7 a/b>c/d:8" },
		{ "tor2", HOPS("tor1", "s2", "10.1.1.1", "tor2"), 26, 60, 0, 0, 0, 24 },
	};
	static const struct wire_path_row second[] = {
		{ "tor2", HOPS("tor3", "s1", "10.1.0.3", "tor2"), 26, 21, 7, 0, 0, 11,
		    2, 0, 5, "a/b>c/d:1 a/b>c/d:2 a/b>c/d:3 a/b>c/d:4 a/b>c/d:5" },
		{ "tor2", HOPS("tor3", "s2", "10.1.1.3", "tor2"), 26, 20, 0, 0, 0, 11 },
	};

	swallows_flows(*state, first, second, 8);
}

/* The verdict need not wait for the RNIC's own rack: the RNIC's flows over s2 work. */
static void
flows_lost_by_only_one_spine_name_no_rnic(void **state)
{
	static const struct wire_path_row first[] = {
		{ "tor2", HOPS("tor1", "s1", "10.1.0.1", "tor2"), 26, 27, 5, 0, 4, 14,
		    2, 0, 6, "a/b>c/d:1 a/b>c/d:2 a/b>c/d:3 a/b>c/d:4 e/f>c/d:5" },
		{ "tor2", HOPS("tor1", "s2", "10.1.1.1", "tor2"), 26, 28, 0, 0, 0, 12 },
	};
	static const struct wire_path_row second[] = {
		{ "tor2", HOPS("tor3", "s1", "10.1.0.3", "tor2"), 26, 6, 0, 0, 2, 4, 1,
		    0, 1, "g/h>c/d:6" },
		{ "tor2", HOPS("tor3", "s2", "10.1.1.3", "tor2"), 26, 10, 0, 0, 0, 5 },
	};

	swallows_flows(*state, first, second, 5);
}

/* Most of the packets are of one rack, whose flows happen to be among those that are
 * lost. */
static void
a_link_that_passes_a_flow_of_another_rack_is_not_down(void **state)
{
	static const struct wire_path_row first[] = {
		{ "tor2", HOPS("tor1", "s1", "10.1.0.1", "tor2"), 26, 40, 40, 0, 0, 5,
		    5, 0, 5, "a/b>c/d:1 a/b>c/d:2 a/b>c/d:3 a/b>c/d:4 a/b>c/d:5" },
		{ "tor2", HOPS("tor1", "s2", "10.1.1.1", "tor2"), 26, 40, 0, 0, 0, 5 },
	};
	static const struct wire_path_row second[] = {
		{ "tor2", HOPS("tor3", "s1", "10.1.0.3", "tor2"), 26, 6, 4, 0, 0, 3, 2,
		    0, 2, "a/b>c/d:1 a/b>c/d:2" },
		{ "tor2", HOPS("tor3", "s2", "10.1.1.3", "tor2"), 26, 6, 0, 0, 0, 3 },
	};

	swallows_flows(*state, first, second, 8);
}

static void
a_rack_that_blames_only_its_uplinks_is_no_witness(void **state)
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
	    rows->localise, "tor1", LOCALISE_TOR_CUT_OFF, (rm_mono_t){ rows->now_ns });
	assert_int_equal(report_for(rows, 5, tors, paths, counts, 1, &verdicts), 0);
}

/* All probes of this RNIC cross one spine, so its fault looks like one of the spine's
 * link. */
static int
report_of_a_dead_rnic(struct rows *rows, int seconds)
{
	static const struct wire_path_row lossy[] = {
		{ "tor2", HOPS("tor1", "s1", "10.1.0.1", "tor2"), 26, 40, 40, 0, 0, 5,
		    5, 0, 5,
		    "h1/r0>h9/r0:1 h1/r0>h9/r0:2 h2/r0>h9/r0:1 h2/r0>h9/r0:2 "
		    "h3/r0>h9/r0:1" },
		{ "tor2", HOPS("tor1", "s2", "10.1.1.1", "tor2"), 26, 40, 0, 0, 0, 5 },
	};
	static const struct wire_path_row other[] = {
		{ "tor2", HOPS("tor3", "s1", "10.1.0.3", "tor2"), 26, 6, 4, 0, 0, 3, 2,
		    0, 2, "h4/r0>h9/r0:1 h5/r0>h9/r0:2" },
		{ "tor2", HOPS("tor3", "s2", "10.1.1.3", "tor2"), 26, 6, 0, 0, 0, 3 },
	};
	const char *const tors[] = { "tor1", "tor3" };
	const struct wire_path_row *const paths[] = { lossy, other };
	const size_t counts[] = { 2, 2 };
	const struct rm_verdict *verdicts;

	return report_for(rows, seconds, tors, paths, counts, 2, &verdicts);
}

static void
losses_to_an_rnic_named_by_its_rack_name_no_link(void **state)
{
	struct rows *rows = *state;

	localise_rack_end(rows->localise, "tor2", "rnic-down", "h9/r0");
	assert_int_equal(report_of_a_dead_rnic(rows, 8), 0);
	assert_true(localise_counts(rows->localise)->left_out > 0);
	localise_ends_none(rows->localise);
	localise_rack_end(rows->localise, "tor2", "management-down", "h9/r0");
	assert_true(report_of_a_dead_rnic(rows, 8) > 0);
}

/* If the first switch answers with the address of each host's port, one path has many
 * texts; replies still have only two paths. */
static void
replies_of_a_path_with_many_ports_count_as_one_direction(void **state)
{
	static const char *const paths[] = {
		"tor1@10.0.0.1 s1@10.1.0.1 tor2@10.2.0.1",
		"tor1@10.0.0.2 s1@10.1.0.1 tor2@10.2.0.1",
		"tor1@10.0.0.3 s1@10.1.0.1 tor2@10.2.0.1",
		"tor1@10.0.0.1 s2@10.1.0.2 tor2@10.2.0.2",
		"tor1@10.0.0.2 s2@10.1.0.2 tor2@10.2.0.2",
	};
	struct localise_map map = { 0 };
	struct localise_rack *rack;
	struct localise_path *path;

	(void)state;
	assert_int_equal(localise_map_rack(&map, "tor1", &rack), 0);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		const struct wire_path_row row = {
			.dst_tor = "tor2", .path = paths[i], .sent = 8
		};

		assert_int_equal(localise_map_path(&map, rack, &row, &path), 0);
	}
	assert_int_equal(path->pair->path_count, 5);
	assert_int_equal(localise_element_courses(path->pair), 2);
	assert_int_equal(localise_element_courses(path->pair->back), 1);
	localise_map_release(&map);
}

static void
a_failed_allocation_for_a_path_leaks_nothing(void **state)
{
	struct rows *rows = *state;
	const struct wire_path_row row = {
		.dst_tor = "tor2", .path = VIA("tor1", "10.1.0.1", "tor2"), .sent = 8
	};
	const struct wire_path_row long_row = { .dst_tor = "tor2",
		.path = "a@1 b@2 c@3 d@4 e@5 f@6 g@7 h@8 i@9 j@10 k@11 l@12 m@13 n@14",
		.sent = 8 };
	const struct rm_verdict *verdicts;

	(void)report(rows, "tor1", ++rows->seq, 0, &long_row, 1);
	for (unsigned n = 1;; n++) {
		failing_malloc_arm(n);
		(void)report(rows, "tor1", ++rows->seq, 0, &row, 1);
		if (failing_malloc_disarm())
			break;
		assert_int_equal(judge(rows, &verdicts), 0);
	}
	assert_int_equal(report(rows, "tor1", ++rows->seq, 0, &row, 1), 0);
	assert_int_equal(judge(rows, &verdicts), 0);
}

int
main(void)
{
#define ROWS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROWS_TEST(late_and_repeated_summaries_count_nothing),
		ROWS_TEST(a_verdict_on_late_reports_has_the_delay),
		ROWS_TEST(a_clock_that_is_set_back_makes_no_verdict_late),
		ROWS_TEST(a_clock_that_is_set_far_back_hides_nothing),
		ROWS_TEST(a_clock_that_is_set_back_in_the_first_seconds_hides_nothing),
		ROWS_TEST(
		    an_older_aggregators_clock_that_is_set_back_hides_nothing_for_long),
		ROWS_TEST(delayed_reports_are_also_recognized_by_the_monotonic_clock),
		ROWS_TEST(an_aggregator_that_begins_anew_makes_no_verdict_late),
		ROWS_TEST(reports_in_time_are_not_late_for_any_clock_error),
		ROWS_TEST(paths_stay_known_for_longer_if_rows_are_rare),
		ROWS_TEST(a_constant_clock_error_does_not_matter),
		ROWS_TEST(nonsense_rows_are_refused_and_counted),
		ROWS_TEST(silent_hops_behind_the_last_known_hop_do_not_change_the_path),
		ROWS_TEST(losses_of_flows_without_a_known_path_name_the_whole_path),
		ROWS_TEST(
		    packets_that_take_several_paths_blame_no_switch_for_a_dead_link),
		ROWS_TEST(
		    losses_of_one_pair_of_rnics_wait_for_the_verdicts_of_their_racks),
		ROWS_TEST(
		    of_two_cables_between_the_same_switches_the_faulty_one_is_named),
		ROWS_TEST(an_uplink_with_a_dead_direction_is_not_named_as_many_paths),
		ROWS_TEST(flows_of_one_packet_do_not_hide_that_others_lose_all),
		ROWS_TEST(flows_lost_by_only_one_spine_name_no_rnic),
		ROWS_TEST(a_link_that_passes_a_flow_of_another_rack_is_not_down),
		ROWS_TEST(a_rack_that_blames_only_its_uplinks_is_no_witness),
		ROWS_TEST(losses_to_an_rnic_named_by_its_rack_name_no_link),
		ROWS_TEST(replies_of_a_path_with_many_ports_count_as_one_direction),
		ROWS_TEST(a_failed_allocation_for_a_path_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
