#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/region-controller/plan_fixture.h"

static void
members_are_the_rack_in_order(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	racks_of_two_three_four_and_eight(f, 2);
	assert_int_equal(view_of(f, "tor1")->plan.member_count, 2);
	assert_int_equal(view_of(f, "tor4")->plan.member_count, 8);
	wire_plan_member(view_of(f, "tor4"), 7, &rnic);
	assert_int_equal(rnic.id.guid, 407);
	assert_string_equal(rnic.host, "tor4-h8");
	assert_string_equal(rnic.plane, RM_TOPOLOGY_DEFAULT_PLANE);
	assert_int_equal(
	    rnic.incarnation, 0); /* without verbs, probers do not need it */
	assert_string_equal(view_of(f, "tor1")->plan.region, "lab");
}

static void
only_small_racks_have_witnesses_three_in_two_racks(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *small;
	size_t racks = 0;

	racks_of_two_three_four_and_eight(f, 2);
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_WITNESS), 6);
	assert_int_equal(entries_of(view_of(f, "tor2"), WIRE_WITNESS), 9);
	assert_int_equal(entries_of(view_of(f, "tor3"), WIRE_WITNESS), 0);
	assert_int_equal(entries_of(view_of(f, "tor4"), WIRE_WITNESS), 0);
	small = view_of(f, "tor1");
	for (unsigned tor = 2; tor <= 4; tor++) {
		char name[8];
		size_t count;

		snprintf(name, sizeof(name), "tor%u", tor);
		count = entries_between(small, WIRE_WITNESS, "tor1-h1", name);
		assert_true(count <= 2);
		assert_int_equal(
		    count, entries_between(small, WIRE_WITNESS, "tor1-h2", name));
		racks += count > 0;
	}
	assert_int_equal(racks, 2);
	assert_int_equal(plan_set_counts(f->set)->rnics_short_of_witnesses, 0);
}

static void
witnesses_are_probed_ten_times_a_second(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;

	racks_of_two_three_four_and_eight(f, 2);
	view = view_of(f, "tor1");
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		if (entry.kind == WIRE_WITNESS)
			assert_int_equal(entry.interval_us, 100000);
	}
}

static void
a_single_other_rack_is_the_witness(void **state)
{
	struct fixture *f = *state;

	set_topology(f, region_clos(2, 2));
	region_rack(f->registry, "tor1", 100, 2);
	region_rack(f->registry, "tor2", 200, 2);
	plan(f);
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_WITNESS), 4);
	assert_int_equal(plan_set_counts(f->set)->rnics_short_of_witnesses, 4);
}

static void
a_small_rack_probes_its_own_reflector(void **state)
{
	struct fixture *f = *state;
	struct rm_rnic_id id = rm_rnic_id_of_switch("tor1");
	const struct wire_plan_view *view;
	struct wire_plan_entry entry;
	struct wire_rnic rnic;

	set_topology(
	    f, region_topology(
		   "region: lab\nswitches:\n"
		   "- {name: tor1, role: tor, reflector: 10.9.9.9}\n"
		   "- {name: tor2, role: tor, reflector: '[fd00::99]:9862'}\n"));
	region_rack(f->registry, "tor1", 100, 2);
	rnic = region_rnic(200, "v4only", "tor2", REGION_V4);
	region_report(f->registry, &rnic);
	plan(f);
	view = view_of(f, "tor1");
	assert_int_equal(entries_of(view, WIRE_TOR_REFLECTOR), 2);
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		wire_plan_entry(view, i, &entry);
		if (entry.kind != WIRE_TOR_REFLECTOR)
			continue;
		wire_plan_remote(view, entry.dst, &rnic);
		assert_int_equal(rnic.id.guid, id.guid);
		assert_int_equal(rnic.id.port, RM_PORT_SWITCH);
		assert_string_equal(rnic.host, "tor1");
		assert_int_equal(rnic.addresses[0].port, 862);
		assert_int_equal(rnic.addresses[0].bytes[3], 9);
		assert_int_equal(entry.size_count, 1);
		assert_int_equal(
		    entry.sizes[0], 44); /* a STAMP packet without padding */
	}
	/* A prober with IPv4 only cannot reach a reflector with IPv6 only. */
	assert_int_equal(entries_of(view_of(f, "tor2"), WIRE_TOR_REFLECTOR), 0);
}

static void
planes_are_never_crossed(void **state)
{
	struct fixture *f = *state;

	set_topology(f, region_topology("region: lab\nplanes: [p, q]\nswitches:\n"
					"- {name: p1, role: tor, plane: p}\n"
					"- {name: p2, role: tor, plane: p}\n"
					"- {name: q1, role: tor, plane: q}\n"
					"- {name: q2, role: tor, plane: q}\n"));
	region_rack(f->registry, "p1", 100, 2);
	region_rack(f->registry, "p2", 200, 2);
	region_rack(f->registry, "q1", 300, 2);
	region_rack(f->registry, "q2", 400, 2);
	plan(f); /* check_view checks every pair */
	assert_true(entries_of(view_of(f, "p1"), WIRE_INTER_TOR) > 0);
	assert_true(entries_between(view_of(f, "p1"), WIRE_INTER_TOR, NULL, "p2") > 0);
	assert_int_equal(
	    entries_between(view_of(f, "p1"), WIRE_INTER_TOR, NULL, "q1"), 0);
	assert_int_equal(
	    entries_between(view_of(f, "p1"), WIRE_WITNESS, NULL, "q2"), 0);
	assert_int_equal(
	    entries_between(view_of(f, "p1"), WIRE_WITNESS, NULL, "p2"), 4);
}

