#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/score.h"

#define S INT64_C(1000000000)
#define RUN (300 * S)

struct fixture {
	struct clos *clos;
	struct score *score;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	if (f == NULL || score_new(&f->score) < 0)
		return -1;
	*state = f;
	return clos_new(&(struct clos_options){ .tiers = 2,
			    .racks = 2,
			    .middle = 2,
			    .rnics_per_rack = 4,
			    .rnics_per_host = 2 },
	    &f->clos);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	score_free(f->score);
	clos_free(f->clos);
	free(f);
	return 0;
}

static uint32_t
part(const struct fixture *f, const char *name)
{
	const uint32_t found = clos_find(f->clos, name);

	assert_int_not_equal(found, CLOS_NONE);
	return found;
}

static struct truth
fault(const struct fixture *f, const char *name, int64_t from, int64_t to)
{
	return (struct truth){ .part = part(f, name),
		.kind = "down",
		.loss = 1,
		.from_ns = from,
		.to_ns = to,
		.counts = true };
}

static struct scheme_named
named(const struct fixture *f, const char *name)
{
	return (struct scheme_named){
		.part = part(f, name), .other = CLOS_NONE, .confidence = 1
	};
}

static void
report(struct fixture *f, int64_t now, const struct scheme_named *n)
{
	assert_int_equal(score_report(f->score, now, n, n != NULL), 0);
}

static void
check(const struct fixture *f, enum score_class class, uint64_t truths, uint64_t found,
    uint64_t reported, uint64_t wrong)
{
	const struct score_row row = score_row(f->score, class);

	assert_int_equal(row.truths, truths);
	assert_int_equal(row.found, found);
	assert_int_equal(row.named, reported);
	assert_int_equal(row.wrong, wrong);
}

/* One run with one fault; the scheme names one part at 10 s. */
static void
run(struct fixture *f, struct truth truth, struct scheme_named n)
{
	assert_int_equal(score_begin(f->score, f->clos, &truth, 1), 0);
	report(f, 10 * S, &n);
	assert_int_equal(score_end(f->score, RUN), 0);
}

static void
a_named_faulty_part_is_right(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "h1/r0", 5 * S, SCORE_FOREVER), named(f, "h1/r0"));
	check(f, SCORE_RNICS, 1, 1, 1, 0);
	assert_true(score_seconds(f->score, "down", .5) == 5);
	assert_true(score_seconds(f->score, "lossy", .5) < 0);
	assert_true(score_row(f->score, SCORE_RNICS).f1 == 1);
}

static void
a_named_part_without_a_fault_is_false(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "h1/r0", 5 * S, SCORE_FOREVER), named(f, "h1/r1"));
	check(f, SCORE_RNICS, 1, 0, 1, 1);
	assert_true(score_row(f->score, SCORE_RNICS).f1 == 0);
}

static void
check_kinds(struct fixture *f, const char *is, const char *called, uint64_t wrong)
{
	struct truth truth = fault(f, "spine1", 5 * S, SCORE_FOREVER);
	struct scheme_named n = named(f, "spine1");
	const uint64_t before = score_row(f->score, SCORE_DEVICES).kinds_wrong;

	truth.kind = is;
	n.kind = "switch-down"; /* the kind that is named first */
	assert_int_equal(score_begin(f->score, f->clos, &truth, 1), 0);
	report(f, 10 * S, &n);
	n.kind = called;
	report(f, 11 * S, &n);
	assert_int_equal(score_end(f->score, RUN), 0);
	assert_int_equal(
	    score_row(f->score, SCORE_DEVICES).kinds_wrong - before, wrong);
}

static void
a_part_that_only_delays_must_be_called_late_in_the_end(void **state)
{
	struct fixture *f = *state;

	check_kinds(f, "latency", "switch-late", 0);
	check_kinds(f, "latency", "switch-down", 1);
	check_kinds(f, "switch-lossy", "switch-lossy", 0);
	check_kinds(f, "switch-lossy", "switch-late", 1);
	check_kinds(f, "switch-lossy", "flows-blackholed", 1);
	check_kinds(f, "flows-blackholed", "flows-blackholed", 0);
	check_kinds(f, "latency", NULL, 0); /* a scheme that names no kind */
}

