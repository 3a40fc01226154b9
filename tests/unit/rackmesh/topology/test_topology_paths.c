#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/topology/topology.h"
#include "rackmesh/topology/topology_paths.h"

#define MAX_SWITCHES 32
#define MAX_LOADS 128

struct fixture {
	struct rm_topology *topology;
	struct rm_topology_paths *paths;
	double rates[MAX_SWITCHES], worst[MAX_SWITCHES];
	double loads[MAX_LOADS];
};

static void
open_fixture(struct fixture *f, const char *text)
{
	struct rm_error error = { 0 };

	memset(f, 0, sizeof(*f));
	if (rm_topology_parse("t.yaml", text, strlen(text), &f->topology, &error) < 0)
		fail_msg("%s", error.text);
	assert_true(rm_topology_switches(f->topology) <= MAX_SWITCHES);
	assert_true(2 * rm_topology_links(f->topology) <= MAX_LOADS);
	assert_int_equal(rm_topology_paths_new(f->topology, &f->paths), 0);
}

static void
close_fixture(struct fixture *f)
{
	rm_topology_paths_free(f->paths);
	rm_topology_free(f->topology);
}

static size_t
named(const struct fixture *f, const char *name)
{
	size_t index = SIZE_MAX;

	assert_true(rm_topology_find(f->topology, name, &index));
	return index;
}

static uint32_t
between(struct fixture *f, const char *from, const char *to)
{
	rm_topology_paths_to(f->paths, named(f, to));
	return rm_topology_paths_from(f->paths, named(f, from));
}

static double
load(const struct fixture *f, const char *from, const char *to)
{
	size_t a = named(f, from), b = named(f, to);

	for (size_t i = 0; i < rm_topology_links(f->topology); i++) {
		const struct rm_topology_link *link = rm_topology_link(f->topology, i);

		if (link->a == a && link->b == b)
			return f->loads[2 * i];
		if (link->a == b && link->b == a)
			return f->loads[2 * i + 1];
	}
	fail_msg("no link %s %s", from, to);
	return 0;
}

#define TWO_TIERS                                                  \
	"region: lab\nswitches:\n"                                 \
	"  - {name: t1, role: tor}\n  - {name: t2, role: tor}\n"   \
	"  - {name: t3, role: tor}\n  - {name: s1, role: spine}\n" \
	"  - {name: s2, role: spine}\nlinks:\n"                    \
	"  - [[t1, t2], [s1, s2]]\n"                               \
	"  - {a: t3, b: s1, count: 2}\n"

#define THREE_TIERS                                                    \
	"region: lab\nswitches:\n"                                     \
	"  - {name: a1, role: tor}\n  - {name: a2, role: tor}\n"       \
	"  - {name: b1, role: tor}\n  - {name: as1, role: spine}\n"    \
	"  - {name: as2, role: spine}\n  - {name: bs1, role: spine}\n" \
	"  - {name: bs2, role: spine}\n  - {name: c1, role: core}\n"   \
	"  - {name: c2, role: core}\n  - {name: c3, role: core}\n"     \
	"  - {name: c4, role: core}\nlinks:\n"                         \
	"  - [[a1, a2], [as1, as2]]\n  - [b1, [bs1, bs2]]\n"           \
	"  - [[as1, bs1], [c1, c2]]\n  - [[as2, bs2], [c3, c4]]\n"

static void
two_tiers_have_a_path_per_spine(void **state)
{
	struct fixture f;

	open_fixture(&f, TWO_TIERS);
	assert_int_equal(between(&f, "t1", "t2"), 2);
	assert_int_equal(between(&f, "t2", "t1"), 2);
	close_fixture(&f);
}

static void
parallel_cables_are_paths_of_their_own(void **state)
{
	struct fixture f;

	open_fixture(&f, TWO_TIERS);
	assert_int_equal(between(&f, "t3", "t1"), 2);
	assert_int_equal(between(&f, "t1", "t3"), 2);
	close_fixture(&f);
}

static void
three_tiers_have_a_path_per_core(void **state)
{
	struct fixture f;

	open_fixture(&f, THREE_TIERS);
	assert_int_equal(between(&f, "a1", "a2"), 2);
	assert_int_equal(between(&f, "a1", "b1"), 4);
	close_fixture(&f);
}

