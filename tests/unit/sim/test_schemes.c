#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sim/scheme_fixture.h"

/* Mostly the published parameters, for windows of 20 s. */
static const double ten_percent[SCHEME_PARAMETERS] = { 20, 0.1 };
static const double vote[SCHEME_PARAMETERS] = { 20, 0.1, 1, 1, 0.25 };
static const double seven[SCHEME_PARAMETERS] = { 20, 0.0023, 1, 0.25 };
static const double netbouncer[SCHEME_PARAMETERS] = { 20, 0.001, 0.007, 0.125 };
static const double pll[SCHEME_PARAMETERS] = { 20, 0.6, 0.001, 1, 0.25 };
static const double flock[SCHEME_PARAMETERS] = { 20, 0.0005, 0.000175, -4 };
static const double ours[SCHEME_PARAMETERS] = { 20, -2, -6, 3, 0.0015, 1 };

/* Two flows from tor1 over spine1 to other racks lose `lost` of 100 probes each; flows
 * over their other links lose none. */
static void
lossy_uplink(struct fixture *f, uint32_t lost)
{
	flow(f, "h1/r0", "h3/r0", "spine1", 100, lost);
	flow(f, "h2/r0", "h5/r0", "spine1", 100, lost);
	flow(f, "h1/r0", "h4/r0", "spine2", 100, 0);
	flow(f, "h2/r0", "h6/r0", "spine2", 100, 0);
	flow(f, "h3/r0", "h5/r0", "spine1", 100, 0);
	flow(f, "h5/r0", "h3/r0", "spine1", 100, 0);
}

static void
ten_percent_blames_both_rnics_of_a_rack_of_two(void **state)
{
	struct fixture *f = *state;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 100, 11);
	check_named(f, 2, "h1/r0", "h2/r0");
}

static void
ten_percent_means_more_than_ten_percent_within_the_rack(void **state)
{
	struct fixture *f = *state;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 100, 10);
	flow(f, "h3/r0", "h1/r0", "spine1", 100, 100);
	check_named(f, 0);
}

static void
ten_percent_counts_both_directions(void **state)
{
	struct fixture *f = *state;

	use(f, ten_percent);
	begin(f, &scheme_ten_percent);
	flow(f, "h1/r0", "h2/r0", "", 100, 2)->reverse = 9;
	check_named(f, 2, "h1/r0", "h2/r0");
}

static void
the_vote_names_the_cable_with_the_most(void **state)
{
	struct fixture *f = *state;

	use(f, vote);
	begin(f, &scheme_vote);
	lossy_uplink(f, 2);
	check_named(f, 1, "tor1--spine1");
}

static void
the_vote_leaves_out_what_a_bad_rnic_explains(void **state)
{
	struct fixture *f = *state;

	use(f, vote);
	begin(f, &scheme_vote);
	flow(f, "h1/r0", "h2/r0", "", 100, 50);
	flow(f, "h1/r0", "h3/r0", "spine1", 100, 50);
	flow(f, "h3/r0", "h5/r0", "spine2", 100, 0);
	check_named(f, 2, "h1/r0", "h2/r0");
}

static void
the_vote_needs_enough_votes(void **state)
{
	struct fixture *f = *state;

	use(f, vote);
	f->values[2] = 5;
	begin(f, &scheme_vote);
	lossy_uplink(f, 2);
	check_named(f, 0);
}

static void
in_007_a_flow_divides_one_vote(void **state)
{
	struct fixture *f = *state;

	use(f, seven);
	f->values[1] = 0.25;
	begin(f, &scheme_007);
	/* Each of the two flows gives a quarter of its vote to each link; the link that
	 * they share gets half a vote, of two in all. */
	lossy_uplink(f, 2);
	check_named(f, 1, "tor1--spine1");
}

static void
in_007_too_few_votes_blame_no_link(void **state)
{
	struct fixture *f = *state;

	use(f, seven);
	f->values[1] = 0.26;
	begin(f, &scheme_007);
	lossy_uplink(f, 2);
	check_named(f, 0);
}

static void
in_007_explained_flows_do_not_vote_any_more(void **state)
{
	struct fixture *f = *state;

	use(f, seven);
	f->values[1] = 0.1;
	begin(f, &scheme_007);
	lossy_uplink(f, 2);
	flow(f, "h1/r0", "h4/r0", "spine1", 100, 1);
	/* Each of the other two bad flows gives a quarter of a vote, of five in all. */
	flow(f, "h2/r0", "h6/r0", "spine2", 100, 1);
	flow(f, "h3/r0", "h5/r0", "spine2", 100, 1);
	check_named(f, 2, "tor1--spine1", "spine2--tor3");
}

static void
netbouncer_finds_the_lossy_link(void **state)
{
	struct fixture *f = *state;

	use(f, netbouncer);
	f->values[1] = 0.001;
	f->values[2] = 0.05;
	f->values[3] = 0.9;
	begin(f, &scheme_netbouncer);
	lossy_uplink(f, 10);
	check_named(f, 1, "tor1--spine1");
}

static void
netbouncer_names_nothing_below_its_threshold(void **state)
{
	struct fixture *f = *state;

	use(f, netbouncer);
	f->values[1] = 0.001;
	f->values[2] = 0.15;
	f->values[3] = 0.9;
	begin(f, &scheme_netbouncer);
	lossy_uplink(f, 10);
	check_named(f, 0);
}

static void
netbouncer_names_a_device_all_of_whose_paths_are_bad(void **state)
{
	struct fixture *f = *state;

	use(f, netbouncer);
	f->values[3] = 1;
	begin(f, &scheme_netbouncer);
	flow(f, "h1/r0", "h3/r0", "spine1", 100, 5)->reverse = 5;
	flow(f, "h3/r0", "h5/r0", "spine1", 100, 5)->reverse = 5;
	flow(f, "h1/r0", "h3/r0", "spine2", 100, 0);
	flow(f, "h3/r0", "h5/r0", "spine2", 100, 0);
	check_named(f, 1, "spine1");
}