static void
check_class(struct fixture *f, int is, int called, uint64_t wrong)
{
	struct truth truth = fault(f, "spine1", 5 * S, SCORE_FOREVER);
	struct scheme_named n = named(f, "spine1");
	const uint64_t before = score_row(f->score, SCORE_DEVICES).kinds_wrong;

	truth.kind = n.kind = "switch-lossy";
	truth.one_class = is >= 0;
	truth.dscp = is >= 0 ? (uint8_t)is : 0;
	n.one_class = called >= 0;
	n.dscp = called >= 0 ? (uint8_t)called : 0;
	run(f, truth, n);
	assert_int_equal(
	    score_row(f->score, SCORE_DEVICES).kinds_wrong - before, wrong);
}

static void
a_part_that_loses_one_class_must_be_called_so_in_the_end(void **state)
{
	struct fixture *f = *state;

	check_class(f, 26, 26, 0);
	check_class(f, 0, 0, 0);
	check_class(f, 26, -1, 1);
	check_class(f, 0, 26, 1);
	check_class(f, -1, 26, 1);
}

static void
any_of_three_named_switches_may_be_right(void **state)
{
	struct fixture *f = *state;
	struct scheme_named n = named(f, "tor1");

	n.other = part(f, "tor2");
	n.third = part(f, "spine1");
	run(f, fault(f, "spine1", 5 * S, SCORE_FOREVER), n);
	check(f, SCORE_DEVICES, 1, 1, 1, 0);
	assert_int_equal(score_row(f->score, SCORE_DEVICES).either, 1);
	run(f, fault(f, "spine2", 5 * S, SCORE_FOREVER), n);
	check(f, SCORE_DEVICES, 2, 1, 2, 1);
}

static void
naming_a_part_before_its_fault_is_false(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "h1/r0", 11 * S, SCORE_FOREVER), named(f, "h1/r0"));
	check(f, SCORE_RNICS, 1, 0, 1, 1);
}

static void
naming_a_part_is_right_within_the_afterglow_and_not_later(void **state)
{
	struct fixture *f = *state;
	const struct truth truth = fault(f, "h1/r0", 0, 5 * S);
	const struct scheme_named n = named(f, "h1/r0");

	assert_int_equal(score_begin(f->score, f->clos, &truth, 1), 0);
	report(f, 5 * S + SCORE_AFTERGLOW_NS, &n);
	report(f, 6 * S + SCORE_AFTERGLOW_NS, NULL);
	report(f, 7 * S + SCORE_AFTERGLOW_NS, &n);
	assert_int_equal(score_end(f->score, RUN), 0);
	check(f, SCORE_RNICS, 1, 1, 2, 1);
}

static void
a_link_is_right_if_one_of_its_ends_is_at_fault_but_does_not_find_it(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "spine1", 0, SCORE_FOREVER), named(f, "spine1--tor1"));
	check(f, SCORE_LINKS, 0, 0, 1, 0);
	check(f, SCORE_LINKS_DIRECTED, 0, 0, 1, 0);
	check(f, SCORE_DEVICES, 1, 0, 0, 0);
}

static void
naming_a_switch_for_its_faulty_link_is_false(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "spine1--tor1", 0, SCORE_FOREVER), named(f, "spine1"));
	check(f, SCORE_DEVICES, 0, 0, 1, 1);
	check(f, SCORE_LINKS, 1, 0, 0, 0);
}

static struct truth
dead_cable(const struct fixture *f, const char *name)
{
	struct truth truth = fault(f, name, 5 * S, SCORE_FOREVER);

	truth.both_directions = true;
	return truth;
}

static void
a_switch_counts_for_its_dead_cables_if_no_path_crosses_it(void **state)
{
	struct fixture *f = *state;

	run(f, dead_cable(f, "tor1--spine1"), named(f, "spine1"));
	check(f, SCORE_DEVICES, 0, 0, 1, 0);
	check(f, SCORE_LINKS, 1, 1, 0, 0);
	check(f, SCORE_LINKS_DIRECTED, 2, 2, 0, 0);
}

static void
a_tor_with_a_working_uplink_does_not_count_for_its_dead_cable(void **state)
{
	struct fixture *f = *state;

	run(f, dead_cable(f, "tor1--spine1"), named(f, "tor1"));
	check(f, SCORE_DEVICES, 0, 0, 1, 1);
	check(f, SCORE_LINKS, 1, 0, 0, 0);
}

static void
a_dead_switch_counts_for_its_dead_cables(void **state)
{
	struct fixture *f = *state;
	const struct truth truths[] = { dead_cable(f, "tor1--spine1"),
		fault(f, "tor1", 6 * S, SCORE_FOREVER) };
	const struct scheme_named n = named(f, "tor1");

	assert_int_equal(score_begin(f->score, f->clos, truths, 2), 0);
	report(f, 10 * S, &n);
	assert_int_equal(score_end(f->score, RUN), 0);
	check(f, SCORE_DEVICES, 1, 1, 1, 0);
	check(f, SCORE_LINKS, 1, 1, 0, 0);
}

