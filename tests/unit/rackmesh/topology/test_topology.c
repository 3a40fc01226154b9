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

/* The text must be refused with exactly this message. */
static void
refused(const char *text, const char *sentence)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };

	assert_true(
	    rm_topology_parse("t.yaml", text, strlen(text), &topology, &error) < 0);
	assert_null(topology);
	assert_string_equal(error.text, sentence);
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

static size_t
named(const struct rm_topology *topology, const char *name)
{
	size_t index = SIZE_MAX;

	assert_true(rm_topology_find(topology, name, &index));
	return index;
}

static void
a_topology_is_read_as_written(void **state)
{
	struct rm_topology *t = parse(
	    "region: lab\n"
	    "planes: [red, blue]\n"
	    "racks:\n"
	    "  - tor: tor1\n"
	    "    aggregators: ['192.0.2.1:7471', '[fd00::1]:7471']\n"
	    "    hosts: 4\n"
	    "    rnics: 8\n"
	    "links:\n"
	    "  - {a: tor1, b: spine1, count: 2, speed_gbps: 400}\n"
	    "switches:\n"
	    "  - name: tor1\n"
	    "    role: tor\n"
	    "    plane: blue\n"
	    "    reflector: 10.0.0.1\n"
	    "    aliases: [10.0.0.1, 10.0.0.2, fd00::2]\n"
	    "  - {name: spine1, role: spine, plane: blue}\n"
	    "  - {name: tor9, role: tor, plane: red, reflector: '[fd00::9]:9862'}\n"
	    "  - {name: core1, role: core, plane: red}\n");
	const struct rm_switch *tor1 = rm_topology_switch(t, named(t, "tor1"));
	const struct rm_topology_link *link = rm_topology_link(t, 0);
	struct rm_address address;
	char text[RM_ADDRESS_TEXT];
	size_t owner = SIZE_MAX;

	assert_string_equal(rm_topology_region(t), "lab");
	assert_int_equal(rm_topology_planes(t), 2);
	assert_string_equal(rm_topology_plane(t, tor1->plane), "blue");
	assert_int_equal(rm_topology_switches(t), 4);
	assert_int_equal(tor1->role, RM_SWITCH_TOR);
	assert_int_equal(tor1->line, 11);
	assert_true(tor1->has_reflector);
	rm_address_format(&tor1->reflector, text);
	assert_string_equal(text, "10.0.0.1:862");
	assert_int_equal(tor1->alias_count, 3);
	assert_int_equal(tor1->aggregator_count, 2);
	assert_int_equal(tor1->expected_hosts, 4);
	assert_int_equal(tor1->expected_rnics, 8);
	assert_int_equal(rm_topology_links(t), 1);
	assert_int_equal(link->a, named(t, "tor1"));
	assert_int_equal(link->b, named(t, "spine1"));
	assert_int_equal(link->count, 2);
	assert_int_equal(link->speed_gbps, 400);
	assert_string_equal(
	    rm_switch_role_str(rm_topology_switch(t, named(t, "core1"))->role), "core");
	assert_int_equal(rm_address_parse("[fd00::2]:99", -1, &address), 0);
	assert_true(rm_topology_find_alias(t, &address, &owner));
	assert_int_equal(owner, named(t, "tor1"));
	assert_int_equal(rm_address_parse("10.0.0.3", 0, &address), 0);
	assert_false(rm_topology_find_alias(t, &address, &owner));
	assert_false(rm_topology_find(t, "nobody", &owner));
	rm_topology_free(t);
	rm_topology_free(NULL);
}

static void
lists_at_both_ends_of_a_link_connect_each_with_each(void **state)
{
	struct rm_topology *t = parse(HEAD "  - {name: spine2, role: spine}\n"
					   "links:\n"
					   "  - [[tor1, tor2], [spine1, spine2]]\n");

	assert_int_equal(rm_topology_links(t), 4);
	assert_int_equal(rm_topology_link(t, 3)->a, named(t, "tor2"));
	assert_int_equal(rm_topology_link(t, 3)->b, named(t, "spine2"));
	assert_int_equal(rm_topology_link(t, 3)->count, 1);
	assert_int_equal(rm_topology_warnings(t), 0);
	rm_topology_free(t);
}

static void
a_topology_without_planes_has_one(void **state)
{
	struct rm_topology *t = parse(HEAD LINKS);

	assert_int_equal(rm_topology_planes(t), 1);
	assert_string_equal(rm_topology_plane(t, 0), RM_TOPOLOGY_DEFAULT_PLANE);
	assert_true(rm_topology_has_links(t, 0));
	rm_topology_free(t);
}

