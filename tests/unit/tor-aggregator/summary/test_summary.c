#include "tor-aggregator/summary/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/metrics/sketch.h"
#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/window/roster.h"

#define S RM_NS_PER_S
#define WALL INT64_C(1700000000000000000)

struct world {
	struct roster *roster;
	struct plan_fixture *plan;
	struct summary *summary;
	rm_mono_t now;
};

static int
setup(void **state)
{
	const struct summary_options options = { 10 * S, 60 * S };
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	world->plan = calloc(1, sizeof(*world->plan));
	fixture_plan(world->plan, 1, 4, 2);
	if (roster_new("t1", &world->roster) < 0)
		return -1;
	roster_plan(world->roster, &world->plan->view);
	return summary_new(&options, world->now, (rm_wall_t){ WALL }, &world->summary);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	summary_free(world->summary);
	roster_free(world->roster);
	fixture_free(world->plan);
	free(world);
	return 0;
}

static void
add(struct world *world, uint8_t outcome, uint32_t rtt_ns, uint16_t flow, int count)
{
	const struct wire_result result = { .outcome = outcome,
		.dscp = 26,
		.rtt_ns = rtt_ns,
		.prober_delay_ns = 10,
		.responder_delay_ns = 20,
		.src_port = flow,
		.flags = outcome == WIRE_OK ? WIRE_SPLIT : 0 };

	for (int i = 0; i < count; i++)
		summary_add(world->summary, &result, 0, 0);
}

static bool
take(struct world *world, int64_t after_ns, struct wire_summary *ret)
{
	world->now.ns += after_ns;
	return summary_take(world->summary, world->roster, world->now,
	    (rm_wall_t){ WALL + world->now.ns }, ret);
}

static void
healthy_rows_wait_for_their_time_and_add_up(void **state)
{
	struct world *world = *state;
	struct wire_summary out;
	struct rm_sketch *sketch = rm_sketch_new();

	add(world, WIRE_OK, 1000000, 1, 50);
	summary_check(world->summary);
	assert_false(take(world, 9 * S, &out));
	add(world, WIRE_OK, 2000000, 1, 50);
	assert_true(take(world, 1 * S, &out));
	assert_int_equal(out.row_count, 1);
	assert_string_equal(out.rows[0].src_tor, "t1");
	assert_string_equal(out.rows[0].dst_tor, "t1");
	assert_string_equal(out.rows[0].flow_set, "all");
	assert_false(out.rows[0].bad);
	assert_int_equal(out.rows[0].sent, 100);
	assert_int_equal(out.start_wall_ns, WALL);
	assert_int_equal(out.end_wall_ns, WALL + 10 * S);
	assert_int_equal(out.end_ns, 10 * S);
	assert_int_equal(
	    rm_sketch_decode(sketch, out.rows[0].rtt.data, out.rows[0].rtt.len), 0);
	assert_int_equal(rm_sketch_count(sketch), 100);
	assert_in_range(rm_sketch_quantile_ns(sketch, 0.99), 1980000, 2020000);
	assert_false(take(world, 0, &out));
	add(world, WIRE_OK, 1, 1, 7);
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].sent, 7);
	rm_sketch_free(sketch);
}

/* In the history, the points of a rack differ by their time only. */
static void
no_two_messages_end_at_the_same_time(void **state)
{
	struct world *world = *state;
	struct wire_summary first, second;

	add(world, WIRE_OK, 1000, 1, 50);
	assert_true(take(world, 60 * S, &first));
	assert_true(take(world, 0, &second));
	assert_int_not_equal(first.rnic_count > 0, second.rnic_count > 0);
	assert_int_equal(first.end_wall_ns, WALL + 60 * S);
	assert_int_equal(second.end_wall_ns, first.end_wall_ns + 1);
	assert_false(take(world, 0, &first));
}

static void
a_row_that_turns_bad_goes_at_once_with_its_flows(void **state)
{
	struct world *world = *state;
	struct wire_summary out;

	add(world, WIRE_OK, 1000, 1, 50);
	add(world, WIRE_NO_REPLY, 0, 50001, 4);
	add(world, WIRE_NO_REPLY, 0, 50007, 2);
	summary_directions(world->summary, 0, 4, 1);
	summary_check(world->summary);
	assert_true(take(world, 1 * S, &out));
	assert_int_equal(out.row_count, 1);
	assert_true(out.rows[0].bad);
	assert_string_equal(out.rows[0].flow_set, "50001,50007");
	assert_int_equal(out.rows[0].sent, 56);
	assert_int_equal(out.rows[0].lost_forward, 4);
	assert_int_equal(out.rows[0].lost_reverse, 1);
	assert_int_equal(out.rows[0].lost_unknown, 1);
	assert_false(summary_sent_all(world->summary));
	/* Rows that stay bad are sent once early; after that at the regular time. */
	add(world, WIRE_NO_REPLY, 0, 50001, 5);
	summary_check(world->summary);
	assert_false(take(world, 1 * S, &out));
	assert_true(take(world, 8 * S, &out));
	assert_true(out.rows[0].bad);
	assert_int_equal(out.rows[0].sent, 5);
	assert_true(summary_sent_all(world->summary));
}

static void
single_losses_are_not_bad(void **state)
{
	struct world *world = *state;
	struct wire_summary out;

	add(world, WIRE_OK, 1000, 1, 1000);
	add(world, WIRE_NO_REPLY, 0, 1, 2);
	summary_check(world->summary);
	assert_false(take(world, 1 * S, &out));
	add(world, WIRE_OK, 1000, 1, 1000);
	add(world, WIRE_NO_REPLY, 0, 1, 9); /* three losses or more, but below 1 % */
	summary_check(world->summary);
	assert_false(take(world, 1 * S, &out));
}

