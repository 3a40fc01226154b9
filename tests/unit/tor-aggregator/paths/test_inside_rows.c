#include "tor-aggregator/paths/inside_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

#define MEMBERS 4
#define MOST 8   /* members of a larger rack */
#define SENT 100 /* probes of each flow in a second */

struct world {
	struct plan_fixture *plan;
	struct roster *roster;
	struct inside_rows *rows;
	struct flow_second second;
	bool witnesses[MOST];
};

/* A rack of so many RNICs. */
static void
use_rack(struct world *w, size_t members, size_t rnics_per_host)
{
	static const char *const hosts[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	static const char *const devices[] = { "r0", "r1" };

	for (size_t i = 0; i < members; i++) {
		w->plan->members[i] =
		    fixture_rnic(0x100 + i, hosts[i / rnics_per_host], "t1");
		w->plan->members[i].device = devices[i % rnics_per_host];
	}
	fixture_plan(w->plan, w->plan->view.plan.version + 1, members, 0);
	assert_true(roster_plan(w->roster, &w->plan->view) >= 0);
	assert_int_equal(roster_members(w->roster), members);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	w->plan = calloc(1, sizeof(*w->plan));
	assert_int_equal(roster_new("t1", &w->roster), 0);
	use_rack(w, MEMBERS, 1);
	memset(w->witnesses, true, sizeof(w->witnesses));
	flow_counts_init(&w->second.flows, 128);
	flow_counts_init(&w->second.inside, 128);
	return inside_rows_new(&w->rows);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	flow_second_release(&w->second);
	inside_rows_free(w->rows);
	roster_free(w->roster);
	fixture_free(w->plan);
	free(w);
	return 0;
}

typedef uint32_t losses(uint32_t src, uint32_t dst);

static uint32_t
nothing(uint32_t src, uint32_t dst)
{
	(void)src;
	(void)dst;
	return 0;
}

static uint32_t
ten_of_each(uint32_t src, uint32_t dst)
{
	(void)src;
	(void)dst;
	return 10;
}

static uint32_t
twenty_of_member_1(uint32_t src, uint32_t dst)
{
	return src == 1 || dst == 1 ? 20 : 0;
}

/* A second in which each member probes each other one, and another rack. lost_out: of
 * SENT probes of each member to the other rack. */
static void
pass_second(struct world *w, losses *lost, const uint32_t lost_out[MOST])
{
	const uint32_t members = (uint32_t)roster_members(w->roster);

	flow_second_clear(&w->second);
	for (uint32_t src = 0; src < members; src++) {
		struct flow_count *flow = flow_counts_get(
		    &w->second.flows, src, WINDOW_REMOTE_BASE, 50000, 26);

		flow->sent = SENT;
		flow->lost = lost_out[src];
		for (uint32_t dst = 0; dst < members; dst++) {
			if (dst == src)
				continue;
			flow = flow_counts_get(&w->second.inside, src, dst, 50000, 26);
			flow->sent = SENT;
			flow->lost = lost(src, dst);
		}
	}
	inside_rows_add(w->rows, &w->second, w->witnesses, w->roster);
}

/* The row of the last second. */
static struct wire_path_row
take(struct world *w)
{
	const struct wire_path_row *rows;

	if (inside_rows_take(w->rows, &rows) == 0)
		return (struct wire_path_row){ 0 };
	assert_int_equal(rows->dscp, 26);
	assert_string_equal(rows->dst_tor, "");
	assert_string_equal(rows->path, "");
	return *rows;
}

static const uint32_t none[MOST] = { 0 }, similar[MOST] = { 10, 8 },
		      one[MOST] = { 0, 20 };

static void
without_losses_all_probes_count(void **state)
{
	struct world *w = *state;
	struct wire_path_row row;

	pass_second(w, nothing, none);
	row = take(w);
	assert_int_equal(row.sent, MEMBERS * (MEMBERS - 1) * SENT);
	assert_int_equal(row.flows, MEMBERS * (MEMBERS - 1));
	assert_int_equal(row.lost_unknown, 0);
}

static void
losses_of_a_single_member_do_not_count(void **state)
{
	struct world *w = *state;
	struct wire_path_row row;

	for (int i = 0; i < 3; i++) {
		pass_second(w, twenty_of_member_1, one);
		row = take(w);
		assert_int_equal(row.lost_unknown, 0);
	}
	/* the flows among the other three */
	assert_int_equal(row.sent, 3 * 2 * SENT);
}

static void
losses_of_all_members_count_from_the_second_second_on(void **state)
{
	struct world *w = *state;
	struct wire_path_row row;

	pass_second(w, ten_of_each, none);
	assert_int_equal(take(w).sent, 0);
	pass_second(w, ten_of_each, none);
	row = take(w);
	/* without the member that lost most before: all are equal, so any one */
	assert_int_equal(row.sent, 3 * 2 * SENT);
	assert_int_equal(row.lost_unknown, 3 * 2 * 10);
	assert_int_equal(row.flows_partial, 3 * 2);
	assert_int_equal(row.flows_silent, 0);
}

static void
flows_of_members_that_are_no_witnesses_are_left_out(void **state)
{
	struct world *w = *state;

	w->witnesses[1] = false;
	pass_second(w, twenty_of_member_1, one);
	assert_int_equal(take(w).lost_unknown, 0);
	pass_second(w, ten_of_each, none);
	pass_second(w, ten_of_each, none);
	/* a row is of all seconds since the last one was taken */
	assert_int_equal(take(w).sent, 2 * 1 * SENT);
}

static uint32_t
twenty_of_members_0_and_1(uint32_t src, uint32_t dst)
{
	return src <= 1 || dst <= 1 ? 20 : 0;
}

static void
losses_of_both_rnics_of_a_host_do_not_count(void **state)
{
	struct world *w = *state;
	struct wire_path_row row = { 0 };

	use_rack(w, 4, 2);
	for (int i = 0; i < 3; i++) {
		pass_second(w, twenty_of_members_0_and_1, none);
		row = take(w);
		assert_int_equal(row.lost_unknown, 0);
	}
	assert_int_equal(row.sent, 2 * 1 * SENT);
}

static void
losses_of_two_members_of_a_larger_rack_do_not_count(void **state)
{
	struct world *w = *state;
	struct wire_path_row row = { 0 };

	use_rack(w, MOST, 1);
	for (int i = 0; i < 3; i++) {
		pass_second(w, twenty_of_members_0_and_1, none);
		row = take(w);
		assert_int_equal(row.lost_unknown, 0);
	}
	assert_int_equal(row.sent, 6 * 5 * SENT);
}

static void
rows_of_several_seconds_have_no_more_lossy_flows_than_flows(void **state)
{
	struct world *w = *state;
	struct wire_path_row row;

	for (int i = 0; i < 5; i++)
		pass_second(w, ten_of_each, none);
	row = take(w);
	assert_int_equal(row.lost_unknown, 4 * 3 * 2 * 10);
	assert_int_equal(row.flows, 3 * 2);
	assert_int_equal(row.flows_partial, 3 * 2);
}

static void
two_members_of_one_host_do_not_count(void **state)
{
	struct world *w = *state;

	use_rack(w, 2, 2);
	pass_second(w, ten_of_each, similar);
	pass_second(w, ten_of_each, similar);
	assert_int_equal(take(w).sent, 0);
}

static void
two_members_count_if_both_lose_a_similar_share_of_other_probes(void **state)
{
	struct world *w = *state;

	use_rack(w, 2, 1);
	pass_second(w, ten_of_each, similar);
	pass_second(w, ten_of_each, similar);
	assert_int_equal(take(w).lost_unknown, 2 * 10);
}

static void
members_of_two_hosts_count_if_both_hosts_lose_a_similar_share_of_other_probes(
    void **state)
{
	static const uint32_t all_similar[MOST] = { 10, 8, 9, 12 };
	struct world *w = *state;

	use_rack(w, 4, 2);
	pass_second(w, ten_of_each, all_similar);
	pass_second(w, ten_of_each, all_similar);
	assert_int_equal(take(w).lost_unknown, 4 * 3 * 10);
}

static void
a_host_of_two_does_not_count_if_it_loses_most_other_probes(void **state)
{
	static const uint32_t first_host[MOST] = { 20, 20, 1, 2 };
	struct world *w = *state;

	use_rack(w, 4, 2);
	pass_second(w, twenty_of_members_0_and_1, first_host);
	pass_second(w, twenty_of_members_0_and_1, first_host);
	assert_int_equal(take(w).lost_unknown, 0);
}

static void
two_members_do_not_count_if_one_of_them_loses_other_probes(void **state)
{
	struct world *w = *state;

	use_rack(w, 2, 1);
	pass_second(w, ten_of_each, one);
	pass_second(w, ten_of_each, one);
	assert_int_equal(take(w).sent, 0);
}

int
main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_losses_all_probes_count),
		TEST(losses_of_a_single_member_do_not_count),
		TEST(losses_of_all_members_count_from_the_second_second_on),
		TEST(flows_of_members_that_are_no_witnesses_are_left_out),
		TEST(losses_of_both_rnics_of_a_host_do_not_count),
		TEST(losses_of_two_members_of_a_larger_rack_do_not_count),
		TEST(rows_of_several_seconds_have_no_more_lossy_flows_than_flows),
		TEST(two_members_of_one_host_do_not_count),
		TEST(two_members_count_if_both_lose_a_similar_share_of_other_probes),
		TEST(
		    members_of_two_hosts_count_if_both_hosts_lose_a_similar_share_of_other_probes),
		TEST(a_host_of_two_does_not_count_if_it_loses_most_other_probes),
		TEST(two_members_do_not_count_if_one_of_them_loses_other_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
