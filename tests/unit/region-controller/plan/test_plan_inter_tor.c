#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "region-controller/plan/coverage.h"
#include "tests/unit/region-controller/plan_fixture.h"

static void
every_cable_carries_its_rate_in_two_tiers(void **state)
{
	struct fixture *f = *state;

	racks_of_two_three_four_and_eight(f, 4);
	assert_true(least_cable_rate(f) >= 9.99);
	assert_int_equal(plan_set_counts(f->set)->short_cables, 0);
}

static void
every_cable_carries_its_rate_in_three_tiers(void **state)
{
	struct fixture *f = *state;

	set_topology(f,
	    region_topology("region: lab\nswitches:\n"
			    "- {name: a1, role: tor}\n- {name: a2, role: tor}\n"
			    "- {name: b1, role: tor}\n- {name: as1, role: spine}\n"
			    "- {name: as2, role: spine}\n- {name: bs1, role: spine}\n"
			    "- {name: bs2, role: spine}\n- {name: c1, role: core}\n"
			    "- {name: c2, role: core}\n- {name: c3, role: core}\n"
			    "- {name: c4, role: core}\nlinks:\n"
			    "- [[a1, a2], [as1, as2]]\n- [b1, [bs1, bs2]]\n"
			    "- [[as1, bs1], [c1, c2]]\n- [[as2, bs2], [c3, c4]]\n"));
	region_rack(f->registry, "a1", 100, 4);
	region_rack(f->registry, "a2", 200, 4);
	region_rack(f->registry, "b1", 300, 4);
	plan(f);
	assert_true(least_cable_rate(f) >= 9.99);
}

static void
uneven_uplinks_get_no_more_than_they_need(void **state)
{
	struct fixture *f = *state;
	double total = 0;

	set_topology(f,
	    region_topology("region: lab\nswitches:\n"
			    "- {name: t1, role: tor}\n- {name: t2, role: tor}\n"
			    "- {name: t3, role: tor}\n- {name: s1, role: spine}\n"
			    "links:\n- {a: t1, b: s1, count: 4}\n- [[t2, t3], s1]\n"));
	region_rack(f->registry, "t1", 100, 4);
	region_rack(f->registry, "t2", 200, 4);
	region_rack(f->registry, "t3", 300, 4);
	plan(f);
	assert_true(least_cable_rate(f) >= 9.99);
	for (size_t i = 0; i < view_of(f, "t2")->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view_of(f, "t2"), i, &entry);
		total += rate_of(&entry);
	}
	/* 20 probes a second to t1 (its four cables need 10 each, from two racks), and
	 * 5 to t3. */
	assert_in_range(total, 24, 26);
}

static void
no_rnic_sends_more_than_it_may(void **state)
{
	struct fixture *f = *state;
	double total = 0;

	set_topology(f, region_clos(2, 32));
	region_rack(f->registry, "tor1", 100, 1);
	region_rack(f->registry, "tor2", 200, 1);
	plan(f);
	for (size_t i = 0; i < view_of(f, "tor1")->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view_of(f, "tor1"), i, &entry);
		if (entry.kind == WIRE_INTER_TOR)
			total += rate_of(&entry);
	}
	assert_in_range(total, 59, 60);
	assert_int_equal(plan_set_counts(f->set)->short_cables, 128);
	/* One pair of RNICs has too few source ports for 32 paths: 255 flows. */
	assert_int_equal(plan_set_counts(f->set)->short_pairs, 2);
}

static void
flows_cover_the_paths(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;
	size_t flows = 0;

	set_topology(f, region_clos(2, 16));
	region_rack(f->registry, "tor1", 100, 8);
	region_rack(f->registry, "tor2", 200, 8);
	plan(f);
	view = view_of(f, "tor1");
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		flows += entry.flow_count;
	}
	assert_true(flows >= coverage_flows(16, 0.99));
	assert_int_equal(entries_of(view, WIRE_INTER_TOR), 8);
	for (unsigned i = 1; i <= 8; i++) {
		char host[16];

		snprintf(host, sizeof(host), "tor1-h%u", i);
		assert_int_equal(entries_between(view, WIRE_INTER_TOR, host, NULL), 1);
	}
	assert_int_equal(plan_set_counts(f->set)->short_pairs, 0);
}

/* Returns the number of flows to other racks. Each pair must have several. */
static size_t
flows_between_racks(const struct wire_plan_view *view)
{
	size_t flows = 0;

	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		if (entry.kind != WIRE_INTER_TOR)
			continue;
		assert_true(entry.flow_count > 1);
		flows += entry.flow_count;
	}
	return flows;
}

/* There are more RNICs than the paths need flows: one flow each would cover the paths.
 */
static void
each_pair_has_several_flows(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;

	set_topology(f, region_clos(2, 2));
	region_rack(f->registry, "tor1", 100, 16);
	region_rack(f->registry, "tor2", 200, 16);
	plan(f);
	view = view_of(f, "tor1");
	assert_int_equal(entries_of(view, WIRE_INTER_TOR), coverage_flows(2, 0.99));
	assert_true(flows_between_racks(view) > coverage_flows(2, 0.99));
}

