#include "tests/sim/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/scenario.h"

#define S INT64_C(1000000000)

static struct scenario *
parse(const char *text)
{
	struct scenario *scenario = NULL;
	struct rm_error error = { 0 };

	if (scenario_parse("s.yaml", text, strlen(text), &scenario, &error) < 0)
		fail_msg("%s", error.text);
	return scenario;
}

static void
refused(const char *text, const char *expected)
{
	struct scenario *scenario = NULL;
	struct rm_error error = { 0 };

	assert_true(
	    scenario_parse("s.yaml", text, strlen(text), &scenario, &error) < 0);
	assert_null(scenario);
	if (strstr(error.text, expected) == NULL)
		fail_msg("expected \"%s\" in \"%s\"", expected, error.text);
}

/* Two RNICs fail at second 1. The scheme names h1/r0 at second 3, and h3/r0 wrongly. */
static int
setup(void **state)
{
	static const char *const names[] = { "h1/r0", "h2/r0", "h3/r0" };
	struct truth truths[2];
	struct scheme_named named[2];
	struct clos *clos = NULL;
	struct score *score = NULL;
	int r = score_new(&score);

	if (r == 0)
		r = clos_new(&(struct clos_options){ .tiers = 2,
				 .racks = 1,
				 .middle = 1,
				 .rnics_per_rack = 4,
				 .rnics_per_host = 1 },
		    &clos);
	for (size_t i = 0; i < 2 && r == 0; i++) {
		truths[i] = (struct truth){ .part = clos_find(clos, names[i]),
			.kind = "rnic-down",
			.loss = 1,
			.from_ns = S,
			.to_ns = SCORE_FOREVER,
			.counts = true };
		named[i] = (struct scheme_named){ .part = clos_find(clos, names[2 * i]),
			.other = CLOS_NONE,
			.confidence = 1 };
	}
	if (r == 0)
		r = score_begin(score, clos, truths, 2);
	if (r == 0)
		r = score_report(score, 3 * S, named, 2);
	if (r == 0)
		r = score_end(score, 9 * S);
	clos_free(clos);
	*state = score;
	return r;
}

static int
teardown(void **state)
{
	score_free(*state);
	return 0;
}

static bool
holds(const struct score *score, const char *marks)
{
	char text[200];
	struct scenario *scenario;
	double reached;
	bool ret;

	snprintf(text, sizeof text, "name: a\nmarks: { %s }\n", marks);
	scenario = parse(text);
	assert_int_equal(scenario->marks.count, 1);
	ret = mark_holds(&scenario->marks.of[0], score, &reached);
	scenario_free(scenario);
	return ret;
}

static void
a_mark_holds_at_its_limit_and_not_beyond(void **state)
{
	assert_true(holds(*state, "rnics: { recall: 0.5 }"));
	assert_false(holds(*state, "rnics: { recall: 0.51 }"));
	assert_true(holds(*state, "rnics: { precision: 0.5 }"));
	assert_false(holds(*state, "rnics: { precision: 0.51 }"));
	assert_true(holds(*state, "rnics: { f1: 0.5 }"));
	assert_false(holds(*state, "rnics: { f1: 0.51 }"));
	assert_true(holds(*state, "rnics: { wrong: 1 }"));
	assert_false(holds(*state, "rnics: { wrong: 0 }"));
	assert_true(holds(*state, "rnics: { named: 2 }"));
	assert_false(holds(*state, "rnics: { named: 1 }"));
	assert_true(holds(*state, "seconds: { p99: 2 }"));
	assert_false(holds(*state, "seconds: { p50: 1.9 }"));
}

static void
a_mark_without_a_measurement_does_not_hold(void **state)
{
	struct score *empty;

	assert_false(holds(*state, "links: { recall: 0 }"));
	assert_false(holds(*state, "devices: { f1: 0 }"));
	assert_true(holds(*state, "devices: { wrong: 0 }"));
	assert_int_equal(score_new(&empty), 0);
	assert_false(holds(empty, "seconds: { p90: 100 }"));
	score_free(empty);
}

static void
each_error_names_its_place_and_mark(void **state)
{
	refused("name: a\nmarks: [1]\n", "s.yaml:2:8: marks: expected a map");
	refused("name: a\nmarks: { nics: { recall: 1 } }\n",
	    "s.yaml:2:10: marks has no option nics; it has rnics, hosts, links, ");
	refused("name: a\nmarks: { rnics: 1 }\n", "s.yaml:2:17: rnics: expected a map");
	refused("name: a\nmarks: { rnics: { p99: 1 } }\n",
	    "s.yaml:2:19: rnics has no option p99; it has recall, ");
	refused("name: a\nmarks: { rnics: { recall: 2 } }\n",
	    "s.yaml:2:27: recall: expected 0 to 1, not 2");
	refused("name: a\nmarks: { rnics: { wrong: 0.5 } }\n",
	    "s.yaml:2:26: wrong: expected a whole number");
	refused("name: a\nmarks: { rnics: { recall: { of: [0, 1] } } }\n",
	    "s.yaml:2:27: recall: expected a plain number");
}

static void
each_mark_is_a_line_and_a_testcase(void **state)
{
	struct scenario *scenario =
	    parse("name: a\nmarks: { rnics: { wrong: 0 }, seconds: { p99: 2 } }\n");
	struct marks_count count = { 0 };
	char *lines = NULL, *report = NULL;
	size_t lines_len, report_len;
	FILE *out = open_memstream(&lines, &lines_len);
	FILE *junit = open_memstream(&report, &report_len);

	assert_int_equal(
	    marks_report(&scenario->marks, "a", *state, out, junit, &count), 0);
	fclose(out);
	fclose(junit);
	assert_int_equal(count.held, 1);
	assert_int_equal(count.failed, 1);
	assert_non_null(strstr(lines, "FAILS: rnics wrong 1, at most 0\n"));
	assert_non_null(strstr(lines, "holds: seconds p99 2, at most 2\n"));
	assert_string_equal(report,
	    "<testcase classname=\"sim.a\" name=\"rnics wrong\">"
	    "<failure message=\"1, not at most 0\"/></testcase>\n"
	    "<testcase classname=\"sim.a\" name=\"seconds p99\"></testcase>\n");
	free(lines);
	free(report);
	scenario_free(scenario);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_holds_at_its_limit_and_not_beyond),
		cmocka_unit_test(a_mark_without_a_measurement_does_not_hold),
		cmocka_unit_test(each_error_names_its_place_and_mark),
		cmocka_unit_test(each_mark_is_a_line_and_a_testcase),
	};

	return cmocka_run_group_tests_name("marks", tests, setup, teardown);
}