static void
a_mistyped_key_is_named_with_the_probable_one(void **state)
{
	refused("region: lab\nswiches: []\n",
	    "t.yaml:2:1: the topology has no key \"swiches\"; did you mean "
	    "\"switches\"?");
	refused(
	    "region: lab\nswitches:\n  - {name: t, role: tor, reflecter: 1.2.3.4}\n",
	    "t.yaml:3:26: a switch has no key \"reflecter\"; did you mean "
	    "\"reflector\"?");
	refused(HEAD "links:\n  - {a: tor1, b: spine1, colour: red}\n",
	    "t.yaml:7:26: a link has no key \"colour\"; remove it, docs/topology.md "
	    "lists all");
	refused(HEAD "racks:\n  - {tor: tor1, rnic: 3}\n",
	    "t.yaml:7:17: a rack has no key \"rnic\"; did you mean \"rnics\"?");
}

static void
duplicates_are_refused_with_both_lines(void **state)
{
	refused("region: a\nregion: b\n",
	    "t.yaml:2:1: \"region\" occurs twice, first in line 1; remove one of them");
	refused("region: a\nplanes: [p, q, p]\n",
	    "t.yaml:2:16: plane \"p\" occurs twice; remove one");
	refused(HEAD "  - {name: tor2, role: tor}\n",
	    "t.yaml:6:12: switch \"tor2\" occurs twice, first in line 4; remove or "
	    "rename one");
	refused(HEAD LINKS "  - [spine1, tor1]\n",
	    "t.yaml:9:14: the link from \"spine1\" to \"tor1\" occurs twice, first in "
	    "line 7; write one, with count for parallel cables");
	refused(HEAD "racks:\n  - tor: tor1\n  - tor: tor1\n",
	    "t.yaml:8:10: the rack of \"tor1\" occurs twice, first in line 7; remove "
	    "one");
	refused(HEAD
	    "racks:\n  - {tor: tor1, aggregators: ['1.2.3.4:5', '1.2.3.4:5']}\n",
	    "t.yaml:7:44: aggregator 1.2.3.4:5 occurs twice; remove one");
}

static void
an_address_belongs_to_one_switch(void **state)
{
	refused("region: lab\nswitches:\n"
		"  - {name: t1, role: tor, aliases: [10.0.0.1]}\n"
		"  - {name: t2, role: tor, aliases: [10.0.0.2, 10.0.0.1]}\n",
	    "t.yaml:4:47: 10.0.0.1 is already an address of \"t1\" (line 3); an "
	    "address "
	    "belongs to one switch");
	refused("region: lab\nswitches:\n"
		"  - {name: t1, role: tor, reflector: 'fd00::1'}\n"
		"  - {name: t2, role: tor, reflector: '[fd00:0::1]:900'}\n",
	    "t.yaml:4:38: [fd00:0::1]:900 is already an address of \"t1\" (line 3); an "
	    "address belongs to one switch");
	refused("region: lab\nswitches:\n"
		"  - {name: t1, role: tor, aliases: [10.0.0.1, 10.0.0.1]}\n",
	    "t.yaml:3:47: 10.0.0.1 occurs twice, first in line 3; remove one");
}

static void
bad_addresses_are_refused(void **state)
{
	refused("region: lab\nswitches:\n  - {name: t, role: tor, reflector: 10.0.0}\n",
	    "t.yaml:3:37: \"10.0.0\" is not an address; write 10.0.0.1, 10.0.0.1:862, "
	    "fd00::1 or \"[fd00::1]:862\"");
	refused("region: lab\nswitches:\n  - {name: t, role: tor, aliases: "
		"['1.2.3.4:0']}\n",
	    "t.yaml:3:36: \"1.2.3.4:0\" is not an address; write 10.0.0.1 or fd00::1, "
	    "without a port");
	refused(
	    "region: lab\nswitches:\n  - {name: t, role: tor, aliases: [224.0.0.5]}\n",
	    "t.yaml:3:36: \"224.0.0.5\" is not the address of one interface; write a "
	    "unicast address");
	refused("region: lab\nswitches:\n  - {name: t, role: tor, aliases: ['::']}\n",
	    "t.yaml:3:36: \"::\" is not the address of one interface; write a unicast "
	    "address");
	refused(HEAD "racks:\n  - {tor: tor1, aggregators: [10.0.0.1]}\n",
	    "t.yaml:7:31: \"10.0.0.1\" is not an address; write name:7471, "
	    "10.0.0.1:7471 or \"[fd00::1]:7471\"");
	refused(HEAD "racks:\n  - {tor: tor1, aggregators: ['unix:/x']}\n",
	    "t.yaml:7:31: \"unix:/x\" is not an address; write name:7471, "
	    "10.0.0.1:7471 or \"[fd00::1]:7471\"");
}

