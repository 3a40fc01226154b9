/* Plans of RNICs that are probed over verbs, alone and beside RNICs that are probed
 * over UDP. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/region-controller/plan_fixture.h"

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static void
expect_sizes(const uint16_t *sizes, size_t count, uint16_t small, uint16_t full)
{
	assert_int_equal(count, 3);
	assert_int_equal(sizes[0], small);
	assert_int_equal(sizes[1], small);
	assert_int_equal(sizes[2], full);
}

static void
expect_entry_sizes(const struct wire_plan_view *view, uint16_t small, uint16_t full)
{
	assert_true(view->plan.entry_count > 0);
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		expect_sizes(entry.sizes, entry.size_count, small, full);
	}
}

static void
small_probes_have_64_bytes_and_large_ones_the_mtu(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;

	set_topology(f, region_clos(2, 2));
	region_roce_rack(f->registry, "tor1", 100, 4);
	region_roce_rack(f->registry, "tor2", 200, 4);
	plan(f);
	view = view_of(f, "tor1");
	expect_sizes(view->plan.mesh.sizes, view->plan.mesh.size_count, 64, 4096);
	expect_entry_sizes(view, 64, 4096);
	assert_int_equal(plan_set_counts(f->set)->incompatible_members, 0);
	assert_int_equal(plan_set_counts(f->set)->incompatible_tors, 0);
}

static void
the_smaller_mtu_of_both_counts(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	set_topology(f, region_clos(2, 2));
	rnic = region_roce_rnic(100, "h1", "tor1", REGION_V4);
	region_report(f->registry, &rnic);
	rnic = region_roce_rnic(200, "h2", "tor2", REGION_V4);
	rnic.mtu_bytes = 1024;
	region_report(f->registry, &rnic);
	plan(f);
	expect_entry_sizes(view_of(f, "tor1"), 64, 1024);
	expect_entry_sizes(view_of(f, "tor2"), 64, 1024);
}

static void
large_probes_fit_the_first_qp_if_there_is_no_second(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	set_topology(f, region_clos(2, 2));
	rnic = region_roce_rnic(100, "h1", "tor1", REGION_V4);
	region_report(f->registry, &rnic);
	rnic = region_roce_rnic(200, "h2", "tor2", REGION_V4);
	rnic.large_qpn = 0;
	region_report(f->registry, &rnic);
	plan(f);
	expect_entry_sizes(view_of(f, "tor1"), 64, WIRE_ROCE_SMALL_BYTES);
	expect_entry_sizes(view_of(f, "tor2"), 64, 4096);
}

static void
plans_report_qps_and_levels_but_no_links(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_roce_rnic(100, "h1", "tor1", REGION_V4);
	struct wire_plan_entry entry;

	f->options.sl = 3;
	set_topology(f, region_clos(2, 2));
	rnic.link = WIRE_LINK_DOWN;
	rnic.lid = 9;
	region_report(f->registry, &rnic);
	rnic = region_roce_rnic(200, "h2", "tor2", REGION_V4);
	region_report(f->registry, &rnic);
	rnic = region_rnic(201, "h3", "tor2", REGION_V4);
	region_report(f->registry, &rnic);
	plan(f);
	wire_plan_member(view_of(f, "tor1"), 0, &rnic);
	assert_int_equal(rnic.qpn, 0x100 + 100);
	assert_int_equal(rnic.large_qpn, 0x800000 + 100);
	assert_int_equal(rnic.lid, 9);
	assert_int_equal(rnic.link, WIRE_LINK_UNKNOWN);
	assert_int_equal(rnic.incarnation, 7);
	assert_int_equal(view_of(f, "tor1")->plan.mesh.sl, 3);
	wire_plan_entry(view_of(f, "tor1"), 0, &entry);
	assert_int_equal(entry.sl, 3);
}

static void
levels_are_of_probes_over_verbs_only(void **state)
{
	struct fixture *f = *state;
	struct wire_plan_entry entry;

	f->options.sl = 3;
	set_topology(f, region_clos(2, 2));
	region_rack(f->registry, "tor1", 100, 2);
	region_rack(f->registry, "tor2", 200, 2);
	plan(f);
	assert_int_equal(view_of(f, "tor1")->plan.mesh.sl, 0);
	wire_plan_entry(view_of(f, "tor1"), 0, &entry);
	assert_int_equal(entry.sl, 0);
}

static void
a_mixed_rack_gets_sizes_that_all_rnics_support(void **state)
{
	struct fixture *f = *state;
	const struct wire_mesh *mesh;

	set_topology(f, region_clos(2, 2));
	region_rack(f->registry, "tor1", 100, 4);
	region_roce_rack(f->registry, "tor1", 150, 4);
	plan(f); /* check_view checks every pair */
	mesh = &view_of(f, "tor1")->plan.mesh;
	expect_sizes(mesh->sizes, mesh->size_count, 88, 1500 - 48);
	assert_int_equal(plan_set_counts(f->set)->incompatible_members, 16);
}