static void
the_wrong_direction_is_only_the_right_cable(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "tor1--spine1", 0, SCORE_FOREVER), named(f, "spine1--tor1"));
	check(f, SCORE_LINKS, 1, 1, 1, 0);
	check(f, SCORE_LINKS_DIRECTED, 1, 0, 1, 1);
}

static void
both_directions_are_two_directions_and_one_cable(void **state)
{
	struct fixture *f = *state;
	struct truth truth = fault(f, "tor1--spine1", 0, SCORE_FOREVER);
	struct scheme_named n = named(f, "spine1--tor1");

	truth.both_directions = true;
	n.both_directions = true;
	run(f, truth, n);
	check(f, SCORE_LINKS, 1, 1, 1, 0);
	check(f, SCORE_LINKS_DIRECTED, 2, 2, 2, 0);
}

static void
two_named_directions_are_one_opening_of_the_cable(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named n[] = { named(f, "spine1--tor1"),
		named(f, "tor1--spine1") };

	assert_int_equal(score_begin(f->score, f->clos, NULL, 0), 0);
	assert_int_equal(score_report(f->score, S, n, 2), 0);
	assert_int_equal(score_end(f->score, RUN), 0);
	check(f, SCORE_LINKS, 0, 0, 1, 1);
	check(f, SCORE_LINKS_DIRECTED, 0, 0, 2, 2);
}

static void
an_rnic_is_right_and_found_by_its_cable_and_the_cable_by_it(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "h1/r0--tor1", 0, SCORE_FOREVER), named(f, "h1/r0"));
	check(f, SCORE_RNICS, 0, 0, 1, 0);
	check(f, SCORE_LINKS, 1, 1, 0, 0);
	run(f, fault(f, "h1/r0", 0, SCORE_FOREVER), named(f, "tor1--h1/r0"));
	check(f, SCORE_RNICS, 1, 1, 1, 0);
	check(f, SCORE_LINKS, 1, 1, 1, 0);
}

static void
an_rnic_is_right_if_its_host_is_at_fault_but_does_not_find_the_host(void **state)
{
	struct fixture *f = *state;

	run(f, fault(f, "h1", 0, SCORE_FOREVER), named(f, "h1/r1"));
	check(f, SCORE_RNICS, 0, 0, 1, 0);
	check(f, SCORE_HOSTS, 1, 0, 0, 0);
	run(f, fault(f, "h1/r1", 0, SCORE_FOREVER), named(f, "h1"));
	check(f, SCORE_HOSTS, 1, 0, 1, 1);
}

static void
a_or_b_is_right_if_one_of_them_is_at_fault(void **state)
{
	struct fixture *f = *state;
	struct scheme_named n = named(f, "h1/r0");

	n.other = part(f, "h1/r1");
	run(f, fault(f, "h1/r1", 0, SCORE_FOREVER), n);
	check(f, SCORE_RNICS, 1, 1, 1, 0);
	assert_int_equal(score_row(f->score, SCORE_RNICS).either, 1);
	run(f, fault(f, "h2/r1", 0, SCORE_FOREVER), n);
	check(f, SCORE_RNICS, 2, 1, 2, 1);
}

static void
a_stall_need_not_be_found_and_only_its_host_may_be_named(void **state)
{
	struct fixture *f = *state;
	struct truth stall = fault(f, "h1", 0, SCORE_FOREVER);

	stall.counts = false;
	run(f, stall, named(f, "h1"));
	check(f, SCORE_HOSTS, 0, 0, 1, 0);
	run(f, stall, named(f, "h1/r0"));
	check(f, SCORE_RNICS, 0, 0, 1, 1);
	run(f, stall, named(f, "h1/r0--tor1"));
	check(f, SCORE_LINKS, 0, 0, 1, 1);
}

static void
a_part_that_stays_named_is_one_opening(void **state)
{
	struct fixture *f = *state;
	const struct scheme_named n = named(f, "h1/r0");

	assert_int_equal(score_begin(f->score, f->clos, NULL, 0), 0);
	for (int i = 1; i < 10; i++)
		report(f, i * S, &n);
	report(f, 10 * S, NULL);
	report(f, 11 * S, &n);
	assert_int_equal(score_end(f->score, RUN), 0);
	check(f, SCORE_RNICS, 0, 0, 2, 2);
}

static void
openings_are_counted_per_run(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++)
		run(f, fault(f, "h1/r0", 0, SCORE_FOREVER), named(f, "h1/r1"));
	check(f, SCORE_RNICS, 3, 0, 3, 3);
}

