#include <errno.h>
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
#include "tests/unit/sim/clos_fixture.h"

static void
every_part_is_found_by_its_name(void **state)
{
	struct clos *clos = fat_tree(4);
	char name[RM_PART_NAME_BYTES];

	for (uint32_t i = 0; i < clos_parts(clos); i++) {
		uint32_t found;

		clos_name(clos, i, name);
		found = clos_find(clos, name);
		assert_true(found == i || (clos_part(clos, i)->type == CLOS_LINK &&
					      found == clos_part(clos, i)->twin));
	}
	clos_name(clos, clos_find(clos, "tor1--h1/r0"), name);
	assert_string_equal(name, "h1/r0--tor1");
	assert_int_equal(clos_find(clos, "tor9"), CLOS_NONE);
	assert_int_equal(clos_find(clos, "tor0"), CLOS_NONE);
	assert_int_equal(clos_find(clos, "tor1x"), CLOS_NONE);
	assert_int_equal(clos_find(clos, "spine1"), CLOS_NONE);
	assert_int_equal(clos_find(clos, "core1--tor1"), CLOS_NONE);
	assert_int_equal(clos_find(clos, ""), CLOS_NONE);
	clos_free(clos);
}

static void
no_two_parts_have_the_same_address(void **state)
{
	struct clos *clos = fat_tree(10);
	char a[16], b[16];

	clos_address(clos, 0, a);
	assert_string_equal(a, "10.0.0.1");
	clos_address(clos, clos_first(clos, CLOS_LINK), a);
	assert_string_equal(a, "10.200.0.1");
	clos_address(clos, 249, a);
	assert_string_equal(a, "10.0.0.250");
	clos_address(clos, clos_first(clos, CLOS_LINK) + 250, b);
	assert_string_equal(b, "10.200.1.1");
	clos_free(clos);
}

static void
with_loopbacks_a_switch_has_one_address(void **state)
{
	struct clos_options options = { .tiers = 2,
		.racks = 300,
		.middle = 2,
		.rnics_per_rack = 2,
		.loopbacks = true };
	struct clos *clos = NULL;
	char a[16], b[16], c[16];
	json_t *document, *spine;

	assert_int_equal(clos_new(&options, &clos), 0);
	clos_address(clos, clos_find(clos, "tor1--spine1"), a);
	clos_address(clos, clos_find(clos, "tor300--spine1"), b);
	clos_address(clos, clos_find(clos, "tor1--spine2"), c);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	document = clos_topology(clos);
	spine = json_array_get(json_object_get(document, "switches"), 300);
	assert_int_equal(json_array_size(json_object_get(spine, "aliases")), 1);
	assert_string_equal(
	    json_string_value(json_array_get(json_object_get(spine, "aliases"), 0)), a);
	json_decref(document);
	clos_free(clos);
	options.cables = 2;
	assert_int_equal(clos_new(&options, &clos), -EINVAL);
}

static void
check_topology(struct clos *clos, const char *from, const char *to, uint32_t routes)
{
	json_t *document = clos_topology(clos);
	struct rm_topology_paths *paths = NULL;
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };
	size_t a, b;
	char *text;

	assert_non_null(document);
	text = json_dumps(document, 0);
	json_decref(document);
	assert_non_null(text);
	if (rm_topology_parse("sim", text, strlen(text), &topology, &error) < 0)
		fail_msg("%s", error.text);
	free(text);
	assert_int_equal(rm_topology_warnings(topology), 0);
	assert_int_equal(rm_topology_switches(topology), clos_switches(clos));
	assert_true(rm_topology_find(topology, from, &a));
	assert_true(rm_topology_find(topology, to, &b));
	assert_int_equal(rm_topology_paths_new(topology, &paths), 0);
	rm_topology_paths_to(paths, b);
	assert_int_equal(rm_topology_paths_from(paths, a), routes);
	rm_topology_paths_free(paths);
	rm_topology_free(topology);
	clos_free(clos);
}

static void
its_topology_is_accepted_and_has_the_same_paths(void **state)
{
	check_topology(fat_tree(4), "tor1", "tor8", 4);
	check_topology(fat_tree(4), "tor1", "tor2", 2);
	check_topology(fat_tree(10), "tor1", "tor50", 25);
	/* Three spines, with two cables to each ToR. */
	check_topology(fabric(&two_tiers), "tor1", "tor6", 12);
}

static void
an_alias_leads_to_the_switch_where_a_link_ends(void **state)
{
	struct clos *clos = fat_tree(4);
	json_t *document = clos_topology(clos), *sw, *alias;
	const uint32_t link = clos_find(clos, "pod1-agg1--core1");
	bool found = false;
	size_t i, k;
	char text[16];

	clos_address(clos, link, text);
	json_array_foreach (json_object_get(document, "switches"), i, sw) {
		json_array_foreach (json_object_get(sw, "aliases"), k, alias) {
			if (strcmp(json_string_value(alias), text) != 0)
				continue;
			found = true;
			assert_string_equal(
			    json_string_value(json_object_get(sw, "name")), "core1");
		}
	}
	assert_true(found);
	json_decref(document);
	clos_free(clos);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_is_found_by_its_name),
		cmocka_unit_test(no_two_parts_have_the_same_address),
		cmocka_unit_test(with_loopbacks_a_switch_has_one_address),
		cmocka_unit_test(its_topology_is_accepted_and_has_the_same_paths),
		cmocka_unit_test(an_alias_leads_to_the_switch_where_a_link_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
