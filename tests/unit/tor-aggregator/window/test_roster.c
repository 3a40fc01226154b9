#include "tor-aggregator/window/roster.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/window/window.h"

struct world {
	struct roster *roster;
	struct plan_fixture *plan;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->plan = calloc(1, sizeof(*world->plan));
	*state = world;
	return roster_new("t1", &world->roster);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	roster_free(world->roster);
	fixture_free(world->plan);
	free(world);
	return 0;
}

static uint32_t
index_of(const struct world *world, uint64_t guid)
{
	const struct roster_rnic *rnic =
	    roster_find(world->roster, (struct wire_rnic_id){ guid, 1 });

	assert_non_null(rnic);
	assert_ptr_equal(roster_at(world->roster, rnic->index), rnic);
	return rnic->index;
}

static void
members_and_remotes_come_from_the_plan(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 4, 3);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(roster_members(world->roster), 4);
	assert_int_equal(roster_remotes(world->roster), 3);
	assert_int_equal(roster_hosts(world->roster), 4);
	assert_int_equal(index_of(world, 0x102), 2);
	assert_int_equal(index_of(world, FIXTURE_REMOTE + 1), WINDOW_REMOTE_BASE + 1);
	assert_string_equal(roster_tor_name(world->roster, 0), "t1");
	assert_string_equal(roster_remote(world->roster, 1)->tor, "t3");
	assert_null(roster_find(world->roster, (struct wire_rnic_id){ 0x102, 2 }));
}

static void
a_growing_plan_renumbers_no_rnic(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 2, 1);
	roster_plan(world->roster, &world->plan->view);
	fixture_plan(world->plan, 2, 5, 4);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(index_of(world, 0x101), 1);
	assert_int_equal(index_of(world, 0x104), 4);
}

