#include "tor-aggregator/plan/pinglist_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"

struct world {
	struct plan_fixture *plan;
	struct pinglist_builder *pinglist_builder;
	struct wire_pinglist out;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->plan = calloc(1, sizeof(*world->plan));
	*state = world;
	return pinglist_builder_new(&world->pinglist_builder);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	pinglist_builder_free(world->pinglist_builder);
	fixture_free(world->plan);
	free(world);
	return 0;
}

static void
expand(struct world *world, uint64_t rotation, uint64_t guid)
{
	const struct wire_rnic_id own = { guid, 1 };
	uint64_t refused = 0;

	pinglist_builder_pinglist(world->pinglist_builder, &world->plan->view, rotation,
	    &own, 1, &world->out, &refused);
	assert_int_equal(refused, 0);
}

static void
a_small_rack_is_a_full_mesh_with_its_witnesses(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 5, 4, 3);
	expand(world, 0, 0x100);
	assert_int_equal(world->out.version, 5);
	assert_int_equal(world->out.target_count, 3 + 3);
	assert_int_equal(world->out.roster_count, 4 + 3);
	assert_int_equal(world->out.targets[0].address.port, 862);
	assert_int_equal(world->out.roster[0].address.port, 0);
	assert_int_equal(world->out.targets[5].kind, WIRE_WITNESS);
	assert_true(world->out.targets[5].paired);
	expand(world, 0, 0x101); /* only the first member has entries */
	assert_int_equal(world->out.target_count, 3);
	expand(world, 0, 0x999); /* not a member: it may reply, but has no targets */
	assert_int_equal(world->out.target_count, 0);
	assert_int_equal(world->out.roster_count, 7);
}

static void
rotations_cover_all_pairs_ten_at_a_time(void **state)
{
	bool seen[FIXTURE_MAX] = { false };
	struct world *world = *state;
	size_t distinct = 0;

	fixture_plan(world->plan, 1, 64, 0);
	for (uint64_t rotation = 0; rotation < 7; rotation++) {
		expand(world, rotation, 0x105);
		assert_true(world->out.target_count <= 10);
		for (size_t i = 0; i < world->out.target_count; i++)
			seen[world->out.targets[i].dst.guid - 0x100] = true;
	}
	for (size_t i = 0; i < 64; i++)
		distinct += seen[i];
	assert_int_equal(distinct, 63);
	assert_false(seen[5]);
	assert_int_equal(pinglist_builder_rotation(&world->plan->view.plan, 600), 10);
	fixture_plan(world->plan, 2, 11,
	    0); /* one rotation has all peers, so there is no next one */
	assert_int_equal(pinglist_builder_rotation(&world->plan->view.plan, 600), 0);
}

static void
the_own_host_and_other_families_are_never_probed(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 4, 1);
	world->plan->members[1].host = "h0";
	world->plan->members[2].addresses[0].family = 6;
	world->plan->remotes[0].address_count = 2;
	world->plan->remotes[0].addresses[1] = world->plan->remotes[0].addresses[0];
	world->plan->remotes[0].addresses[0].family = 6;
	fixture_plan(world->plan, 2, 4, 1);
	expand(world, 0, 0x100);
	assert_int_equal(world->out.target_count, 2);
	for (size_t i = 0; i < world->out.target_count; i++)
		assert_int_equal(world->out.targets[i].address.family, 4);
	assert_int_equal(world->out.roster_count, 4 + 2);
}

static void
has_qps(struct wire_rnic *rnic, uint32_t qpn)
{
	rnic->qpn = qpn;
	rnic->large_qpn = qpn + 1;
	rnic->lid = (uint16_t)(qpn + 2);
}

static void
probes_over_verbs_have_the_targets_qp(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 2, 1);
	for (uint32_t i = 0; i < 2; i++)
		has_qps(&world->plan->members[i], 100 * (i + 1));
	has_qps(&world->plan->remotes[0], 300);
	world->plan->mesh_sl = 3;
	world->plan->entry_sl = 4;
	fixture_plan(world->plan, 2, 2, 1);
	expand(world, 0, 0x100);
	assert_int_equal(world->out.target_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct wire_target *target = &world->out.targets[i];

		assert_int_equal(target->dst_qpn, i == 0 ? 200 : 300);
		assert_int_equal(target->dst_large_qpn, target->dst_qpn + 1);
		assert_int_equal(target->dst_lid, target->dst_qpn + 2);
		assert_int_equal(target->sl, i == 0 ? 3 : 4);
	}
}

static void
an_rnic_with_a_qpn_and_one_without_never_probe_each_other(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 4, 1);
	has_qps(&world->plan->members[0], 100);
	has_qps(&world->plan->members[2], 200);
	fixture_plan(world->plan, 2, 4, 1);
	expand(world, 0,
	    0x100); /* the target of the member's entry has no QPN: it is left out */
	assert_int_equal(world->out.target_count, 1);
	assert_int_equal(world->out.targets[0].dst.guid, 0x102);
	expand(world, 0, 0x101);
	assert_int_equal(world->out.target_count, 1);
	assert_int_equal(world->out.targets[0].dst.guid, 0x103);
	assert_int_equal(world->out.roster_count,
	    5); /* both stay in the roster: the agent distinguishes them */
}

static void
the_planned_interval_of_a_pair_is_found(void **state)
{
	struct world *world = *state;
	const struct wire_plan_view *view = &world->plan->view;
	const struct wire_rnic_id a = { 0x100, 1 }, b = { 0x101, 1 };
	const struct wire_rnic_id x = { FIXTURE_REMOTE + 1, 1 };

	fixture_plan(world->plan, 1, 4, 3);
	assert_int_equal(pinglist_builder_interval_us(view, a, b), 100000);
	assert_int_equal(pinglist_builder_interval_us(view, a, x), 50000);
	assert_int_equal(pinglist_builder_interval_us(view, b, x), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_rack_is_a_full_mesh_with_its_witnesses),
		TEST(rotations_cover_all_pairs_ten_at_a_time),
		TEST(the_own_host_and_other_families_are_never_probed),
		TEST(probes_over_verbs_have_the_targets_qp),
		TEST(an_rnic_with_a_qpn_and_one_without_never_probe_each_other),
		TEST(the_planned_interval_of_a_pair_is_found),
	};

	return cmocka_run_group_tests_name("expansion", tests, NULL, NULL);
}