static void
more_directions_than_losses_are_never_claimed(void **state)
{
	struct world *world = *state;
	struct wire_summary out;

	add(world, WIRE_OK, 1000, 1, 1000);
	add(world, WIRE_NO_REPLY, 0, 1, 2);
	summary_directions(world->summary, 0, 10, 10);
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].lost_forward, 2);
	assert_int_equal(out.rows[0].lost_reverse, 0);
	assert_int_equal(out.rows[0].lost_unknown, 0);
}

static void
rnic_rows_are_sent_every_minute_and_at_once_when_bad(void **state)
{
	struct world *world = *state;
	struct wire_summary out;
	bool seen = false;

	add(world, WIRE_OK, 1000000, 1, 100);
	summary_mark_rnic(world->summary, 0, true);
	assert_true(take(world, 1 * S, &out));
	assert_int_equal(out.rnic_count, 1);
	assert_true(out.rnics[0].bad);
	assert_string_equal(out.rnics[0].host, "h0");
	assert_int_equal(out.rnics[0].sent, 100);
	assert_in_range(out.rnics[0].rtt_ns[WIRE_P99], 990000, 1010000);
	assert_int_equal(out.rnics[0].rtt_ns[WIRE_MAX], 1000000);
	summary_mark_rnic(world->summary, 0, true);
	assert_false(take(world, 1 * S, &out));
	assert_int_equal(summary_rnic_last(world->summary, 0)->sent, 100);
	world->now.ns += 58 * S;
	while (take(world, 0, &out))
		seen = seen || out.rnic_count == 1;
	assert_true(seen);
}

/* Adds probes that arrived with this DSCP and these ECN bits. */
static void
arrive(struct world *world, uint8_t dscp, uint8_t ecn, int count)
{
	const struct wire_result result = { .outcome = WIRE_OK,
		.dscp = 26,
		.arrived_dscp = dscp,
		.arrived_ecn = ecn,
		.flags = WIRE_ARRIVAL };

	for (int i = 0; i < count; i++)
		summary_add(world->summary, &result, 0, 0);
}

static void
marks_are_counted_as_probes_arrive(void **state)
{
	struct world *world = *state;
	struct wire_summary out;

	add(world, WIRE_OK, 1000, 1, 7); /* a result without DSCP and ECN of arrival */
	arrive(world, 26, 2, 50);
	arrive(world, 26, 3, 5);
	arrive(world, 8, 1, 30);
	arrive(world, 0, 0, 10);
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].sent, 102);
	assert_int_equal(out.rows[0].arrived, 95);
	assert_int_equal(out.rows[0].congested, 5);
	assert_int_equal(out.rows[0].rewritten, 40);
	assert_int_equal(out.rows[0].arrived_dscp, 0);
	arrive(world, 26, 2, 1);
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].arrived, 1);
	assert_int_equal(out.rows[0].rewritten + out.rows[0].congested, 0);
	/* Rows that were removed still count in the sum; a packet without ECT cannot be
	 * marked. */
	assert_int_equal(summary_marks(world->summary).markable, 86);
	assert_int_equal(summary_marks(world->summary).marked, 5);
}

static void
arrive_with_ttl(struct world *world, uint8_t ttl, int count)
{
	const struct wire_result result = {
		.outcome = WIRE_OK, .arrived_ttl = ttl, .flags = WIRE_ARRIVAL
	};

	for (int i = 0; i < count; i++)
		summary_add(world->summary, &result, 0, 0);
}

static void
hops_are_summed_by_the_ttl_of_arriving_probes(void **state)
{
	struct world *world = *state;
	struct wire_summary out;

	arrive_with_ttl(world, 252, 10);
	arrive_with_ttl(world, 250, 2);
	arrive_with_ttl(world, 61, 4); /* of Soft-RoCE */
	arrive_with_ttl(world, 0, 7);  /* not known */
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].arrived, 23);
	assert_int_equal(out.rows[0].hops_known, 16);
	assert_int_equal(out.rows[0].hops, 3 * 14 + 5 * 2);
	assert_int_equal(out.rows[0].hops_least, 3);
	assert_int_equal(out.rows[0].hops_most, 5);
	arrive_with_ttl(world, 251, 1);
	assert_true(take(world, 10 * S, &out));
	assert_int_equal(out.rows[0].hops, 4);
	assert_int_equal(out.rows[0].hops_least, 4);
	assert_int_equal(out.rows[0].hops_most, 4);
}

static void
a_rack_without_results_sends_empty_summaries(void **state)
{
	struct wire_summary out;

	assert_true(take(*state, 10 * S, &out));
	assert_int_equal(out.row_count, 0);
	assert_string_equal(out.tor, "t1");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(healthy_rows_wait_for_their_time_and_add_up),
		TEST(no_two_messages_end_at_the_same_time),
		TEST(a_row_that_turns_bad_goes_at_once_with_its_flows),
		TEST(single_losses_are_not_bad),
		TEST(more_directions_than_losses_are_never_claimed),
		TEST(rnic_rows_are_sent_every_minute_and_at_once_when_bad),
		TEST(marks_are_counted_as_probes_arrive),
		TEST(hops_are_summed_by_the_ttl_of_arriving_probes),
		TEST(a_rack_without_results_sends_empty_summaries),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