static void
no_path_leads_through_a_tor(void **state)
{
	struct fixture f;

	open_fixture(&f, "region: lab\nswitches:\n"
			 "  - {name: t1, role: tor}\n  - {name: t2, role: tor}\n"
			 "  - {name: t3, role: tor}\n"
			 "links:\n  - [t1, t2]\n  - [t2, t3]\n");
	assert_int_equal(between(&f, "t1", "t2"), 1);
	assert_int_equal(between(&f, "t1", "t3"), 0);
	assert_int_equal(between(&f, "t1", "t1"), 0);
	close_fixture(&f);
}

static void
many_paths_count_as_the_limit(void **state)
{
	struct fixture f;

	open_fixture(&f,
	    "region: lab\nswitches:\n"
	    "  - {name: t1, role: tor}\n  - {name: t2, role: tor}\n"
	    "  - {name: s1, role: spine}\nlinks:\n"
	    "  - {a: t1, b: s1, count: 200}\n  - {a: s1, b: t2, count: 200}\n");
	assert_int_equal(between(&f, "t1", "t2"), RM_TOPOLOGY_MAX_PATHS);
	close_fixture(&f);
}

static void
traffic_spreads_over_all_shortest_paths(void **state)
{
	struct fixture f;

	open_fixture(&f, THREE_TIERS);
	rm_topology_paths_to(f.paths, named(&f, "b1"));
	f.rates[named(&f, "a1")] = 8;
	f.rates[named(&f, "a2")] = 4;
	rm_topology_paths_load(f.paths, f.rates, f.loads);
	assert_true(fabs(load(&f, "a1", "as1") - 4) < 1e-9);
	assert_true(fabs(load(&f, "a2", "as2") - 2) < 1e-9);
	assert_true(fabs(load(&f, "as1", "c1") - 3) < 1e-9);
	assert_true(fabs(load(&f, "c4", "bs2") - 3) < 1e-9);
	assert_true(fabs(load(&f, "bs1", "b1") - 6) < 1e-9);
	assert_true(load(&f, "b1", "bs1") == 0);
	assert_true(load(&f, "as1", "a2") == 0);
	close_fixture(&f);
}

static void
a_load_is_that_of_one_cable(void **state)
{
	struct fixture f;

	open_fixture(&f, TWO_TIERS);
	rm_topology_paths_to(f.paths, named(&f, "t1"));
	f.rates[named(&f, "t3")] = 10;
	rm_topology_paths_load(f.paths, f.rates, f.loads);
	assert_true(fabs(load(&f, "t3", "s1") - 5) < 1e-9);
	assert_true(fabs(load(&f, "s1", "t1") - 10) < 1e-9);
	close_fixture(&f);
}

static void
the_worst_cable_on_the_path_is_found(void **state)
{
	struct fixture f;

	open_fixture(&f, THREE_TIERS);
	for (size_t i = 0; i < rm_topology_links(f.topology); i++)
		f.loads[2 * i] = f.loads[2 * i + 1] = (double)i + 1;
	rm_topology_paths_to(f.paths, named(&f, "a2"));
	rm_topology_paths_worst(f.paths, f.loads, f.worst);
	/* Links 0 to 3 join a1 and a2 to their spines. */
	assert_true(f.worst[named(&f, "a1")] == 4);
	assert_true(f.worst[named(&f, "a2")] == 0);
	assert_true(f.worst[named(&f, "b1")] == (double)rm_topology_links(f.topology));
	close_fixture(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_tiers_have_a_path_per_spine),
		cmocka_unit_test(parallel_cables_are_paths_of_their_own),
		cmocka_unit_test(three_tiers_have_a_path_per_core),
		cmocka_unit_test(no_path_leads_through_a_tor),
		cmocka_unit_test(many_paths_count_as_the_limit),
		cmocka_unit_test(traffic_spreads_over_all_shortest_paths),
		cmocka_unit_test(a_load_is_that_of_one_cable),
		cmocka_unit_test(the_worst_cable_on_the_path_is_found),
	};

	return cmocka_run_group_tests_name("topology_paths", tests, NULL, NULL);
}