static void
confidence_is_compared_with_the_share_of_right_openings(void **state)
{
	struct fixture *f = *state;
	struct scheme_named n = named(f, "h1/r0");
	uint64_t reported[10], right[10];

	n.confidence = 0.85;
	run(f, fault(f, "h1/r0", 0, SCORE_FOREVER), n);
	run(f, fault(f, "h1/r1", 0, SCORE_FOREVER), n);
	n.confidence = 1;
	run(f, fault(f, "h1/r0", 0, SCORE_FOREVER), n);
	score_reliability(f->score, reported, right);
	assert_int_equal(reported[8], 2);
	assert_int_equal(right[8], 1);
	assert_int_equal(reported[9], 1);
	assert_int_equal(right[9], 1);
}

static void
times_to_verdict_have_quantiles(void **state)
{
	struct fixture *f = *state;

	for (int64_t i = 1; i <= 10; i++)
		run(f, fault(f, "h1/r0", (10 - i) * S, SCORE_FOREVER),
		    named(f, "h1/r0"));
	assert_true(score_seconds(f->score, NULL, .5) == 5);
	assert_true(score_seconds(f->score, NULL, .9) == 9);
	assert_true(score_seconds(f->score, NULL, 1) == 10);
	assert_true(score_seconds(f->score, NULL, 0) == 1);
}

static void
errors_are_reported_as_text(void **state)
{
	struct fixture *f = *state;
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	run(f, fault(f, "tor1--spine1", 5 * S, SCORE_FOREVER), named(f, "h1/r1"));
	score_print_errors(f->score, out);
	fclose(out);
	assert_string_equal(text,
	    "10.0 s: h1/r1 was named and is not at fault\n"
	    "5.0 s: tor1 -> spine1 (down, loss 1) was never named, until 300.0 s\n");
}

static void
scores_add_up_also_through_a_pipe(void **state)
{
	struct fixture *f = *state;
	struct score *sum = NULL, *there = NULL;
	FILE *pipe = tmpfile();

	assert_non_null(pipe);
	run(f, fault(f, "h1/r0", 5 * S, SCORE_FOREVER), named(f, "h1/r0"));
	run(f, fault(f, "h1/r0", 5 * S, SCORE_FOREVER), named(f, "h1/r1"));
	assert_int_equal(score_save(f->score, pipe), 0);
	rewind(pipe);
	assert_int_equal(score_load(pipe, &there), 0);
	assert_int_equal(score_load(pipe, &sum), -EIO);
	fclose(pipe);
	assert_int_equal(score_add(f->score, there), 0);
	score_free(there);
	check(f, SCORE_RNICS, 4, 2, 4, 2);
	assert_true(score_seconds(f->score, NULL, 1) == 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_named_faulty_part_is_right),
		TEST(a_named_part_without_a_fault_is_false),
		TEST(a_part_that_only_delays_must_be_called_late_in_the_end),
		TEST(a_part_that_loses_one_class_must_be_called_so_in_the_end),
		TEST(any_of_three_named_switches_may_be_right),
		TEST(naming_a_part_before_its_fault_is_false),
		TEST(naming_a_part_is_right_within_the_afterglow_and_not_later),
		TEST(
		    a_link_is_right_if_one_of_its_ends_is_at_fault_but_does_not_find_it),
		TEST(naming_a_switch_for_its_faulty_link_is_false),
		TEST(a_switch_counts_for_its_dead_cables_if_no_path_crosses_it),
		TEST(a_tor_with_a_working_uplink_does_not_count_for_its_dead_cable),
		TEST(a_dead_switch_counts_for_its_dead_cables),
		TEST(the_wrong_direction_is_only_the_right_cable),
		TEST(both_directions_are_two_directions_and_one_cable),
		TEST(two_named_directions_are_one_opening_of_the_cable),
		TEST(an_rnic_is_right_and_found_by_its_cable_and_the_cable_by_it),
		TEST(
		    an_rnic_is_right_if_its_host_is_at_fault_but_does_not_find_the_host),
		TEST(a_or_b_is_right_if_one_of_them_is_at_fault),
		TEST(a_stall_need_not_be_found_and_only_its_host_may_be_named),
		TEST(a_part_that_stays_named_is_one_opening),
		TEST(openings_are_counted_per_run),
		TEST(confidence_is_compared_with_the_share_of_right_openings),
		TEST(times_to_verdict_have_quantiles),
		TEST(errors_are_reported_as_text),
		TEST(scores_add_up_also_through_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