static void
names_are_checked(void **state)
{
	refused("region: l b\n",
	    "t.yaml:1:9: \"l b\" is no valid name; use 1 to 63 of A-Z a-z 0-9 . _ : -, "
	    "a letter or digit first");
	refused("region: lab\nswitches:\n  - {name: -t, role: tor}\n",
	    "t.yaml:3:12: \"-t\" is no valid name; use 1 to 63 of A-Z a-z 0-9 . _ : -, "
	    "a letter or digit first");
	refused("region: lab\nswitches:\n  - {name: [t], role: tor}\n",
	    "t.yaml:3:12: a name is expected here, not a list or a map");
}

static void
links_connect_two_existing_switches(void **state)
{
	refused(HEAD "links:\n  - [tor1, spine9]\n",
	    "t.yaml:7:12: there is no switch \"spine9\"; add it under switches, or "
	    "correct the name");
	refused(HEAD "links:\n  - {a: tor1, b: tor1}\n",
	    "t.yaml:7:18: a link from \"tor1\" to itself; name two switches");
	refused(HEAD "links:\n  - [tor1]\n",
	    "t.yaml:7:5: a link has two ends; write [tor1, spine1]");
	refused(HEAD "links:\n  - [tor1, []]\n",
	    "t.yaml:7:12: an empty list of switches; name at least one");
	refused(HEAD "links:\n  - {a: tor1}\n",
	    "t.yaml:7:5: a link needs \"b\"; add it (the switch at its other end)");
	refused(HEAD "links:\n  - tor1\n",
	    "t.yaml:7:5: a link is written as \"key: value\" pairs; see "
	    "docs/topology.md");
	refused(HEAD "links: tor1\n",
	    "t.yaml:6:8: links is a list; write \"- \" before each item, or [a, b]");
}

static void
links_stay_within_a_plane(void **state)
{
	refused("region: lab\nplanes: [p, q]\nswitches:\n"
		"  - {name: t1, role: tor, plane: p}\n"
		"  - {name: s1, role: spine, plane: q}\n"
		"links:\n  - [t1, s1]\n",
	    "t.yaml:7:10: a link from \"t1\" (plane \"p\") to \"s1\" (plane \"q\"); "
	    "planes have no route between them: correct a plane, or join the two");
}

static void
planes_are_declared(void **state)
{
	refused("region: lab\nswitches:\n  - {name: t, role: tor, plane: p}\n",
	    "t.yaml:3:33: plane \"p\" is not declared; add it to planes, or correct "
	    "the "
	    "name");
	refused("region: lab\nplanes: [p, q]\nswitches:\n  - {name: t, role: tor}\n",
	    "t.yaml:4:5: switch \"t\" needs \"plane\"; there are several planes, "
	    "name that of the switch");
}

static void
unknown_roles_are_refused(void **state)
{
	refused("region: lab\nswitches:\n  - {name: t}\n",
	    "t.yaml:3:5: a switch needs \"role\"; add it (tor, spine, core or other)");
	refused("region: lab\nswitches:\n  - {name: t, role: leaf}\n",
	    "t.yaml:3:21: role of \"t\": expected tor, spine, core or other; a leaf "
	    "that "
	    "RNICs are cabled to is a tor");
}

static void
racks_are_below_tors(void **state)
{
	refused(HEAD "racks:\n  - tor: nowhere\n",
	    "t.yaml:7:10: there is no switch \"nowhere\"; add it under switches, or "
	    "correct the name");
	refused(HEAD "racks:\n  - tor: spine1\n",
	    "t.yaml:7:10: \"spine1\" is a spine, and racks are below ToRs; name a tor, "
	    "or correct its role (line 5)");
	refused(HEAD "racks:\n  - rnics: 8\n",
	    "t.yaml:7:5: a rack needs \"tor\"; add it (the switch its RNICs end in)");
}