static void
a_host_with_rnics_in_two_racks_never_probes_itself(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	set_topology(f, region_clos(2, 2));
	for (unsigned i = 0; i < 3; i++) {
		char host[8];

		snprintf(host, sizeof(host), "h%u", i);
		rnic = region_rnic(100 + i, host, "tor1", REGION_V4);
		region_report(f->registry, &rnic);
		rnic = region_rnic(200 + i, host, "tor2", REGION_V4);
		rnic.device = "rnic1";
		region_report(f->registry, &rnic);
	}
	plan(f); /* check_view checks every pair */
	assert_true(entries_of(view_of(f, "tor1"), WIRE_INTER_TOR) > 0);
	/* Two witnesses for each of three RNICs, in the only other rack. */
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_WITNESS), 6);
	assert_true(least_cable_rate(f) >= 9.99);
}

static void
families_without_a_common_one_are_never_planned(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	set_topology(f, region_clos(2, 2));
	rnic = region_rnic(100, "h1", "tor1", REGION_V4);
	region_report(f->registry, &rnic);
	rnic = region_rnic(101, "h2", "tor1", REGION_V6);
	region_report(f->registry, &rnic);
	rnic = region_rnic(102, "h3", "tor1", 0);
	region_report(f->registry, &rnic);
	rnic = region_rnic(200, "h4", "tor2", REGION_V4);
	region_report(f->registry, &rnic);
	plan(f);
	/* The RNIC without an address is a member, but has no entries. */
	assert_int_equal(view_of(f, "tor1")->plan.member_count, 3);
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_WITNESS), 1);
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_INTER_TOR), 1);
	assert_int_equal(
	    entries_between(view_of(f, "tor1"), WIRE_WITNESS, "h1", NULL), 1);
}

static void
probers_from_outside_are_in_the_roster(void **state)
{
	struct fixture *f = *state;

	racks_of_two_three_four_and_eight(f, 2);
	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		const struct wire_plan_view *view = &f->views[i];

		for (size_t k = 0; k < view->plan.entry_count; k++) {
			struct wire_plan_entry entry;
			struct wire_rnic src, dst;

			wire_plan_entry(view, k, &entry);
			wire_plan_member(view, entry.src, &src);
			wire_plan_remote(view, entry.dst, &dst);
			assert_true(has_remote(view_of(f, dst.tors[0]), src.id.guid));
		}
	}
}

static void
equal_input_gives_equal_bytes(void **state)
{
	struct fixture *f = *state;
	struct wire_writer *writers[MAX_RACKS];
	struct wire_bytes bytes[MAX_RACKS];
	struct registry *other = NULL, *first = f->registry;
	struct rm_topology *topology;

	racks_of_two_three_four_and_eight(f, 2);
	memcpy(writers, f->writers, sizeof(writers));
	memcpy(bytes, f->bytes, sizeof(bytes));
	memset(f->writers, 0, sizeof(f->writers));
	topology = f->topology;

	/* The same RNICs, registered in another order. */
	assert_int_equal(registry_new(&other), 0);
	f->registry = other;
	set_topology(f, topology);
	region_rack(f->registry, "tor4", 400, 8);
	region_rack(f->registry, "tor2", 200, 3);
	region_rack(f->registry, "tor3", 300, 4);
	region_rack(f->registry, "tor1", 100, 2);
	plan(f);
	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		assert_int_equal(bytes[i].len, f->bytes[i].len);
		assert_memory_equal(bytes[i].data, f->bytes[i].data, bytes[i].len);
	}
	for (size_t i = 0; i < MAX_RACKS; i++)
		wire_writer_free(writers[i]);
	registry_free(first);
}

static void
the_mesh_stretches_for_large_racks(void **state)
{
	struct fixture *f = *state;
	const struct wire_mesh *mesh;

	set_topology(f, region_clos(2, 2));
	region_rack(f->registry, "tor1", 1000, 64);
	region_rack(f->registry, "tor2", 2000, 8);
	plan(f);
	mesh = &view_of(f, "tor2")->plan.mesh;
	assert_int_equal(mesh->peers, 10);
	assert_int_equal(mesh->interval_us, 100000); /* 7 peers, 70 a second */
	assert_int_equal(mesh->rotation_s, 60);
	assert_int_equal(mesh->dscp_count, 4);
	assert_int_equal(mesh->dscps[0], 26);
	assert_int_equal(mesh->dscps[3], 0);
	assert_int_equal(mesh->size_count, 3);
	assert_int_equal(mesh->sizes[0], 88);
	assert_int_equal(mesh->sizes[2], 1500 - 48);
	mesh = &view_of(f, "tor1")->plan.mesh;
	assert_int_equal(mesh->interval_us, 142858); /* 10 peers, 70 a second */
}

static void
an_empty_region_has_empty_plans(void **state)
{
	struct fixture *f = *state;

	set_topology(f, region_clos(3, 2));
	plan(f);
	assert_int_equal(plan_set_count(f->set), 3);
	assert_int_equal(plan_set_members(f->set, 0), 0);
	assert_int_equal(view_of(f, "tor1")->plan.entry_count, 0);
	assert_int_equal(view_of(f, "tor1")->plan.mesh.size_count, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_are_the_rack_in_order),
		TEST(only_small_racks_have_witnesses_three_in_two_racks),
		TEST(witnesses_are_probed_ten_times_a_second),
		TEST(a_single_other_rack_is_the_witness),
		TEST(a_small_rack_probes_its_own_reflector),
		TEST(planes_are_never_crossed),
		TEST(a_host_with_rnics_in_two_racks_never_probes_itself),
		TEST(families_without_a_common_one_are_never_planned),
		TEST(probers_from_outside_are_in_the_roster),
		TEST(equal_input_gives_equal_bytes),
		TEST(the_mesh_stretches_for_large_racks),
		TEST(an_empty_region_has_empty_plans),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
