#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sim/clos_fixture.h"

static void
a_fat_tree_has_the_expected_number_of_parts(void **state)
{
	static const uint32_t ks[] = { 4, 10, 48 };

	for (size_t i = 0; i < 3; i++) {
		const uint32_t k = ks[i];
		struct clos *clos = fat_tree(k);

		assert_int_equal(clos_rnics(clos), k * k * k / 4);
		assert_int_equal(clos_hosts(clos), k * k * k / 4);
		assert_int_equal(clos_switches(clos), 5 * k * k / 4);
		assert_int_equal(clos_links(clos), 2 * 3 * k * k * k / 4);
		assert_int_equal(
		    clos_parts(clos), clos_first(clos, CLOS_LINK) + clos_links(clos));
		clos_free(clos);
	}
}

static void
every_switch_of_a_fat_tree_has_k_ports(void **state)
{
	struct clos *clos = fat_tree(10);
	const uint32_t first = clos_first(clos, CLOS_TOR);

	for (uint32_t i = 0; i < clos_switches(clos); i++) {
		const uint32_t *links;

		assert_int_equal(clos_leaving(clos, first + i, &links), 10);
		for (uint32_t k = 0; k < 10; k++)
			assert_int_equal(clos_part(clos, links[k])->from, first + i);
	}
	clos_free(clos);
}

static void
a_cable_has_two_links_which_are_twins(void **state)
{
	struct clos *clos = fabric(&two_tiers);

	for (uint32_t i = clos_first(clos, CLOS_LINK); i < clos_parts(clos); i++) {
		const struct clos_part *there = clos_part(clos, i);
		const struct clos_part *back = clos_part(clos, there->twin);

		assert_int_equal(back->twin, i);
		assert_int_equal(back->from, there->to);
		assert_int_equal(back->to, there->from);
		assert_int_equal(back->cable, there->cable);
	}
	clos_free(clos);
}

/* The links must form a chain from src to dst that first leads up and then down. */
static void
check_path(const struct clos *clos, uint32_t src, uint32_t dst, uint64_t hash)
{
	uint32_t links[CLOS_MAX_HOPS], at = src;
	const uint32_t n = clos_route(clos, src, dst, hash, links);

	assert_in_range(n, 2, CLOS_MAX_HOPS);
	assert_int_equal(n % 2, 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(clos_part(clos, links[i])->type, CLOS_LINK);
		assert_int_equal(clos_part(clos, links[i])->from, at);
		at = clos_part(clos, links[i])->to;
		if (i < n / 2)
			assert_true(clos_part(clos, links[i])->twin > links[i]);
	}
	assert_int_equal(at, dst);
}

static void
check_every_pair(struct clos *clos)
{
	for (uint32_t a = 0; a < clos_rnics(clos); a++)
		for (uint32_t b = 0; b < clos_rnics(clos); b++)
			if (a != b)
				check_path(clos, a, b, a * 31 + b);
	clos_free(clos);
}

static void
every_pair_has_a_path(void **state)
{
	struct clos_options uneven = { .tiers = 3,
		.pods = 3,
		.racks = 8,
		.middle = 2,
		.cores = 6,
		.cables = 2,
		.rnics_per_rack = 3,
		.rnics_per_host = 4,
		.rails = true };

	check_every_pair(fat_tree(4));
	check_every_pair(fabric(&two_tiers));
	check_every_pair(fabric(&uneven));
}

static void
there_is_no_path_to_oneself(void **state)
{
	struct clos *clos = fabric(&two_tiers);
	uint32_t links[CLOS_MAX_HOPS];

	assert_int_equal(clos_route(clos, 3, 3, 1, links), 0);
	clos_free(clos);
}