static void
a_changed_order_renumbers_no_rnic(void **state)
{
	struct world *world = *state;
	struct wire_rnic first;

	fixture_plan(world->plan, 1, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	first = world->plan->members[0];
	world->plan->members[0] = world->plan->members[2];
	world->plan->members[2] = first;
	fixture_plan(world->plan, 2, 3, 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(index_of(world, 0x100), 0);
}

static void
a_member_that_left_the_plan_and_has_no_agent_leaves(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 4, 0);
	roster_plan(world->roster, &world->plan->view);
	fixture_plan(world->plan, 2, 2, 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 1);
	assert_int_equal(roster_members(world->roster), 2);
	assert_null(roster_find(world->roster, (struct wire_rnic_id){ 0x103, 1 }));
	assert_int_equal(index_of(world, 0x101), 1);
}

static void
a_registered_rnic_is_known_without_a_plan_while_its_agent_runs(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic = fixture_rnic(0x777, "h9", "t1");

	assert_int_equal(roster_register(world->roster, &rnic), 0);
	assert_int_equal(index_of(world, 0x777), 0);
	fixture_plan(world->plan, 1, 2, 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(roster_members(world->roster), 3);
	roster_leave(world->roster, "h9");
	/* The plan removes the host, but it stays known. */
	assert_int_equal(roster_members(world->roster), 3);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 1);
	assert_int_equal(roster_members(world->roster), 2);
}

static void
the_agents_data_is_newer_than_the_plan(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic = fixture_rnic(0x100, "h0", "t1");

	rnic.qpn = 4711;
	rnic.large_qpn = 4712;
	rnic.lid = 9;
	rnic.link = WIRE_LINK_DOWN;
	roster_register(world->roster, &rnic);
	fixture_plan(world->plan, 1, 2, 0);
	roster_plan(world->roster, &world->plan->view);
	assert_int_equal(roster_member(world->roster, 0)->qpn, 4711);
	assert_int_equal(roster_member(world->roster, 0)->large_qpn, 4712);
	assert_int_equal(roster_member(world->roster, 0)->lid, 9);
	assert_int_equal(roster_member(world->roster, 0)->link, WIRE_LINK_DOWN);
	rnic.link = WIRE_LINK_UP; /* the agent's own report counts at once */
	roster_register(world->roster, &rnic);
	assert_int_equal(roster_member(world->roster, 0)->link, WIRE_LINK_UP);
	assert_int_equal(roster_member(world->roster, 0)->link_falls, 0);
	for (int i = 0; i < 4; i++) {
		rnic.link = i == 1 ? WIRE_LINK_UP : WIRE_LINK_DOWN;
		roster_leave(
		    world->roster, "h0"); /* a registration replaces the one before */
		roster_register(world->roster, &rnic);
	}
	assert_int_equal(roster_member(world->roster, 0)->link_falls, 2);
}

static void
a_services_peer_stays_while_it_is_served(void **state)
{
	struct world *world = *state;
	struct wire_rnic peer = fixture_rnic(0x5000, "y0", "t9");

	fixture_plan(world->plan, 1, 2, 3);
	roster_plan(world->roster, &world->plan->view);
	assert_false(roster_serve(world->roster, peer.id));
	assert_int_equal(roster_learn(world->roster, &peer, (rm_mono_t){ 1 }), 0);
	assert_int_equal(roster_remotes(world->roster), 4);
	assert_string_equal(roster_find(world->roster, peer.id)->tor, "t9");
	assert_int_equal(index_of(world, 0x5000), WINDOW_REMOTE_BASE + 3);
	peer.qpn = 17; /* the agent of the RNIC was restarted */
	assert_int_equal(roster_learn(world->roster, &peer, (rm_mono_t){ 1 }), 0);
	assert_int_equal(roster_find(world->roster, peer.id)->qpn, 17);
	assert_int_equal(index_of(world, 0x5000), WINDOW_REMOTE_BASE + 3);
	/* Many RNICs leave the plan: their indexes are used again, but this RNIC keeps
	 * its own. */
	fixture_plan(world->plan, 2, 2, 100);
	roster_plan(world->roster, &world->plan->view);
	fixture_plan(world->plan, 3, 2, 1);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 1);
	assert_int_equal(roster_remotes(world->roster), 2);
	assert_true(roster_serve(world->roster, peer.id));
	roster_unserve(world->roster);
	fixture_plan(world->plan, 4, 2, 100);
	roster_plan(world->roster, &world->plan->view);
	fixture_plan(world->plan, 5, 2, 1);
	roster_plan(world->roster, &world->plan->view);
	assert_null(roster_find(world->roster, peer.id));
}

static void
a_services_peer_cannot_be_a_member(void **state)
{
	struct world *world = *state;
	struct wire_rnic peer = fixture_rnic(0x5000, "y0", "t1");

	assert_int_equal(roster_learn(world->roster, &peer, (rm_mono_t){ 1 }), -EINVAL);
	peer.tors[0] = "t9";
	peer.host = "no name";
	assert_int_equal(roster_learn(world->roster, &peer, (rm_mono_t){ 1 }), -EINVAL);
	fixture_plan(world->plan, 1, 2, 0);
	roster_plan(world->roster, &world->plan->view);
	peer = fixture_rnic(0x100, "y0", "t9");
	assert_int_equal(roster_learn(world->roster, &peer, (rm_mono_t){ 1 }), 0);
	assert_int_equal(index_of(world, 0x100), 0); /* unchanged */
	assert_string_equal(roster_member(world->roster, 0)->host, "h0");
}

