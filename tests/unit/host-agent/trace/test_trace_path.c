#include "host-agent/trace/trace_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define S RM_NS_PER_S

/* One letter per hop, '.' for a hop without an answer. A '|' at the end: complete. */
static struct trace_hops
hops(const char *text)
{
	struct trace_hops ret = { .count = 0 };

	for (; *text != 0 && *text != '|'; text++, ret.count++) {
		if (*text != '.')
			ret.at[ret.count][0] = (uint8_t)*text;
	}
	ret.complete = *text == '|';
	return ret;
}

static enum trace_status
take(struct trace_path *path, const char *text, int64_t second)
{
	struct trace_hops found = hops(text);

	return trace_path_take(path, &found, (rm_mono_t){ second * S });
}

static void
expect(const struct trace_path *path, const char *text, int64_t traced)
{
	struct trace_hops want = hops(text);

	assert_int_equal(path->good.count, want.count);
	assert_int_equal(path->good.complete, want.complete);
	assert_memory_equal(path->good.at, want.at, sizeof(want.at));
	assert_int_equal(path->traced.ns, traced * S);
}

static void
the_first_trace_is_the_path(void **state)
{
	struct trace_path path = { 0 };

	assert_int_equal(take(&path, "", 1), TRACE_LESS);
	assert_int_equal(take(&path, "...|", 2), TRACE_LESS);
	assert_int_equal(path.good.count, 0);
	assert_int_equal(take(&path, "abc|", 3), TRACE_NEWS);
	expect(&path, "abc|", 3);
	assert_int_equal(take(&path, "abc|", 4), TRACE_SAME);
	expect(&path, "abc|", 4);
	assert_false(trace_path_has_gaps(&path));
}

static void
a_black_hole_erases_nothing(void **state)
{
	struct trace_path path = { 0 };

	take(&path, "abc|", 1);
	assert_int_equal(take(&path, "ab.|", 2), TRACE_LESS);
	assert_int_equal(take(&path, "ab", 3), TRACE_LESS);
	assert_int_equal(take(&path, "", 4), TRACE_LESS);
	assert_int_equal(take(&path, "...|", 5), TRACE_LESS);
	/* The packet was lost on another path, whose end is not known. */
	assert_int_equal(take(&path, "ax.|", 6), TRACE_LESS_ODD);
	assert_int_equal(take(&path, "ax.|", 7), TRACE_LESS_ODD);
	expect(&path, "abc|", 1);
}

static void
switches_that_answer_now_and_then_are_put_together(void **state)
{
	struct trace_path path = { 0 };

	assert_int_equal(take(&path, "a.c|", 1), TRACE_NEWS);
	assert_true(trace_path_has_gaps(&path));
	assert_int_equal(take(&path, "..c|", 2), TRACE_SAME);
	assert_int_equal(take(&path, ".b.|", 3), TRACE_NEWS);
	expect(&path, "abc|", 2);
	assert_int_equal(take(&path, "a.c|", 4), TRACE_SAME);
	expect(&path, "abc|", 4);
}

static void
an_end_once_known_stays_known(void **state)
{
	struct trace_path path = { 0 };

	assert_int_equal(take(&path, "ab", 1), TRACE_NEWS);
	assert_true(trace_path_has_gaps(&path));
	assert_int_equal(take(&path, "abc", 2), TRACE_NEWS);
	expect(&path, "abc", 2);
	assert_int_equal(take(&path, "abc.|", 3), TRACE_NEWS);
	expect(&path, "abc.|", 2);
	assert_int_equal(take(&path, "abc", 4), TRACE_SAME);
	expect(&path, "abc.|", 4);
}

static void
a_path_has_moved_when_two_traces_in_a_row_agree(void **state)
{
	struct trace_path path = { 0 };

	take(&path, "abc|", 1);
	assert_int_equal(take(&path, "axc|", 2), TRACE_ODD);
	expect(&path, "abc|", 1);
	/* One odd trace is ignored. */
	assert_int_equal(take(&path, "abc|", 3), TRACE_SAME);
	assert_int_equal(take(&path, "axc|", 4), TRACE_ODD);
	/* This trace fits both paths. */
	assert_int_equal(take(&path, "a.c|", 5), TRACE_LESS);
	/* The flag is incomplete, see below. */
	assert_int_equal(take(&path, "axyc|", 6), TRACE_NEWS);
	assert_int_equal(take(&path, "axyc|", 7), TRACE_NEWS);
	expect(&path, "axyc|", 7);
}

static void
a_single_move_is_no_multipath(void **state)
{
	struct trace_path path = { 0 };

	take(&path, "abc|", 1);
	take(&path, "axc|", 2);
	assert_int_equal(take(&path, "axc|", 3), TRACE_NEWS);
	for (int i = 4; i < 9; i++)
		assert_int_equal(take(&path, "axc|", i), TRACE_SAME);
	assert_false(path.multipath);
	assert_int_equal(path.move_count, 1);
}

static void
traces_that_keep_disagreeing_are_multipath_until_they_agree(void **state)
{
	static const char *const paths[] = { "abc|", "axc|", "ayc|", "azc|", "awc|" };
	struct trace_path path = { 0 };
	int second;

	for (second = 0; second < 4; second++)
		take(&path, paths[second], second);
	assert_false(path.multipath);
	assert_int_equal(take(&path, paths[4], second), TRACE_NEWS);
	assert_true(path.multipath);
	expect(&path, "abc|", 0); /* the last path that is certain */
	assert_int_equal(take(&path, "abc|", 600), TRACE_SAME);
	assert_true(path.multipath);
	assert_int_equal(take(&path, "abc|", 605), TRACE_NEWS);
	assert_false(path.multipath);
}

static void
packets_sprayed_over_two_paths_are_multipath(void **state)
{
	struct trace_path path = { 0 };

	for (int i = 0; i < 6; i++)
		take(&path, i % 2 == 0 ? "abc|" : "axc|", 30 * i);
	assert_true(path.multipath);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_trace_is_the_path),
		cmocka_unit_test(a_black_hole_erases_nothing),
		cmocka_unit_test(switches_that_answer_now_and_then_are_put_together),
		cmocka_unit_test(an_end_once_known_stays_known),
		cmocka_unit_test(a_path_has_moved_when_two_traces_in_a_row_agree),
		cmocka_unit_test(a_single_move_is_no_multipath),
		cmocka_unit_test(
		    traces_that_keep_disagreeing_are_multipath_until_they_agree),
		cmocka_unit_test(packets_sprayed_over_two_paths_are_multipath),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
