#include "tor-aggregator/mesh/rack_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/window/roster.h"

#define S RM_NS_PER_S
#define START (9000 * S) /* the start of a slice of the hour */

struct world {
	struct roster *roster;
	struct plan_fixture *plan;
	struct rack_mesh *mesh;
	rm_mono_t now;
};

static void
replan(struct world *world, uint64_t version, size_t members)
{
	fixture_plan(world->plan, version, members, 0);
	assert_true(roster_plan(world->roster, &world->plan->view) >= 0);
	rack_mesh_renumber(world->mesh, world->roster);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	world->now.ns = START;
	world->plan = calloc(1, sizeof(*world->plan));
	fixture_plan(world->plan, 1, 4, 1);
	if (roster_new("t1", &world->roster) < 0 ||
	    roster_plan(world->roster, &world->plan->view) < 0 ||
	    rack_mesh_new(world->now, &world->mesh) < 0)
		return -1;
	rack_mesh_renumber(world->mesh, world->roster);
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rack_mesh_free(world->mesh);
	roster_free(world->roster);
	fixture_free(world->plan);
	free(world);
	return 0;
}

static void
add(struct world *world, uint32_t src, uint32_t dst, uint8_t outcome, uint32_t rtt_ns)
{
	const struct wire_result result = { .outcome = outcome,
		.rtt_ns = rtt_ns,
		.flags = outcome == WIRE_OK && rtt_ns != 0 ? WIRE_SPLIT : 0 };

	rack_mesh_add(world->mesh, world->now, &result, src, dst);
}

static void
go_to(struct world *world, int64_t seconds)
{
	world->now.ns = START + seconds * S;
	rack_mesh_tick(world->mesh, world->now);
}

static size_t
rows_of(const struct world *world, enum mesh_period period)
{
	struct mesh_row row;
	size_t at = 0, count = 0;

	while (rack_mesh_next(world->mesh, period, &at, &row))
		count++;
	return count;
}

/* Returns false if the pair has no row. */
static bool
find(const struct world *world, enum mesh_period period, uint32_t src, uint32_t dst,
    struct mesh_row *ret)
{
	size_t at = 0;

	while (rack_mesh_next(world->mesh, period, &at, ret))
		if (ret->src == src && ret->dst == dst)
			return true;
	return false;
}

static void
each_class_counts_in_its_pair_and_direction_only(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	add(world, 0, 1, WIRE_OK, 5000);
	add(world, 0, 1, WIRE_NO_REPLY, 0);
	add(world, 0, 1, WIRE_NO_REPLY, 0);
	add(world, 0, 1, WIRE_LATE_REPLY, 0);
	add(world, 0, 1, WIRE_SEND_FAILED, 0);
	add(world, 0, 1, WIRE_SENT_LATE, 0);
	add(world, 0, 1, WIRE_SELF_LOSS, 0);
	rack_mesh_directions(world->mesh, 0, 1, 2, 0);
	add(world, 1, 0, WIRE_OK, 0);
	for (int period = 0; period < MESH_PERIODS; period++) {
		assert_int_equal(rows_of(world, period), 2);
		assert_true(find(world, period, 0, 1, &row));
		assert_int_equal(row.counts[MESH_SENT], 5);
		assert_int_equal(row.counts[MESH_OK], 1);
		assert_int_equal(row.counts[MESH_NO_REPLY], 2);
		assert_int_equal(row.counts[MESH_LATE_REPLY], 1);
		assert_int_equal(row.counts[MESH_NOT_SENT], 2);
		assert_int_equal(row.counts[MESH_LOST_FORWARD], 2);
		assert_int_equal(row.counts[MESH_LOST_REVERSE], 0);
		assert_int_equal(row.seen.ns, START);
		assert_true(find(world, period, 1, 0, &row));
		assert_int_equal(row.counts[MESH_SENT], 1);
		assert_int_equal(row.counts[MESH_NO_REPLY], 0);
		assert_int_equal(row.rtt_ns[MESH_P50], 0);
	}
}

/* The losses of an earlier time are not in the row any more, but their directions were
 * known later and still are. */
static void
a_row_never_has_more_directions_than_losses(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	add(world, 0, 1, WIRE_NO_REPLY, 0);
	add(world, 0, 1, WIRE_NO_REPLY, 0);
	rack_mesh_directions(world->mesh, 0, 1, 3, 4);
	assert_true(find(world, MESH_MINUTE, 0, 1, &row));
	assert_int_equal(row.counts[MESH_LOST_FORWARD], 2);
	assert_int_equal(row.counts[MESH_LOST_REVERSE], 0);
	add(world, 0, 1, WIRE_NO_REPLY, 0);
	add(world, 0, 1, WIRE_NO_REPLY, 0);
	assert_true(find(world, MESH_MINUTE, 0, 1, &row));
	assert_int_equal(row.counts[MESH_LOST_FORWARD], 3);
	assert_int_equal(row.counts[MESH_LOST_REVERSE], 1);
}

