#include "analyzer/finding/localise_dead_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/paths/localise_map.h"

#define RACKS 40
#define SPINES 3
#define FLOWS 4
#define BEGAN_NS (100 * RM_NS_PER_S)

struct fabric { /* each rack probes each other one over each spine */
	struct localise_map map;
	struct localise_case c;
	rm_mono_t now;
};

typedef bool is_lost(int src, int spine, int dst);

static int
setup(void **state)
{
	static struct fabric fabric;

	fabric = (struct fabric){ .map = { .row_interval_ns = RM_NS_PER_S },
		.now = { BEGAN_NS } };
	assert_int_equal(localise_case_init(&fabric.c, false), 0);
	*state = &fabric;
	return 0;
}

static int
teardown(void **state)
{
	struct fabric *fabric = *state;

	localise_case_release(&fabric->c);
	localise_map_release(&fabric->map);
	return 0;
}

static void
add_row(struct fabric *fabric, struct localise_rack *rack, int src, int spine, int dst,
    bool lost)
{
	char path[2 * RM_NAME_BYTES], name[RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = name,
		.path = path,
		.flows = FLOWS,
		.flows_dead = lost ? FLOWS : 0,
		.flows_silent = lost ? FLOWS : 0,
		.sent = 2 * FLOWS,
		.lost_forward = lost ? 2 * FLOWS : 0 };
	struct localise_path *route;

	snprintf(name, sizeof name, "tor%d", dst);
	snprintf(path, sizeof path, "tor%d@10.0.%d.1 s%d@10.1.%d.%d tor%d@10.2.%d.%d",
	    src, src, spine, src, spine, dst, dst, spine);
	assert_int_equal(localise_map_path(&fabric->map, rack, &row, &route), 0);
	assert_int_equal(localise_map_row(&fabric->map, route, &row, RM_NS_PER_S,
			     RM_NS_PER_S, fabric->now),
	    0);
}

/* Three seconds of it. */
static void
build(struct fabric *fabric, is_lost *lost)
{
	for (int s = 0; s < 3; s++, fabric->now.ns += RM_NS_PER_S)
		for (int src = 1; src <= RACKS; src++) {
			char name[RM_NAME_BYTES];
			struct localise_rack *rack;

			snprintf(name, sizeof name, "tor%d", src);
			assert_int_equal(
			    localise_map_rack(&fabric->map, name, &rack), 0);
			localise_map_frame(
			    rack, (rm_wall_t){ fabric->now.ns }, 0, fabric->now);
			for (int dst = 1; dst <= RACKS; dst++)
				for (int spine = 1; dst != src && spine <= SPINES;
				     spine++)
					add_row(fabric, rack, src, spine, dst,
					    s > 0 && lost(src, spine, dst));
		}
	fabric->now.ns -= RM_NS_PER_S;
	assert_int_equal(localise_case_build(&fabric->c, &fabric->map, fabric->now,
			     localise_path_newest, NULL, NULL),
	    0);
	assert_true(fabric->c.by_flow);
}

static bool
are_links_of(const struct fabric *fabric, const char *node)
{
	const struct localise_element *element;

	HASH_FIND_STR(fabric->map.elements, node, element);
	assert_non_null(element);
	return localise_dead_links_of(&fabric->c, &fabric->map, element);
}

static bool
is_alone(const struct fabric *fabric, const char *key)
{
	struct localise_element *element;

	HASH_FIND_STR(fabric->map.elements, key, element);
	assert_non_null(element);
	return localise_dead_links_alone(&fabric->c, &fabric->map,
	    &(struct localise_suspect){
		.type = RM_PART_LINK, .elements = { element }, .element_count = 1 });
}

static bool
two_links(int src, int spine, int dst)
{
	return spine == 1 && (src <= 2 || dst <= 2);
}

static void
two_dead_links_of_a_switch_that_forwards_are_links(void **state)
{
	struct fabric *fabric = *state;

	build(fabric, two_links);
	assert_true(are_links_of(fabric, "s1"));
	assert_false(are_links_of(fabric, "s2"));
	assert_false(are_links_of(fabric, "tor1"));
	assert_true(is_alone(fabric, "s1>tor1@10.2.1.1"));
	assert_false(is_alone(fabric, "s2>tor1@10.2.1.2"));
}

static bool
two_links_and_a_spine(int src, int spine, int dst)
{
	return spine == 2 || two_links(src, spine, dst);
}

/* A region with many lossy paths still has several dead links. */
static void
two_dead_links_are_links_beside_a_dead_spine_with_a_thousand_lossy_paths(void **state)
{
	struct fabric *fabric = *state;

	build(fabric, two_links_and_a_spine);
	assert_true(fabric->c.lossy_count > 1000);
	assert_true(are_links_of(fabric, "s1"));
	assert_false(are_links_of(fabric, "s2"));
	assert_true(is_alone(fabric, "s1>tor1@10.2.1.1"));
	assert_false(is_alone(fabric, "s2>tor3@10.2.3.2"));
}

static size_t
proven(struct fabric *fabric, const char *node, struct localise_element *ret[128])
{
	const struct localise_element *element;

	HASH_FIND_STR(fabric->map.elements, node, element);
	assert_non_null(element);
	return localise_dead_links_proven(&fabric->map, element, fabric->now, ret, 128);
}

static void
two_dead_links_are_proven_beside_a_thousand_lossy_paths(void **state)
{
	struct fabric *fabric = *state;
	struct localise_element *dead[128], *s1;

	build(fabric, two_links_and_a_spine);
	assert_true(fabric->map.lossy_count > 1000);
	/* Both directions of two links. */
	assert_int_equal(proven(fabric, "s1", dead), 4);
	HASH_FIND_STR(fabric->map.elements, "s1", s1);
	assert_true(
	    localise_dead_links_explain(&fabric->map, s1, fabric->now, dead, 4));
	assert_false(
	    localise_dead_links_explain(&fabric->map, s1, fabric->now, dead, 1));
	/* No link of a dead spine is proven dead. */
	assert_int_equal(proven(fabric, "s2", dead), 0);
}

static bool
all_links_but_two(int src, int spine, int dst)
{
	return spine == 1 && (src <= 38 || dst <= 38);
}

static void
more_than_thirty_two_dead_links_of_a_switch_are_proven(void **state)
{
	struct fabric *fabric = *state;
	struct localise_element *dead[128];

	build(fabric, all_links_but_two);
	assert_int_equal(proven(fabric, "s1", dead), 76);
}

static bool
all_but_one_link(int src, int spine, int dst)
{
	return spine == 1 && src != 40 && dst != 40;
}

static void
a_switch_that_forwards_nothing_is_dead_itself(void **state)
{
	struct fabric *fabric = *state;

	build(fabric, all_but_one_link);
	assert_false(are_links_of(fabric, "s1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    two_dead_links_of_a_switch_that_forwards_are_links, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    two_dead_links_are_links_beside_a_dead_spine_with_a_thousand_lossy_paths,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(
		    two_dead_links_are_proven_beside_a_thousand_lossy_paths, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    more_than_thirty_two_dead_links_of_a_switch_are_proven, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    a_switch_that_forwards_nothing_is_dead_itself, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
