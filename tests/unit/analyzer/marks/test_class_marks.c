#include "analyzer/marks/class_marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S RM_NS_PER_S
#define TORS 4
#define PROBES 100 /* probes of a pair in a row interval of 10 s */

struct world {
	struct class_marks *marks;
	struct wire_writer *writer;
	rm_mono_t now;
	const struct rm_verdict *verdicts;
	int count;
	/* [src][dst]: number of probes that arrive as DSCP 8 */
	uint64_t rewritten[TORS][TORS];
	size_t tors;
};

static int
setup(void **state)
{
	static struct world world;

	world = (struct world){
		.writer = wire_writer_new(), .now = { 1000 * S }, .tors = TORS
	};
	*state = &world;
	return class_marks_new(&world.marks);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	class_marks_free(w->marks);
	wire_writer_free(w->writer);
	return 0;
}

/* The report of one ToR's aggregator for one row interval. */
static void
report(struct world *w, size_t src)
{
	static const char *const names[TORS] = { "tor1", "tor2", "tor3", "tor4" };
	struct wire_row rows[TORS];
	const struct wire_summary summary = {
		.tor = names[src], .end_wall_ns = 1, .rows = rows, .row_count = w->tors
	};
	struct wire_summary_view view;
	struct wire_bytes bytes;

	for (size_t dst = 0; dst < w->tors; dst++)
		rows[dst] = (struct wire_row){ .src_tor = names[src],
			.dst_tor = names[dst],
			.dscp = 26,
			.flow_set = "all",
			.arrived = PROBES,
			.rewritten = w->rewritten[src][dst],
			.arrived_dscp = 8 };
	assert_int_equal(wire_write_summary(w->writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	class_marks_summary(w->marks, &view, w->now);
}

/* Each rack reports at its own second of ten; the analyzer judges every second. */
static void
pass(struct world *w, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		const size_t second = (size_t)(w->now.ns / S % 10);

		if (second < w->tors)
			report(w, second);
		w->count = class_marks_judge(
		    w->marks, w->now, (rm_wall_t){ w->now.ns }, &w->verdicts);
		w->now.ns += S;
	}
}

static void
expect(const struct world *w, const char *part, const char *place)
{
	assert_int_equal(w->count, 1);
	assert_string_equal(w->verdicts[0].part.name, part);
	assert_string_equal(w->verdicts[0].part.place, place);
	assert_int_equal(w->verdicts[0].part.type, RM_PART_CLASS);
	assert_int_equal(w->verdicts[0].kind, RM_KIND_CLASS_REWRITTEN);
}

static void
marks_that_arrive_as_sent_make_no_verdict(void **state)
{
	struct world *w = *state;

	w->rewritten[0][1] = 1; /* one change of a route */
	pass(w, 10);
	w->rewritten[0][1] = 0;
	pass(w, 110);
	assert_int_equal(w->count, 0);
}

static void
marks_of_all_that_leaves_a_rack_name_its_tor(void **state)
{
	struct world *w = *state;

	for (size_t dst = 1; dst < TORS; dst++)
		w->rewritten[0][dst] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-out-of-tor1", "tor1");
	assert_non_null(
	    strstr(w->verdicts[0].evidence.observed, "(8 in the last one)"));
	assert_non_null(strstr(w->verdicts[0].evidence.observed, "3 pairs of racks"));
	w->rewritten[0][0] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-from-tor1", "tor1");
}

static void
marks_of_all_that_enters_a_rack_name_its_tor(void **state)
{
	struct world *w = *state;

	for (size_t src = 0; src < TORS; src++)
		w->rewritten[src][2] = src == 2 ? 0 : PROBES;
	pass(w, 60);
	expect(w, "dscp26-into-tor3", "tor3");
}

static void
marks_inside_one_rack_name_the_rack(void **state)
{
	struct world *w = *state;

	w->rewritten[1][1] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-inside-tor2", "tor2");
}

static void
a_device_on_one_path_between_all_racks_is_reported_between_them(void **state)
{
	struct world *w = *state;

	for (size_t src = 0; src < TORS; src++)
		for (size_t dst = 0; dst < TORS; dst++)
			w->rewritten[src][dst] = src == dst ? 0 : PROBES / 2;
	pass(w, 60);
	expect(w, "dscp26-between-racks", "");
	assert_non_null(
	    strstr(w->verdicts[0].evidence.observed, ", not on every path"));
}

static void
marks_of_all_pairs_are_reported_as_everywhere(void **state)
{
	struct world *w = *state;

	for (size_t src = 0; src < TORS; src++)
		for (size_t dst = 0; dst < TORS; dst++)
			w->rewritten[src][dst] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-everywhere", "");
}

static void
marks_in_one_direction_between_two_racks_name_the_pair(void **state)
{
	struct world *w = *state;

	w->tors = 2;
	w->rewritten[0][1] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-tor1->tor2", "");
}

/* Racks report at different seconds: before all have reported, the location would be
 * wrong. */
static void
nothing_is_reported_before_all_pairs_have_reported(void **state)
{
	struct world *w = *state;
	int reported = 0;

	pass(w, 60);
	for (size_t src = 0; src < TORS; src++)
		w->rewritten[src][2] = src == 2 ? 0 : PROBES;
	for (int i = 0; i < 60; i++) {
		pass(w, 1);
		if (w->count == 0)
			continue;
		reported = reported == 0 ? i : reported;
		expect(w, "dscp26-into-tor3", "tor3");
	}
	assert_in_range(reported, 25, 50);
}

static void
a_verdict_ends_when_marks_arrive_as_sent_and_not_when_none_arrive(void **state)
{
	struct world *w = *state;
	struct rm_verdict was;

	for (size_t dst = 1; dst < TORS; dst++)
		w->rewritten[0][dst] = PROBES;
	pass(w, 60);
	expect(w, "dscp26-out-of-tor1", "tor1");
	was = w->verdicts[0];
	memset(w->rewritten, 0, sizeof(w->rewritten));
	pass(w, 120);
	assert_int_equal(w->count, 0);
	assert_int_equal(class_marks_health(w->marks, &was), RM_HEALTH_GOOD);
	w->tors = 0; /* no rack reports */
	pass(w, 80);
	assert_int_equal(w->count, 0);
	assert_int_equal(class_marks_health(w->marks, &was), RM_HEALTH_UNKNOWN);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(marks_that_arrive_as_sent_make_no_verdict),
		TEST(marks_of_all_that_leaves_a_rack_name_its_tor),
		TEST(marks_of_all_that_enters_a_rack_name_its_tor),
		TEST(marks_inside_one_rack_name_the_rack),
		TEST(a_device_on_one_path_between_all_racks_is_reported_between_them),
		TEST(marks_of_all_pairs_are_reported_as_everywhere),
		TEST(marks_in_one_direction_between_two_racks_name_the_pair),
		TEST(nothing_is_reported_before_all_pairs_have_reported),
		TEST(a_verdict_ends_when_marks_arrive_as_sent_and_not_when_none_arrive),
	};

	return cmocka_run_group_tests_name("class_marks", tests, NULL, NULL);
}