static void
probes_out_of_the_rack_or_of_services_have_no_row(void **state)
{
	struct world *world = *state;
	const struct wire_result service = { .kind = WIRE_SERVICE };

	rack_mesh_add(world->mesh, world->now, &service, 0, 1);
	add(world, 0, 0x10000, WIRE_OK, 5000);
	add(world, 0, 4, WIRE_OK, 5000);
	assert_int_equal(rows_of(world, MESH_HOUR), 0);
	assert_int_equal(*rack_mesh_refused(world->mesh), 0);
}

static void
a_minute_forgets_what_the_hour_still_has(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	add(world, 0, 1, WIRE_NO_REPLY, 0);
	go_to(world, 30);
	add(world, 0, 1, WIRE_OK, 5000);
	go_to(world, 69);
	assert_true(find(world, MESH_MINUTE, 0, 1, &row));
	assert_int_equal(row.counts[MESH_SENT], 2);
	go_to(world, 70);
	assert_true(find(world, MESH_MINUTE, 0, 1, &row));
	assert_int_equal(row.counts[MESH_SENT], 1);
	assert_int_equal(row.counts[MESH_NO_REPLY], 0);
	go_to(world, 100);
	assert_false(find(world, MESH_MINUTE, 0, 1, &row));
	assert_true(find(world, MESH_HOUR, 0, 1, &row));
	assert_int_equal(row.counts[MESH_SENT], 2);
	assert_int_equal(row.counts[MESH_NO_REPLY], 1);
	assert_int_equal(row.seen.ns, START + 30 * S);
}

static void
an_hour_forgets_in_its_turn(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	add(world, 0, 1, WIRE_NO_REPLY, 0);
	go_to(world, 900);
	add(world, 0, 1, WIRE_OK, 5000);
	go_to(world, 5 * 900 - 1);
	assert_true(find(world, MESH_HOUR, 0, 1, &row));
	assert_int_equal(row.counts[MESH_SENT], 2);
	go_to(world, 5 * 900);
	assert_true(find(world, MESH_HOUR, 0, 1, &row));
	assert_int_equal(row.counts[MESH_SENT], 1);
	go_to(world, 6 * 900);
	assert_int_equal(rows_of(world, MESH_HOUR), 0);
}

static void
a_long_stall_leaves_nothing_old(void **state)
{
	struct world *world = *state;

	add(world, 0, 1, WIRE_OK, 5000);
	go_to(world, 1000);
	assert_int_equal(rows_of(world, MESH_MINUTE), 0);
	assert_int_equal(rows_of(world, MESH_HOUR), 1);
	go_to(world, 100000);
	assert_int_equal(rows_of(world, MESH_HOUR), 0);
}

static void
a_period_reports_the_time_that_it_covers(void **state)
{
	struct world *world = *state;

	go_to(world, 5);
	assert_int_equal(
	    rack_mesh_covered_ns(world->mesh, MESH_MINUTE, world->now), 5 * S);
	go_to(world, 95);
	assert_int_equal(
	    rack_mesh_covered_ns(world->mesh, MESH_MINUTE, world->now), 65 * S);
	assert_int_equal(
	    rack_mesh_covered_ns(world->mesh, MESH_HOUR, world->now), 95 * S);
	go_to(world, 20 * 900 + 7);
	assert_int_equal(rack_mesh_covered_ns(world->mesh, MESH_HOUR, world->now),
	    (4 * 900 + 7) * S);
}

static void
expect_about(uint32_t seen_ns, uint32_t true_ns)
{
	assert_true(seen_ns >= true_ns * (1 - MESH_RTT_ERROR));
	assert_true(seen_ns <= true_ns * (1 + MESH_RTT_ERROR));
}

static void
percentiles_are_within_the_stated_error(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	for (uint32_t base_ns = 1024; base_ns < 600000; base_ns += base_ns / 7) {
		go_to(world, world->now.ns / S - START / S + 70);
		for (uint32_t i = 1; i <= 100; i++)
			add(world, 2, 3, WIRE_OK, base_ns * i);
		assert_true(find(world, MESH_MINUTE, 2, 3, &row));
		expect_about(row.rtt_ns[MESH_P50], base_ns * 50);
		expect_about(row.rtt_ns[MESH_P95], base_ns * 95);
		expect_about(row.rtt_ns[MESH_P99], base_ns * 99);
	}
}