static void
with_symmetric_hashes_the_reply_takes_the_path_of_the_probe(void **state)
{
	struct clos *clos = fabric(&(struct clos_options){ .tiers = 3,
	    .pods = 4,
	    .racks = 8,
	    .middle = 2,
	    .cores = 4,
	    .rnics_per_rack = 2,
	    .symmetric = true });
	const uint32_t far = clos_rnics(clos) - 1;

	assert_true(clos_is_symmetric(clos));
	for (uint64_t hash = 0; hash < 1000; hash++) {
		uint32_t there[CLOS_MAX_HOPS], back[CLOS_MAX_HOPS];
		const uint32_t n = clos_route(clos, 0, far, hash, there);

		assert_int_equal(n, 6);
		assert_int_equal(clos_route(clos, far, 0, hash, back), n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(
			    clos_part(clos, back[i])->twin, there[n - 1 - i]);
	}
	clos_free(clos);
}

static void
flows_spread_evenly_over_all_cables(void **state)
{
	enum { FLOWS = 40000 };
	struct clos *clos = fat_tree(10);
	uint32_t *used = calloc(clos_parts(clos), sizeof *used);
	const uint32_t dst = clos_rnics(clos) - 1;
	uint32_t links[CLOS_MAX_HOPS];

	assert_non_null(used);
	for (uint64_t i = 0; i < FLOWS; i++) {
		assert_int_equal(clos_route(clos, 0, dst, i, links), 6);
		for (uint32_t k = 0; k < 6; k++)
			used[links[k]]++;
	}
	for (uint32_t i = clos_first(clos, CLOS_LINK); i < clos_parts(clos); i++) {
		const struct clos_part *p = clos_part(clos, i);

		if (p->to >= clos_first(clos, CLOS_CORE) && used[i] > 0)
			assert_in_range(
			    used[i], FLOWS / 25 * 85 / 100, FLOWS / 25 * 115 / 100);
	}
	assert_int_equal(used[clos_find(clos, "h1/r0--tor1")], FLOWS);
	for (uint32_t m = 1; m <= 5; m++) {
		char name[32];

		snprintf(name, sizeof name, "tor1--pod1-agg%u", m);
		assert_in_range(used[clos_find(clos, name)], FLOWS / 5 * 95 / 100,
		    FLOWS / 5 * 105 / 100);
	}
	free(used);
	clos_free(clos);
}

static bool
takes(const struct clos *clos, uint32_t src, uint32_t dst, uint32_t link)
{
	uint32_t links[CLOS_MAX_HOPS];

	for (uint64_t hash = 0; hash < 500; hash++) {
		const uint32_t n = clos_route(clos, src, dst, hash, links);

		for (uint32_t i = 0; i < n; i++)
			if (links[i] == link)
				return true;
	}
	return false;
}

static void
a_withdrawn_cable_is_avoided_at_every_tier_and_comes_back(void **state)
{
	static const char *const names[] = { "tor1--pod1-agg1", "pod1-agg1--core1",
		"core2--pod4-agg1", "pod4-agg2--tor8" };
	struct clos *clos = fat_tree(4);
	const uint32_t dst = clos_rnics(clos) - 1;

	for (size_t i = 0; i < 4; i++) {
		const uint32_t link = clos_find(clos, names[i]);

		assert_true(takes(clos, 0, dst, link));
		clos_withdraw(clos, clos_part(clos, link)->twin, true);
		assert_false(takes(clos, 0, dst, link));
		check_path(clos, 0, dst, 7);
		clos_withdraw(
		    clos, link, true); /* a second withdrawal changes nothing */
		clos_withdraw(clos, link, false);
		assert_true(takes(clos, 0, dst, link));
		clos_withdraw(clos, link, false);
		clos_withdraw(clos, link, false);
		clos_withdraw(clos, link, true);
		assert_false(takes(clos, 0, dst, link));
		clos_withdraw(clos, link, false);
	}
	clos_free(clos);
}

static void
one_of_parallel_cables_is_withdrawn_alone(void **state)
{
	struct clos *clos = fabric(&two_tiers);
	const uint32_t first = clos_find(clos, "spine1--tor6");
	const uint32_t dst = clos_rnics(clos) - 1;

	clos_withdraw(clos, first, true);
	assert_false(takes(clos, 0, dst, first));
	assert_true(takes(clos, 0, dst, first + 2));
	clos_free(clos);
}

static void
a_withdrawn_cable_is_used_if_there_is_no_other(void **state)
{
	struct clos *clos = fat_tree(4);
	const uint32_t a = clos_find(clos, "tor1--pod1-agg1");
	const uint32_t b = clos_find(clos, "tor1--pod1-agg2");
	const uint32_t dst = clos_rnics(clos) - 1;

	clos_withdraw(clos, a, true);
	clos_withdraw(clos, b, true);
	assert_true(takes(clos, 0, dst, a));
	assert_true(takes(clos, 0, dst, b));
	check_path(clos, 0, dst, 3);
	clos_free(clos);
}

static void
a_rack_on_rails_holds_one_rnic_of_each_of_its_hosts(void **state)
{
	struct clos *clos = fabric(&(struct clos_options){ .tiers = 2,
	    .racks = 8,
	    .middle = 2,
	    .rnics_per_rack = 5,
	    .rnics_per_host = 4,
	    .rails = true });
	const uint32_t tors = clos_first(clos, CLOS_TOR);

	assert_int_equal(clos_hosts(clos), 10);
	for (uint32_t t = 0; t < 8; t++) {
		const uint32_t *rnics;

		assert_int_equal(clos_rack(clos, tors + t, &rnics), 5);
		for (uint32_t i = 0; i < 5; i++) {
			const struct clos_part *p = clos_part(clos, rnics[i]);

			assert_int_equal(p->to, tors + t);
			assert_int_equal(rnics[i] % 4, t % 4);
			assert_int_equal(
			    p->from, clos_first(clos, CLOS_HOST) + t / 4 * 5 + i);
		}
	}
	clos_free(clos);
}

static void
impossible_options_of_a_fabric_are_refused(void **state)
{
	const struct clos_options bad[] = {
		{ .tiers = 1, .racks = 2, .middle = 1, .rnics_per_rack = 2 },
		{ .tiers = 2, .racks = 0, .middle = 1, .rnics_per_rack = 2 },
		{ .tiers = 2, .racks = 2, .middle = 0, .rnics_per_rack = 2 },
		{ .tiers = 2, .racks = 2, .middle = 1, .rnics_per_rack = 65 },
		{ .tiers = 2, .racks = 10001, .middle = 1, .rnics_per_rack = 2 },
		{ .tiers = 2,
		    .racks = 2,
		    .middle = 1,
		    .rnics_per_rack = 3,
		    .rnics_per_host = 2 },
		{ .tiers = 2,
		    .racks = 3,
		    .middle = 1,
		    .rnics_per_rack = 2,
		    .rnics_per_host = 2,
		    .rails = true },
		{ .tiers = 2,
		    .racks = 2,
		    .middle = 1,
		    .rnics_per_rack = 2,
		    .cables = 5 },
		{ .tiers = 3,
		    .pods = 4,
		    .racks = 5,
		    .middle = 1,
		    .cores = 1,
		    .rnics_per_rack = 2 },
		{ .tiers = 3,
		    .pods = 2,
		    .racks = 4,
		    .middle = 2,
		    .cores = 3,
		    .rnics_per_rack = 2 },
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clos *clos = NULL;

		assert_int_equal(clos_new(&bad[i], &clos), -EINVAL);
		assert_null(clos);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fat_tree_has_the_expected_number_of_parts),
		cmocka_unit_test(every_switch_of_a_fat_tree_has_k_ports),
		cmocka_unit_test(a_cable_has_two_links_which_are_twins),
		cmocka_unit_test(every_pair_has_a_path),
		cmocka_unit_test(there_is_no_path_to_oneself),
		cmocka_unit_test(
		    with_symmetric_hashes_the_reply_takes_the_path_of_the_probe),
		cmocka_unit_test(flows_spread_evenly_over_all_cables),
		cmocka_unit_test(
		    a_withdrawn_cable_is_avoided_at_every_tier_and_comes_back),
		cmocka_unit_test(one_of_parallel_cables_is_withdrawn_alone),
		cmocka_unit_test(a_withdrawn_cable_is_used_if_there_is_no_other),
		cmocka_unit_test(a_rack_on_rails_holds_one_rnic_of_each_of_its_hosts),
		cmocka_unit_test(impossible_options_of_a_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
