#include "analyzer/paths/localise_ends.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char others[LOCALISE_SAMPLES_BYTES];

static int
release(void **state)
{
	localise_ends_release(*state);
	return 0;
}

static int
setup(void **state)
{
	static struct localise_ends ends;

	*state = &ends;
	return localise_ends_add(&ends, "h9/r0");
}

/* A row with 12 of 40 probes lost, of some flows. */
static struct wire_path_row
row_with(const char *samples)
{
	return (struct wire_path_row){ .dst_tor = "tor2",
		.sent = 40,
		.lost_forward = 4,
		.lost_unknown = 8,
		.flows = 10,
		.flows_dead = 3,
		.flows_silent = 3,
		.samples = samples };
}

static void
losses_to_a_bad_rnic_are_left_out(void **state)
{
	struct wire_path_row row =
	    row_with("h1/r0>h9/r0:49153 h2/r0>h9/r0:49154 h3/r0>h9/r0:49155");

	assert_int_equal(localise_ends_leave_out(*state, &row, others), 12);
	assert_int_equal(row.sent, 28);
	assert_int_equal(row.lost_forward + row.lost_reverse + row.lost_unknown, 0);
	assert_int_equal(row.flows, 7);
	assert_int_equal(row.flows_dead + row.flows_silent + row.flows_partial, 0);
	assert_string_equal(row.samples, "");
}

static void
of_flows_to_other_rnics_the_share_stays(void **state)
{
	struct wire_path_row row =
	    row_with("h1/r0>h9/r0:49153 h2/r0>h8/r0:49154 h3/r0>h9/r1:49155");

	assert_int_equal(localise_ends_leave_out(*state, &row, others), 5);
	assert_int_equal(row.sent, 35);
	assert_int_equal(row.lost_forward, 2);
	assert_int_equal(row.lost_unknown, 5);
	assert_int_equal(row.flows, 9);
	assert_int_equal(row.flows_dead, 2);
	assert_int_equal(row.flows_silent, 2);
	assert_string_equal(row.samples, "h2/r0>h8/r0:49154 h3/r0>h9/r1:49155");
}

/* The number of flows with losses is at most the number of flows. */
static void
flows_that_lost_only_some_probes_are_left_out_too(void **state)
{
	struct wire_path_row row =
	    row_with("h1/r0>h9/r0:1 h1/r0>h9/r0:2 h3/r0>h8/r0:3");

	row.flows = 3;
	row.flows_dead = row.flows_silent = 1;
	row.flows_partial = 2;
	assert_int_equal(localise_ends_leave_out(*state, &row, others), 9);
	assert_int_equal(row.flows, 1);
	assert_int_equal(row.flows_dead, 0);
	assert_int_equal(row.flows_silent, 0);
	assert_int_equal(row.flows_partial, 1);
}

static void
nothing_is_left_out_of_a_row_to_good_rnics(void **state)
{
	static const char *const samples[] = { "", "h9/r0>h8/r0:49153",
		"h1/r0>h99/r0:49153", "h1/r0>h9/r00:49153", "h1/r0>h9/r0",
		"h9/r0:49153", ">", "h1/r0>h9:1", ">:/", "h1/r0>h9" };

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		struct wire_path_row row = row_with(samples[i]);

		assert_int_equal(localise_ends_leave_out(*state, &row, others), 0);
		assert_int_equal(row.sent, 40);
		assert_ptr_equal(row.samples, samples[i]);
	}
}

static void
a_bad_host_makes_all_its_rnics_bad_until_it_is_good(void **state)
{
	struct wire_path_row row = row_with("h1/r0>h7/r3:49153");

	assert_int_equal(localise_ends_add(*state, "h7"), 0);
	assert_int_equal(localise_ends_leave_out(*state, &row, others), 12);
	localise_ends_clear(*state);
	row = row_with("h1/r0>h7/r3:49153");
	assert_int_equal(localise_ends_leave_out(*state, &row, others), 0);
}

/* The rack may have named its RNICs because of a fault of the ToR or of a link. */
static void
nothing_is_left_out_where_most_of_a_rack_is_bad(void **state)
{
	struct localise_ends *ends = *state;
	struct wire_path_row row = row_with("h1/r0>h9/r0:49153");

	ends->rnics = 4;
	assert_int_equal(localise_ends_add(ends, "h8/r0"), 0);
	assert_int_equal(localise_ends_leave_out(ends, &row, others), 12);
	assert_int_equal(localise_ends_add(ends, "h7/r0"), 0);
	row = row_with("h1/r0>h9/r0:49153");
	assert_int_equal(localise_ends_leave_out(ends, &row, others), 0);
}

static void
more_bad_rnics_than_fit_are_refused(void **state)
{
	struct localise_ends *ends = *state;
	char name[2 * LOCALISE_END_BYTES];

	for (int i = 0; ends->count < LOCALISE_MAX_ENDS; i++) {
		snprintf(name, sizeof name, "h%d/r1", i);
		assert_int_equal(localise_ends_add(ends, name), 0);
		assert_int_equal(localise_ends_add(ends, name), 0);
	}
	assert_int_equal(localise_ends_add(ends, "h1/r2"), -ENOBUFS);
	localise_ends_clear(ends);
	assert_int_equal(localise_ends_add(ends, "h1/r2"), 0);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(localise_ends_add(ends, name), -ENOBUFS);
	assert_int_equal(localise_ends_add(ends, ""), -ENOBUFS);
}

/* There are more samples than a row may have: only the first ones are used. */
static void
a_text_of_too_many_samples_is_cut(void **state)
{
	static char endless[4 * LOCALISE_SAMPLES_BYTES];
	struct wire_path_row row;

	for (size_t len = 0; len + 40 < sizeof endless;)
		len += (size_t)snprintf(
		    endless + len, 40, "h1/r0>h9/r0:1  h1/r0>h8/r0:%zu ", len);
	row = row_with(endless);
	assert_int_equal(localise_ends_leave_out(*state, &row, others), 6);
	assert_true(strlen(row.samples) < 400);
	assert_int_equal(row.flows, 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, release)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(losses_to_a_bad_rnic_are_left_out),
		TEST(of_flows_to_other_rnics_the_share_stays),
		TEST(flows_that_lost_only_some_probes_are_left_out_too),
		TEST(nothing_is_left_out_of_a_row_to_good_rnics),
		TEST(a_bad_host_makes_all_its_rnics_bad_until_it_is_good),
		TEST(nothing_is_left_out_where_most_of_a_rack_is_bad),
		TEST(more_bad_rnics_than_fit_are_refused),
		TEST(a_text_of_too_many_samples_is_cut),
	};

	return cmocka_run_group_tests_name("localise_ends", tests, NULL, NULL);
}