static void
tors_of_different_transports_do_not_probe_each_other(void **state)
{
	struct fixture *f = *state;

	set_topology(f, region_clos(3, 2));
	region_rack(f->registry, "tor1", 100, 4);
	region_roce_rack(f->registry, "tor2", 200, 4);
	region_rack(f->registry, "tor3", 300, 2);
	region_roce_rack(f->registry, "tor3", 350, 2);
	plan(f);
	assert_int_equal(
	    entries_between(view_of(f, "tor1"), WIRE_INTER_TOR, NULL, "tor2"), 0);
	assert_int_equal(
	    entries_between(view_of(f, "tor2"), WIRE_INTER_TOR, NULL, "tor1"), 0);
	assert_true(
	    entries_between(view_of(f, "tor1"), WIRE_INTER_TOR, NULL, "tor3") > 0);
	assert_true(
	    entries_between(view_of(f, "tor2"), WIRE_INTER_TOR, NULL, "tor3") > 0);
	assert_true(
	    entries_between(view_of(f, "tor3"), WIRE_INTER_TOR, NULL, "tor1") > 0);
	assert_int_equal(plan_set_counts(f->set)->incompatible_tors, 2);
	assert_int_equal(plan_set_counts(f->set)->incompatible_members, 4);
}

static void
the_few_verbs_rnics_of_a_mixed_rack_have_witnesses(void **state)
{
	struct fixture *f = *state;
	const struct wire_plan_view *view;

	set_topology(f, region_clos(3, 2));
	region_rack(f->registry, "tor1", 100, 8);
	region_roce_rack(f->registry, "tor1", 150, 1);
	region_roce_rack(f->registry, "tor2", 200, 4);
	region_rack(f->registry, "tor3", 300, 4);
	plan(f);
	view = view_of(f, "tor1");
	assert_int_equal(entries_of(view, WIRE_WITNESS), 3);
	assert_int_equal(entries_between(view, WIRE_WITNESS, "tor1-r1", "tor2"), 3);
	assert_int_equal(plan_set_counts(f->set)->rnics_short_of_witnesses, 0);
}

static void
no_reflector_of_a_switch_answers_over_verbs(void **state)
{
	struct fixture *f = *state;

	set_topology(
	    f, region_topology("region: lab\nswitches:\n"
			       "- {name: tor1, role: tor, reflector: 10.9.9.9:862}\n"
			       "- {name: tor2, role: tor}\n"));
	region_roce_rack(f->registry, "tor1", 100, 1);
	region_rack(f->registry, "tor1", 150, 1);
	plan(f);
	assert_int_equal(entries_of(view_of(f, "tor1"), WIRE_TOR_REFLECTOR), 1);
	assert_int_equal(
	    entries_between(view_of(f, "tor1"), WIRE_TOR_REFLECTOR, "tor1-h1", NULL),
	    1);
}

/* Probes a second that the RNICs of this host send to other racks. */
static double
rate_of_host(const struct wire_plan_view *view, const char *host)
{
	double rate = 0;

	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;
		struct wire_rnic src;

		wire_plan_entry(view, i, &entry);
		wire_plan_member(view, entry.src, &src);
		if (entry.kind == WIRE_INTER_TOR && strcmp(src.host, host) == 0)
			rate += (entry.paired ? 2e6 : 1e6) / entry.interval_us;
	}
	return rate;
}

static void
the_only_verbs_rnic_of_a_rack_sends_no_more_than_it_may(void **state)
{
	struct fixture *f = *state;

	f->options.link_rate_per_s = 1000;
	set_topology(f, region_clos(3, 4));
	region_rack(f->registry, "tor1", 100, 31);
	region_roce_rack(f->registry, "tor1", 150, 1);
	region_roce_rack(f->registry, "tor2", 200, 32);
	region_roce_rack(f->registry, "tor3", 300, 32);
	plan(f);
	assert_true(rate_of_host(view_of(f, "tor1"), "tor1-r1") > 0);
	assert_true(rate_of_host(view_of(f, "tor1"), "tor1-r1") <=
		    1.01 * f->options.inter_max_rate_per_s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(small_probes_have_64_bytes_and_large_ones_the_mtu),
		TEST(the_smaller_mtu_of_both_counts),
		TEST(large_probes_fit_the_first_qp_if_there_is_no_second),
		TEST(plans_report_qps_and_levels_but_no_links),
		TEST(levels_are_of_probes_over_verbs_only),
		TEST(a_mixed_rack_gets_sizes_that_all_rnics_support),
		TEST(tors_of_different_transports_do_not_probe_each_other),
		TEST(the_few_verbs_rnics_of_a_mixed_rack_have_witnesses),
		TEST(no_reflector_of_a_switch_answers_over_verbs),
		TEST(the_only_verbs_rnic_of_a_rack_sends_no_more_than_it_may),
	};

	return cmocka_run_group_tests_name("plan_roce", tests, NULL, NULL);
}