static void
racks_of_many_rnics_have_not_many_more_flows_than_the_paths_need(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;

	set_topology(f, region_clos(2, 8));
	region_rack(f->registry, "tor1", 100, 64);
	region_rack(f->registry, "tor2", 200, 64);
	plan(f);
	view = view_of(f, "tor1");
	assert_int_equal(
	    entries_of(view, WIRE_INTER_TOR), (coverage_flows(8, 0.99) + 1) / 2);
	assert_true(flows_between_racks(view) <= 3 * coverage_flows(8, 0.99));
	assert_int_equal(plan_set_counts(f->set)->short_pairs, 0);
}

static void
unlinked_tors_do_not_probe_each_other(void **state)
{
	struct fixture *f = *state;

	set_topology(
	    f, region_topology("region: lab\nswitches:\n"
			       "- {name: t1, role: tor}\n- {name: t2, role: tor}\n"
			       "- {name: t3, role: tor}\n- {name: s, role: spine}\n"
			       "links:\n- [[t1, t2], s]\n"));
	region_rack(f->registry, "t1", 100, 2);
	region_rack(f->registry, "t2", 200, 2);
	region_rack(f->registry, "t3", 300, 2);
	plan(f);
	assert_int_equal(view_of(f, "t3")->plan.entry_count, 0);
	assert_int_equal(view_of(f, "t3")->plan.remote_count, 0);
	assert_int_equal(
	    entries_between(view_of(f, "t1"), WIRE_WITNESS, NULL, "t3"), 0);
}

static void
a_bond_is_in_both_plans_and_probed_once_by_each(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	set_topology(f, region_clos(3, 2));
	for (unsigned i = 0; i < 4; i++) {
		char host[8];

		snprintf(host, sizeof(host), "b%u", i);
		rnic = region_rnic(100 + i, host, "tor1", REGION_V4);
		rnic.tors[1] = "tor2";
		rnic.tor_count = 2;
		region_report(f->registry, &rnic);
	}
	region_rack(f->registry, "tor3", 300, 4);
	plan(f); /* check_view: no pair is planned twice */
	assert_int_equal(view_of(f, "tor1")->plan.member_count, 4);
	assert_int_equal(view_of(f, "tor2")->plan.member_count, 4);
	assert_true(entries_of(view_of(f, "tor3"), WIRE_INTER_TOR) >= 2);
	/* tor1 and tor2 have the same RNICs: nothing to probe between them. */
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_INTER_TOR),
	    entries_between(view_of(f, "tor1"), WIRE_INTER_TOR, NULL, "tor3"));
}

static void
full_size_fits_the_smaller_mtu(void **state)
{
	struct fixture *f = *state;
	struct wire_plan_entry entry;
	struct wire_rnic rnic;

	set_topology(f, region_clos(2, 2));
	rnic = region_rnic(100, "h1", "tor1", REGION_V4);
	rnic.mtu_bytes = 9000;
	region_report(f->registry, &rnic);
	rnic = region_rnic(200, "h2", "tor2", REGION_V4);
	rnic.mtu_bytes = 4200;
	region_report(f->registry, &rnic);
	plan(f);
	wire_plan_entry(view_of(f, "tor1"), 0, &entry);
	assert_int_equal(entry.size_count, 3);
	assert_int_equal(entry.sizes[2], 4200 - 28);
	assert_int_equal(view_of(f, "tor1")->plan.mesh.sizes[2], 9000 - 28);
	rnic.mtu_bytes = 0; /* unknown */
	region_report(f->registry, &rnic);
	plan(f);
	wire_plan_entry(view_of(f, "tor1"), 0, &entry);
	assert_int_equal(entry.size_count, 1);
}

static void
each_of_many_racks_probes_some_and_is_probed_by_as_many(void **state)
{
	struct fixture *f = *state;

	f->options.destinations = 8;
	set_topology(f, region_clos(40, 4));
	for (unsigned i = 1; i <= 40; i++) {
		char tor[8];

		snprintf(tor, sizeof(tor), "tor%u", i);
		region_rack(f->registry, tor, 1000 * i, 4);
	}
	plan(f);
	assert_int_equal(plan_set_counts(f->set)->pairs, 40 * 8);
	for (size_t i = 0; i < 40; i++) {
		size_t probing = 0;

		for (size_t k = 0; k < 40; k++)
			probing += entries_between(&f->views[k], WIRE_INTER_TOR, NULL,
				       f->views[i].plan.tor) > 0;
		assert_int_equal(probing, 8);
	}
	assert_true(least_cable_rate(f) >= 9.99);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_cable_carries_its_rate_in_two_tiers),
		TEST(every_cable_carries_its_rate_in_three_tiers),
		TEST(uneven_uplinks_get_no_more_than_they_need),
		TEST(no_rnic_sends_more_than_it_may),
		TEST(flows_cover_the_paths),
		TEST(each_pair_has_several_flows),
		TEST(racks_of_many_rnics_have_not_many_more_flows_than_the_paths_need),
		TEST(unlinked_tors_do_not_probe_each_other),
		TEST(a_bond_is_in_both_plans_and_probed_once_by_each),
		TEST(full_size_fits_the_smaller_mtu),
		TEST(each_of_many_racks_probes_some_and_is_probed_by_as_many),
	};

	return cmocka_run_group_tests_name("plan_inter_tor", tests, NULL, NULL);
}