static void
a_replaced_rnic_makes_room_for_the_new_one(void **state)
{
	struct world *world = *state;
	struct wire_rnic fresh = fixture_rnic(0x777, "h1", "t1");
	struct wire_rnic other = fixture_rnic(0x778, "h2", "t1");

	fixture_plan(world->plan, 1, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	other.device = "d7";
	assert_int_equal(roster_register(world->roster, &fresh), 0);
	assert_int_equal(roster_register(world->roster, &other), 0);
	assert_int_equal(roster_replace(world->roster, "h0"), 0);
	assert_int_equal(
	    roster_replace(world->roster, "h2"), 0); /* another device name */
	assert_int_equal(roster_replace(world->roster, "h1"), 1);
	assert_null(roster_find(world->roster, (struct wire_rnic_id){ 0x101, 1 }));
	assert_int_equal(roster_members(world->roster), 4);
	assert_int_equal(roster_hosts(world->roster), 3);
	/* A plan from before the replacement does not bring the old RNIC back. */
	fixture_plan(world->plan, 2, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	assert_null(roster_find(world->roster, (struct wire_rnic_id){ 0x101, 1 }));
	assert_non_null(roster_find(world->roster, (struct wire_rnic_id){ 0x777, 1 }));
	/* The agent disconnects: only the plan is known. */
	roster_leave(world->roster, "h1");
	fixture_plan(world->plan, 3, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	assert_non_null(roster_find(world->roster, (struct wire_rnic_id){ 0x101, 1 }));
}

/* The first RNIC is dead; after a reboot the second has the first one's device name. */
static void
a_planned_rnic_with_a_reused_name_replaces_no_other(void **state)
{
	struct world *world = *state;
	struct wire_rnic *both = world->plan->members;
	struct wire_rnic fresh = fixture_rnic(0x777, "h0", "t1");

	both[0] = fixture_rnic(0x100, "h0", "t1");
	both[1] = fixture_rnic(0x101, "h0", "t1");
	both[1].device = "r1";
	fixture_plan(world->plan, 1, 2, 0);
	roster_plan(world->roster, &world->plan->view);
	both[1].device = both[0].device;
	both[1].addresses[0] = both[0].addresses[0];
	assert_int_equal(roster_register(world->roster, &both[1]), 0);
	assert_int_equal(roster_replace(world->roster, "h0"), 0);
	/* Nor does the next plan replace it, nor a start in which the agent registers
	 * before the plan comes. */
	fixture_plan(world->plan, 2, 2, 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	roster_free(world->roster);
	assert_int_equal(roster_new("t1", &world->roster), 0);
	assert_int_equal(roster_register(world->roster, &both[1]), 0);
	assert_int_equal(roster_replace(world->roster, "h0"), 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(roster_members(world->roster), 2);
	/* A new RNIC replaces one. */
	assert_int_equal(roster_register(world->roster, &fresh), 0);
	assert_int_equal(roster_replace(world->roster, "h0"), 1);
	assert_null(roster_find(world->roster, both[0].id));
	assert_non_null(roster_find(world->roster, both[1].id));
}

static void
a_host_that_was_renamed_keeps_its_place(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic = fixture_rnic(0x101, "new1", "t1");

	fixture_plan(world->plan, 1, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	assert_int_equal(roster_register(world->roster, &rnic), -EPERM);
	roster_rename(
	    world->roster, rnic.id, "h2", "new1"); /* h2 is not the RNIC's host */
	assert_true(roster_belongs_to_other(world->roster, rnic.id, "new1"));
	roster_rename(world->roster, rnic.id, "h1", "new1");
	assert_int_equal(roster_register(world->roster, &rnic), 0);
	/* A plan from before the rename. */
	fixture_plan(world->plan, 2, 3, 0);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_false(roster_belongs_to_other(world->roster, rnic.id, "new1"));
	assert_int_equal(index_of(world, 0x101), 1);
	assert_string_equal(roster_member(world->roster, 1)->host, "new1");
	assert_int_equal(roster_hosts(world->roster), 3);
}

static void
a_remote_that_registers_becomes_a_member(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic = fixture_rnic(FIXTURE_REMOTE, "x0", "t1");

	fixture_plan(world->plan, 1, 2, 3);
	roster_plan(world->roster, &world->plan->view);
	assert_int_equal(roster_register(world->roster, &rnic), 1);
	assert_int_equal(index_of(world, FIXTURE_REMOTE), 2);
	assert_int_equal(roster_remotes(world->roster), 2);
	index_of(world, FIXTURE_REMOTE + 1);
	index_of(world, FIXTURE_REMOTE + 2);
}

static void
an_rnic_of_another_host_stays_with_that_host(void **state)
{
	struct world *world = *state;
	struct wire_rnic thief = fixture_rnic(0x100, "h1", "t1");
	struct wire_rnic own = fixture_rnic(0x100, "h0", "t1");

	fixture_plan(world->plan, 1, 2, 1);
	roster_plan(world->roster, &world->plan->view);
	/* The host's own agent is disconnected. */
	assert_int_equal(roster_register(world->roster, &thief), -EPERM);
	assert_string_equal(roster_member(world->roster, 0)->host, "h0");
	assert_int_equal(*roster_refused(world->roster), 1);
	assert_true(roster_belongs_to_other(world->roster, own.id, "h1"));
	assert_false(roster_belongs_to_other(world->roster, own.id, "h0"));
	assert_int_equal(roster_register(world->roster, &own), 0);
	/* Nor may it register an RNIC that is probed from this rack. */
	thief = fixture_rnic(FIXTURE_REMOTE, "h1", "t1");
	assert_int_equal(roster_register(world->roster, &thief), -EPERM);
	assert_int_equal(roster_members(world->roster), 2);
}

static void
a_host_registered_before_the_plan_loses_rnics_of_others(void **state)
{
	struct world *world = *state;
	struct wire_rnic thief = fixture_rnic(0x100, "h1", "t1");
	struct wire_rnic remote = fixture_rnic(FIXTURE_REMOTE, "h1", "t1");

	assert_int_equal(roster_register(world->roster, &thief), 0);
	assert_int_equal(roster_register(world->roster, &remote), 0);
	fixture_plan(world->plan, 1, 2, 1);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 1);
	assert_string_equal(roster_find(world->roster, thief.id)->host, "h0");
	assert_true(roster_belongs_to_other(world->roster, thief.id, "h1"));
	assert_string_equal(roster_find(world->roster, remote.id)->host, "x0");
	assert_int_equal(roster_remotes(world->roster), 1);
}

/* Otherwise losses on the path to one of them could be reported for another. */
static void
racks_beyond_the_limit_have_no_name(void **state)
{
	struct world *world = *state;
	const struct roster_rnic *last = NULL;

	for (size_t i = 1; i <= ROSTER_OTHER_TORS; i++) {
		char tor[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(tor, sizeof(tor), "far%zu", i);
		rnic = fixture_rnic(0x900000 + i, "x", tor);
		assert_int_equal(
		    roster_learn(world->roster, &rnic, (rm_mono_t){ 1 }), 0);
		last = roster_find(world->roster, rnic.id);
		assert_int_equal(last->tor_number, i);
		assert_string_equal(roster_tor_name(world->roster, (uint16_t)i),
		    i < ROSTER_OTHER_TORS ? tor : "");
	}
	assert_int_equal(last->tor_number, ROSTER_OTHER_TORS);
}

static void
bad_names_and_ids_are_refused_and_counted(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic = fixture_rnic(0x1, "bad name", "t1");

	assert_int_equal(roster_register(world->roster, &rnic), -EINVAL);
	rnic = fixture_rnic(0, "h1", "t1");
	assert_int_equal(roster_register(world->roster, &rnic), -EINVAL);
	rnic = fixture_rnic(0x1, "h1", "t1");
	rnic.device = "../etc";
	assert_int_equal(roster_register(world->roster, &rnic), -EINVAL);
	assert_int_equal(*roster_refused(world->roster), 3);
	assert_int_equal(roster_members(world->roster), 0);
}

static void
a_rack_has_no_more_members_than_the_wire_allows(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic;

	for (uint64_t i = 0; i < WIRE_MAX_MEMBERS; i++) {
		rnic = fixture_rnic(0x100 + i, "h1", "t1");
		assert_int_equal(roster_register(world->roster, &rnic), 0);
	}
	rnic = fixture_rnic(0x99999, "h1", "t1");
	assert_int_equal(roster_register(world->roster, &rnic), -ENOSPC);
	assert_int_equal(roster_hosts(world->roster), 1);
}

static void
a_remote_that_a_full_rack_refuses_stays_and_renumbers_no_other(void **state)
{
	struct world *world = *state;
	struct wire_rnic rnic;

	fixture_plan(world->plan, 1, 1, 2);
	roster_plan(world->roster, &world->plan->view);
	for (uint64_t i = 1; i < WIRE_MAX_MEMBERS; i++) {
		rnic = fixture_rnic(0x100 + i, "h1", "t1");
		assert_int_equal(roster_register(world->roster, &rnic), 0);
	}
	rnic = fixture_rnic(FIXTURE_REMOTE, "x0", "t1");
	assert_int_equal(roster_register(world->roster, &rnic), -ENOSPC);
	assert_int_equal(*roster_refused(world->roster), 1);
	assert_int_equal(index_of(world, FIXTURE_REMOTE), WINDOW_REMOTE_BASE);
	assert_int_equal(index_of(world, FIXTURE_REMOTE + 1), WINDOW_REMOTE_BASE + 1);
}

static void
a_plan_that_finds_no_memory_removes_no_member(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 3, 0);
	roster_plan(world->roster, &world->plan->view);
	world->plan->members[3] = world->plan->members[0];
	world->plan->members[0] = fixture_rnic(0x200, "h9", "t1");
	fixture_plan(world->plan, 2, 4, 0);
	failing_malloc_arm(1);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), -ENOMEM);
	assert_false(failing_malloc_disarm());
	for (uint32_t i = 0; i < 3; i++) {
		const struct wire_rnic_id id = { .guid = 0x100 + i, .port = 1 };

		assert_int_equal(index_of(world, 0x100 + i), i);
		assert_true(roster_belongs_to_other(world->roster, id, "intruder"));
	}
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 0);
	assert_int_equal(index_of(world, 0x200), 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static void
a_member_that_moves_to_another_rack_becomes_a_remote_at_once(void **state)
{
	struct world *world = *state;

	fixture_plan(world->plan, 1, 3, 1);
	roster_plan(world->roster, &world->plan->view);
	world->plan->remotes[0] = world->plan->members[2];
	world->plan->remotes[0].tors[0] = "t2";
	fixture_plan(world->plan, 2, 2, 1);
	assert_int_equal(roster_plan(world->roster, &world->plan->view), 1);
	assert_int_equal(roster_members(world->roster), 2);
	assert_int_equal(index_of(world, 0x102), WINDOW_REMOTE_BASE + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_and_remotes_come_from_the_plan),
		TEST(a_growing_plan_renumbers_no_rnic),
		TEST(a_changed_order_renumbers_no_rnic),
		TEST(a_member_that_left_the_plan_and_has_no_agent_leaves),
		TEST(a_registered_rnic_is_known_without_a_plan_while_its_agent_runs),
		TEST(the_agents_data_is_newer_than_the_plan),
		TEST(a_services_peer_stays_while_it_is_served),
		TEST(a_services_peer_cannot_be_a_member),
		TEST(a_replaced_rnic_makes_room_for_the_new_one),
		TEST(a_planned_rnic_with_a_reused_name_replaces_no_other),
		TEST(a_host_that_was_renamed_keeps_its_place),
		TEST(a_remote_that_registers_becomes_a_member),
		TEST(an_rnic_of_another_host_stays_with_that_host),
		TEST(a_host_registered_before_the_plan_loses_rnics_of_others),
		TEST(racks_beyond_the_limit_have_no_name),
		TEST(bad_names_and_ids_are_refused_and_counted),
		TEST(a_rack_has_no_more_members_than_the_wire_allows),
		TEST(a_remote_that_a_full_rack_refuses_stays_and_renumbers_no_other),
		TEST(a_plan_that_finds_no_memory_removes_no_member),
		TEST(a_member_that_moves_to_another_rack_becomes_a_remote_at_once),
	};

	return cmocka_run_group_tests_name("roster", tests, NULL, NULL);
}
