#include "analyzer/finding/localise_one_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_map.h"

#define RACKS 4
#define SECONDS 20
#define BEGAN_NS (100 * RM_NS_PER_S)

struct spine { /* a spine over which four racks have probed each other for some seconds
		*/
	struct localise_map map;
	struct localise_case c;
	struct localise_suspect node;
};

static int
setup(void **state)
{
	static struct spine spine;

	spine = (struct spine){ .map = { .row_interval_ns = RM_NS_PER_S } };
	assert_int_equal(localise_case_init(&spine.c, true), 0);
	*state = &spine;
	return 0;
}

static int
teardown(void **state)
{
	struct spine *spine = *state;

	localise_case_release(&spine->c);
	localise_map_release(&spine->map);
	return 0;
}

static void
add_row(
    struct spine *spine, int src, int dst, uint64_t sent, uint64_t lost, rm_mono_t now)
{
	char path[2 * RM_NAME_BYTES], names[2][RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = names[1],
		.path = path,
		.flows = 40,
		.sent = sent,
		.lost_forward = lost };
	struct localise_rack *rack;
	struct localise_path *route;

	snprintf(names[0], sizeof names[0], "tor%d", src);
	snprintf(names[1], sizeof names[1], "tor%d", dst);
	snprintf(path, sizeof path, "tor%d@10.0.%d.1 s1@10.1.%d.1 tor%d@10.2.%d.1", src,
	    src, src, dst, dst);
	assert_int_equal(localise_map_rack(&spine->map, names[0], &rack), 0);
	if (dst == 1 || (src == 1 && dst == 2))
		localise_map_frame(
		    rack, (rm_wall_t){ now.ns + 5000 * RM_NS_PER_S }, 0, now);
	assert_int_equal(localise_map_path(&spine->map, rack, &row, &route), 0);
	assert_int_equal(
	    localise_map_row(&spine->map, route, &row, RM_NS_PER_S, RM_NS_PER_S, now),
	    0);
	spine->node = (struct localise_suspect){ .type = RM_PART_SWITCH,
		.elements = { route->elements[2] },
		.element_count = 1 };
	assert_string_equal(route->elements[2]->a, "s1");
}

/* In each second, each pair of racks that includes the second rack sends 200 probes,
 * and each other pair sends sent_elsewhere. One of the probes to each rack in the mask
 * `lossy` is lost. */
static const struct localise_suspect *
one_link(struct spine *spine, uint64_t sent_elsewhere, unsigned lossy, bool *sure)
{
	rm_mono_t now = { BEGAN_NS };

	for (int s = 0; s < SECONDS; s++, now.ns += RM_NS_PER_S)
		for (int src = 1; src <= RACKS; src++)
			for (int dst = 1; dst <= RACKS; dst++)
				if (src != dst)
					add_row(spine, src, dst,
					    src == 2 || dst == 2 ? 200 : sent_elsewhere,
					    lossy >> dst & 1, now);
	assert_int_equal(localise_case_build(&spine->c, &spine->map, now,
			     localise_path_slow, NULL, NULL),
	    0);
	*sure = false;
	return localise_one_link(
	    &spine->c, &spine->map, localise_path_slow, &spine->node, sure);
}

static void
assert_link(const struct localise_suspect *suspect, const char *name)
{
	struct rm_part part;

	assert_non_null(suspect);
	localise_suspect_part(suspect, &part);
	assert_int_equal(part.type, RM_PART_LINK);
	assert_string_equal(part.name, name);
}

static void
losses_over_one_cable_name_the_cable(void **state)
{
	bool sure;

	assert_link(one_link(*state, 200, 1u << 2, &sure), "s1--tor2");
	assert_true(sure);
}

/* With the loss of this cable the other paths would have lost less than one packet. */
static void
one_cable_is_not_certain_if_hardly_any_probes_cross_the_others(void **state)
{
	bool sure;

	assert_link(one_link(*state, 1, 1u << 2, &sure), "s1--tor2");
	assert_false(sure);
}

static void
losses_over_two_cables_name_no_single_cable(void **state)
{
	bool sure;

	assert_null(one_link(*state, 200, 1u << 2 | 1u << 3, &sure));
}

/* A path has two entries if an element of it loses one class only. */
static void
a_path_with_two_entries_loses_its_packets_once(void **state)
{
	struct spine *spine = *state;
	struct localise_case *c = &spine->c;
	const struct localise_path *path;
	bool sure;

	assert_null(one_link(spine, 200, 1u << 2 | 1u << 3, &sure));
	for (size_t i = 0, count = c->lossy_count; i < count; i++) {
		path = c->lossy[i].path;
		if (strcmp(path->elements[path->element_count - 1]->a, "tor2") != 0)
			continue;
		assert_true(c->lossy_count < c->lossy_size);
		c->lossy[c->lossy_count] = c->lossy[i];
		c->lossy[c->lossy_count++].again = true;
	}
	assert_true(c->lossy_count > 2);
	assert_null(
	    localise_one_link(c, &spine->map, localise_path_slow, &spine->node, &sure));
}

static void
losses_over_all_cables_name_the_switch(void **state)
{
	bool sure;

	assert_null(
	    one_link(*state, 200, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4, &sure));
}

static void
a_link_is_not_named_as_its_switch(void **state)
{
	struct spine *spine = *state;
	bool sure;

	assert_non_null(one_link(spine, 200, 1u << 2, &sure));
	spine->node.type = RM_PART_LINK;
	assert_null(localise_one_link(
	    &spine->c, &spine->map, localise_path_slow, &spine->node, &sure));
}

/* 7919 is the distance between two paths in the sample. */
static void
a_sample_of_paths_has_none_twice(void **state)
{
	static struct localise_path *paths[2 * 7919];
	static const size_t counts[] = { 5, 128, 129, 7919, 2 * 7919 };
	static char places[2 * 7919];

	(void)state;
	for (size_t i = 0; i < 2 * 7919; i++)
		paths[i] = (void *)&places[i];
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct localise_element at = { .paths = paths,
			.path_count = counts[i] };

		for (size_t k = 0; k < 128 && k < counts[i]; k++)
			for (size_t n = 0; n < k; n++)
				assert_ptr_not_equal(
				    localise_element_sample(&at, 128, k),
				    localise_element_sample(&at, 128, n));
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(losses_over_one_cable_name_the_cable),
		TEST(one_cable_is_not_certain_if_hardly_any_probes_cross_the_others),
		TEST(losses_over_two_cables_name_no_single_cable),
		TEST(a_path_with_two_entries_loses_its_packets_once),
		TEST(losses_over_all_cables_name_the_switch),
		TEST(a_link_is_not_named_as_its_switch),
		cmocka_unit_test(a_sample_of_paths_has_none_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