static void
pll_first_names_links_that_lost_everything(void **state)
{
	struct fixture *f = *state;

	use(f, pll);
	f->values[1] = 0.9;
	begin(f, &scheme_pll);
	lossy_uplink(f, 100);
	check_named(f, 1, "tor1--spine1");
}

static void
pll_needs_the_hit_ratio_for_partial_loss(void **state)
{
	struct fixture *f = *state;

	use(f, pll);
	f->values[1] = 0.6;
	begin(f, &scheme_pll);
	lossy_uplink(f, 5);
	check_named(f, 1, "tor1--spine1");
}

static void
pll_hits_are_a_share_of_all_paths(void **state)
{
	struct fixture *f = *state;

	use(f, pll);
	f->values[1] = 0.6;
	begin(f, &scheme_pll);
	/* One of two paths is lossy, on every link that it crosses. */
	flow(f, "h1/r0", "h3/r0", "spine1", 100, 5);
	flow(f, "h1/r0", "h3/r0", "spine1", 100, 0);
	check_named(f, 0);
}

static void
flock_adds_up_the_flows_of_a_link(void **state)
{
	struct fixture *f = *state;

	use(f, flock);
	f->values[1] = 0.01;
	f->values[2] = 0.001;
	/* A flow with 2 lost and 98 answered probes gains 2 ln 10 + 98 ln (.99 / .999)
	 * = 3.72. */
	f->values[3] = -7;
	begin(f, &scheme_flock);
	lossy_uplink(f, 2);
	check_named(f, 1, "tor1--spine1");
}

static void
flock_needs_more_than_the_prior(void **state)
{
	struct fixture *f = *state;

	use(f, flock);
	f->values[1] = 0.01;
	f->values[2] = 0.001;
	f->values[3] = -7.5;
	begin(f, &scheme_flock);
	lossy_uplink(f, 2);
	check_named(f, 0);
}

static void
flock_blames_a_device_for_five_links(void **state)
{
	struct fixture *f = *state;
	static const char *const ends[] = { "h1/r0", "h3/r0", "h5/r0" };

	use(f, flock);
	f->values[1] = 0.01;
	f->values[2] = 0.001;
	f->values[3] = -7;
	begin(f, &scheme_flock);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			if (i != k)
				flow(f, ends[i], ends[k], "spine1", 100, 5)->reverse =
				    5;
	check_named(f, 1, "spine1");
}

static void
flock_blames_no_device_for_a_single_link(void **state)
{
	struct fixture *f = *state;

	use(f, flock);
	f->values[1] = 0.01;
	f->values[2] = 0.001;
	begin(f, &scheme_flock);
	/* All links and switches on the path have the same gain, so the prior
	 * decides. */
	flow(f, "h1/r0", "h3/r0", "spine1", 100, 3)->back_count = 0;
	check_named(f, 1, "h1/r0");
}

static void
ours_finds_the_direction_of_a_link(void **state)
{
	struct fixture *f = *state;

	use(f, ours);
	begin(f, &scheme_ours_flows);
	lossy_uplink(f, 10);
	check_named(f, 1, "tor1--spine1");
}

static void
ours_names_no_part_for_equal_loss_everywhere(void **state)
{
	struct fixture *f = *state;

	use(f, ours);
	begin(f, &scheme_ours_flows);
	lossy_uplink(f, 0);
	for (size_t i = 0; i < f->count; i++) {
		f->flows[i].forward = 1;
		f->flows[i].reverse = 1;
	}
	check_named(f, 0);
}

static void
a_loss_on_an_unknown_path_counts_for_both_rnics(void **state)
{
	struct fixture *f = *state;

	use(f, flock);
	f->values[1] = 0.01;
	f->values[2] = 0.001;
	f->values[3] = -7;
	begin(f, &scheme_flock);
	lossy_uplink(f, 0);
	f->flows[0].unknown = 2;
	f->flows[1].unknown = 2;
	/* Both directions of the cable explain the loss equally well; the first one is
	 * named. */
	check_named(f, 1, "tor1--spine1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ten_percent_blames_both_rnics_of_a_rack_of_two),
		TEST(ten_percent_means_more_than_ten_percent_within_the_rack),
		TEST(ten_percent_counts_both_directions),
		TEST(the_vote_names_the_cable_with_the_most),
		TEST(the_vote_leaves_out_what_a_bad_rnic_explains),
		TEST(the_vote_needs_enough_votes),
		TEST(in_007_a_flow_divides_one_vote),
		TEST(in_007_too_few_votes_blame_no_link),
		TEST(in_007_explained_flows_do_not_vote_any_more),
		TEST(netbouncer_finds_the_lossy_link),
		TEST(netbouncer_names_nothing_below_its_threshold),
		TEST(netbouncer_names_a_device_all_of_whose_paths_are_bad),
		TEST(pll_first_names_links_that_lost_everything),
		TEST(pll_needs_the_hit_ratio_for_partial_loss),
		TEST(pll_hits_are_a_share_of_all_paths),
		TEST(flock_adds_up_the_flows_of_a_link),
		TEST(flock_needs_more_than_the_prior),
		TEST(flock_blames_a_device_for_five_links),
		TEST(flock_blames_no_device_for_a_single_link),
		TEST(ours_finds_the_direction_of_a_link),
		TEST(ours_names_no_part_for_equal_loss_everywhere),
		TEST(a_loss_on_an_unknown_path_counts_for_both_rnics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