static void
numbers_stay_in_range(void **state)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };
	static const char text[] = HEAD "links:\n  - {a: tor1, b: spine1, count: 0}\n";

	assert_true(
	    rm_topology_parse("t.yaml", text, sizeof(text) - 1, &topology, &error) < 0);
	assert_non_null(strstr(error.text, "t.yaml:7:33: "));
	assert_non_null(strstr(error.text, "256"));
}

static void
an_empty_topology_is_refused(void **state)
{
	refused("", "t.yaml:1:1: the topology is empty; add region and switches");
	refused("switches: []\n",
	    "t.yaml:1:1: the topology needs \"region\"; add it (the controller's "
	    "region)");
	refused("region: lab\n",
	    "t.yaml:1:1: there is no switch of role tor, so nothing to watch; add the "
	    "ToRs under switches");
	refused("region: lab\nswitches:\n  - {name: s, role: spine}\n",
	    "t.yaml:3:3: there is no switch of role tor, so nothing to watch; add the "
	    "ToRs under switches");
	refused("[]\n",
	    "t.yaml:1:1: the topology is written as \"key: value\" pairs; see "
	    "docs/topology.md");
}

static void
the_example_is_good(void **state)
{
	struct rm_topology *t = NULL;
	struct rm_error error = { 0 };

	if (rm_topology_load(EXAMPLE, &t, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(rm_topology_warnings(t), 0);
	rm_topology_free(t);
}

static void
members_of_racks_define_where_a_hosts_cables_end(void **state)
{
	struct rm_topology *t =
	    parse("region: lab\n"
		  "switches:\n"
		  "  - {name: tor1, role: tor}\n"
		  "  - {name: tor2, role: tor}\n"
		  "racks:\n"
		  "  - tor: tor2\n"
		  "    members: ['gpu*/eth[2-3]', cpu1]\n"
		  "  - tor: tor1\n"
		  "    aggregators: [agg-1a.example:7471, '[fd00::1]:7471']\n"
		  "    members: ['gpu[0-9]*']\n");
	struct rm_topology_cable cables[2] = { { NULL, 0 } };

	assert_int_equal(rm_topology_cables(t, "gpu17", cables, 2), 2);
	assert_int_equal(cables[0].tor, named(t, "tor1"));
	assert_string_equal(cables[0].device, "");
	assert_int_equal(cables[1].tor, named(t, "tor2"));
	assert_string_equal(cables[1].device, "eth[2-3]");
	assert_int_equal(rm_topology_cables(t, "gpu17", cables, 1), 2);
	assert_int_equal(rm_topology_cables(t, "cpu1", cables, 2), 1);
	assert_int_equal(cables[0].tor, named(t, "tor2"));
	assert_int_equal(rm_topology_cables(t, "cpu12", cables, 2), 0);
	assert_string_equal(
	    rm_topology_switch(t, named(t, "tor1"))->aggregators[0].name,
	    "agg-1a.example");
	rm_topology_free(t);
}

static void
a_member_that_is_no_pattern_is_refused(void **state)
{
	static const char *const bad[] = { "''", "a/", "/b", "a/b/c", "'a b'", "[a, b]",
		"'*a*b*c*d*'", "h/'*'x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text),
		    HEAD "racks:\n  - {tor: tor1, members: [%s]}\n", bad[i]);
		refused(text,
		    "t.yaml:7:27: a member is a host or host/device, by name or by a "
		    "pattern with * ? [a-c]");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_topology_is_read_as_written),
		cmocka_unit_test(members_of_racks_define_where_a_hosts_cables_end),
		cmocka_unit_test(a_member_that_is_no_pattern_is_refused),
		cmocka_unit_test(lists_at_both_ends_of_a_link_connect_each_with_each),
		cmocka_unit_test(a_topology_without_planes_has_one),
		cmocka_unit_test(a_mistyped_key_is_named_with_the_probable_one),
		cmocka_unit_test(duplicates_are_refused_with_both_lines),
		cmocka_unit_test(an_address_belongs_to_one_switch),
		cmocka_unit_test(bad_addresses_are_refused),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(links_connect_two_existing_switches),
		cmocka_unit_test(links_stay_within_a_plane),
		cmocka_unit_test(planes_are_declared),
		cmocka_unit_test(unknown_roles_are_refused),
		cmocka_unit_test(racks_are_below_tors),
		cmocka_unit_test(numbers_stay_in_range),
		cmocka_unit_test(an_empty_topology_is_refused),
		cmocka_unit_test(the_example_is_good),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