static void
many_results_in_one_slice_keep_their_percentiles(void **state)
{
	struct world *world = *state;
	struct mesh_row row;

	for (int turn = 1; turn <= 4; turn++) {
		for (int i = 0; i < 98000; i++)
			add(world, 0, 1, WIRE_OK, 5000);
		for (int i = 0; i < 2000; i++)
			add(world, 0, 1, WIRE_OK, 80000);
		go_to(world, 10 * turn);
	}
	for (int period = 0; period < MESH_PERIODS; period++) {
		assert_true(find(world, period, 0, 1, &row));
		assert_int_equal(row.counts[MESH_OK], 400000);
		expect_about(row.rtt_ns[MESH_P50], 5000);
		expect_about(row.rtt_ns[MESH_P95], 5000);
		expect_about(row.rtt_ns[MESH_P99], 80000);
	}
}

/* Member 1 is replaced by another RNIC: members with higher numbers keep their results.
 */
static void
a_replaced_rnic_leaves_no_pairs(void **state)
{
	struct world *world = *state;
	const struct roster_rnic *moved;
	struct mesh_row row;
	struct wire_rnic_id id = roster_member(world->roster, 3)->id;
	size_t at = 0;

	add(world, 0, 1, WIRE_NO_REPLY, 0);
	add(world, 1, 0, WIRE_NO_REPLY, 0);
	add(world, 0, 3, WIRE_OK, 5000);
	world->plan->members[1].id.guid = 0x777;
	replan(world, 2, 4);
	moved = roster_find(world->roster, id);
	assert_true(rack_mesh_next(world->mesh, MESH_HOUR, &at, &row));
	assert_int_equal(row.src, 0);
	assert_int_equal(row.dst, moved->index);
	assert_int_equal(row.counts[MESH_OK], 1);
	assert_false(rack_mesh_next(world->mesh, MESH_HOUR, &at, &row));
}

/* 257 RNICs have 65,792 pairs. */
static void
pairs_beyond_the_bound_are_refused_and_counted(void **state)
{
	struct world *world = *state;
	const struct wire_rnic more = fixture_rnic(0x999, "h256", "t1");
	const size_t bound = MESH_MAX_PAIRS;

	replan(world, 2, 256);
	for (uint32_t src = 0; src < 256; src++)
		for (uint32_t dst = 0; dst < 256; dst++)
			add(world, src, dst, WIRE_OK, 5000);
	assert_int_equal(rows_of(world, MESH_MINUTE), bound);
	assert_int_equal(*rack_mesh_refused(world->mesh), 0);
	assert_int_equal(roster_register(world->roster, &more), 0);
	rack_mesh_renumber(world->mesh, world->roster);
	add(world, 0, 256, WIRE_OK, 5000);
	add(world, 256, 0, WIRE_OK, 5000);
	assert_int_equal(rows_of(world, MESH_MINUTE), bound);
	assert_int_equal(*rack_mesh_refused(world->mesh), 2);
}

/* All 65,280 pairs have results in every slice of the hour; a real rotation has fewer.
 */
static void
a_large_rack_stays_within_its_memory(void **state)
{
	struct world *world = *state;

	replan(world, 2, 256);
	for (int64_t at = 0; at <= 4 * 900; at += 900) {
		go_to(world, at);
		for (uint32_t src = 0; src < 256; src++)
			for (uint32_t dst = 0; dst < 256; dst++)
				if (src != dst)
					add(world, src, dst, WIRE_OK, 5000);
	}
	go_to(world, 4 * 900 + 10);
	print_message("65,280 pairs: %zu bytes\n", rack_mesh_bytes(world->mesh));
	assert_true(rack_mesh_bytes(world->mesh) < 80u << 20);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_class_counts_in_its_pair_and_direction_only),
		TEST(a_row_never_has_more_directions_than_losses),
		TEST(probes_out_of_the_rack_or_of_services_have_no_row),
		TEST(a_minute_forgets_what_the_hour_still_has),
		TEST(an_hour_forgets_in_its_turn),
		TEST(a_long_stall_leaves_nothing_old),
		TEST(a_period_reports_the_time_that_it_covers),
		TEST(percentiles_are_within_the_stated_error),
		TEST(many_results_in_one_slice_keep_their_percentiles),
		TEST(a_replaced_rnic_leaves_no_pairs),
		TEST(pairs_beyond_the_bound_are_refused_and_counted),
		TEST(a_large_rack_stays_within_its_memory),
	};

	return cmocka_run_group_tests_name("rack_mesh", tests, NULL, NULL);
}
