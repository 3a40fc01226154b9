#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/topology/topology.h"

static struct rm_topology *
parse(const char *text)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };

	if (rm_topology_parse("t.yaml", text, strlen(text), &topology, &error) < 0)
		fail_msg("%s", error.text);
	return topology;
}

/* The switches tor1, tor2 and spine1, from line 2 on. */
#define HEAD                            \
	"region: lab\n"                 \
	"switches:\n"                   \
	"  - {name: tor1, role: tor}\n" \
	"  - {name: tor2, role: tor}\n" \
	"  - {name: spine1, role: spine}\n"
#define LINKS                  \
	"links:\n"             \
	"  - [tor1, spine1]\n" \
	"  - [tor2, spine1]\n"

static void
suspicious_entries_are_warnings(void **state)
{
	struct rm_topology *t = parse(HEAD "  - {name: tor3, role: tor}\n"
					   "  - {name: spine2, role: spine}\n" LINKS);

	assert_int_equal(rm_topology_warnings(t), 2);
	assert_string_equal(rm_topology_warning(t, 0),
	    "t.yaml:6: no path leads from \"tor3\" to any other ToR of its plane; it "
	    "will be probed from inside only: add its uplinks");
	assert_string_equal(rm_topology_warning(t, 1),
	    "t.yaml:7: spine \"spine2\" has no link; add its links or remove it");
	rm_topology_free(t);

	t = parse("region: lab\nplanes: [p, q]\nswitches:\n"
		  "  - {name: t1, role: tor, plane: p}\n"
		  "  - {name: t2, role: tor, plane: p}\n");
	assert_int_equal(rm_topology_warnings(t), 2);
	assert_string_equal(rm_topology_warning(t, 0),
	    "t.yaml:1: plane \"p\" has no links; its 2 racks probe each other, but "
	    "over "
	    "an assumed number of paths: write the links down");
	assert_string_equal(rm_topology_warning(t, 1),
	    "t.yaml:1: plane \"q\" has no switch of role tor; nothing is probed in it");
	rm_topology_free(t);
}

static void
warnings_are_bounded(void **state)
{
	char *text = calloc(1, 1 << 16);
	size_t len;
	struct rm_topology *t;

	assert_non_null(text);
	len = (size_t)sprintf(text, HEAD);
	for (int i = 0; i < 100; i++)
		len += (size_t)sprintf(text + len, "  - {name: x%d, role: core}\n", i);
	strcpy(text + len, LINKS);
	t = parse(text);
	assert_int_equal(rm_topology_warnings(t), RM_TOPOLOGY_MAX_WARNINGS);
	assert_string_equal(rm_topology_warning(t, RM_TOPOLOGY_MAX_WARNINGS - 1),
	    "t.yaml: and 37 more warnings");
	rm_topology_free(t);
	free(text);
}

static void
a_single_tor_without_links_gives_no_warning(void **state)
{
	struct rm_topology *t =
	    parse("region: lab\nswitches:\n  - {name: t1, role: tor}\n");

	assert_int_equal(rm_topology_warnings(t), 0);
	rm_topology_free(t);
}

static void
tors_joined_directly_reach_each_other(void **state)
{
	struct rm_topology *t = parse("region: lab\nswitches:\n"
				      "  - {name: t1, role: tor}\n"
				      "  - {name: t2, role: tor}\n"
				      "links:\n  - [t1, t2]\n");

	assert_int_equal(rm_topology_warnings(t), 0);
	rm_topology_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suspicious_entries_are_warnings),
		cmocka_unit_test(warnings_are_bounded),
		cmocka_unit_test(a_single_tor_without_links_gives_no_warning),
		cmocka_unit_test(tors_joined_directly_reach_each_other),
	};

	return cmocka_run_group_tests_name("topology_oddities", tests, NULL, NULL);
}
