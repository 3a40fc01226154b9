#include "region-controller/topology/traced.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/api/topology_json.h"
#include "region-controller/api/traced_json.h"
#include "region-controller/store/store_topology.h"

#define DAY_NS (INT64_C(86400) * RM_NS_PER_S)

static const char text[] = "region: lab\n"
			   "switches:\n"
			   "  - { name: tor1, role: tor }\n"
			   "  - { name: tor2, role: tor, aliases: [172.16.2.1] }\n"
			   "  - { name: spine1, role: spine, aliases: [172.16.1.2] }\n"
			   "links:\n"
			   "  - [[tor1, tor2], [spine1]]\n";

struct world {
	struct traced *traced;
	struct rm_topology *topology;
	struct traced_link reported[16];
	size_t reported_count;
	unsigned gone;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rm_error error = { 0 };

	*state = world;
	assert_int_equal(
	    rm_topology_parse("t.yaml", text, strlen(text), &world->topology, &error),
	    0);
	return traced_new(4, &world->traced);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	traced_free(world->traced);
	rm_topology_free(world->topology);
	free(world);
	return 0;
}

static void
on_link(const struct traced_link *link, void *arg)
{
	struct world *world = arg;

	assert_true(world->reported_count < 16);
	world->reported[world->reported_count++] = *link;
}

/* hops: the last two bytes of addresses 172.16.x.y; 0: the hop did not answer. */
static void
learn(struct world *world, const uint16_t *hops, uint8_t count, int64_t at_ns)
{
	struct wire_path path = { .family = 4, .hop_count = count };

	for (uint8_t i = 0; i < count; i++) {
		const uint8_t address[4] = { 172, 16, (uint8_t)(hops[i] >> 8),
			(uint8_t)hops[i] };

		if (hops[i] != 0)
			memcpy(path.hops[i], address, sizeof(address));
	}
	traced_learn(world->traced, world->topology, "tor1", &path,
	    (rm_wall_t){ at_ns }, on_link, world);
}

static void
hops_become_links_between_the_switches_that_aliases_name(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102, 0x0201 }, 3, DAY_NS);
	assert_int_equal(world->reported_count, 2);
	/* The first hop is the rack's own ToR, whether an alias names it or not. */
	assert_string_equal(world->reported[0].from, "tor1");
	assert_string_equal(world->reported[0].to, "spine1");
	assert_string_equal(world->reported[0].address, "172.16.1.2");
	assert_string_equal(world->reported[0].by, "tor1");
	assert_string_equal(world->reported[1].from, "spine1");
	assert_string_equal(world->reported[1].to, "tor2");
	assert_int_equal(world->reported[1].first_seen.ns, DAY_NS);
}

static void
a_hop_without_an_alias_is_named_by_its_address(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0505, 0x0201 }, 3, DAY_NS);
	assert_string_equal(world->reported[0].to, "?172.16.5.5");
	assert_string_equal(world->reported[1].from, "?172.16.5.5");
}

static void
no_link_is_derived_across_a_silent_hop(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0, 0x0201 }, 3, DAY_NS);
	assert_int_equal(world->reported_count, 0);
	assert_int_equal(traced_links(world->traced), 0);
	assert_int_equal(traced_counts(world->traced)->silent, 1);
}

static void
a_link_seen_again_is_reported_at_most_once_an_hour(void **state)
{
	const uint16_t hops[] = { 0x0909, 0x0102 };
	struct world *world = *state;
	const struct traced_link **links;
	size_t count;

	learn(world, hops, 2, DAY_NS);
	learn(world, hops, 2, DAY_NS + 60 * RM_NS_PER_S);
	assert_int_equal(world->reported_count, 1);
	learn(world, hops, 2, DAY_NS + 3600 * RM_NS_PER_S);
	assert_int_equal(world->reported_count, 2);
	assert_int_equal(traced_sorted(world->traced, &links, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(links[0]->first_seen.ns, DAY_NS);
	assert_int_equal(links[0]->last_seen.ns, DAY_NS + 3600 * RM_NS_PER_S);
	free(links);
}

static void
links_beyond_the_bound_are_refused_and_counted(void **state)
{
	struct world *world = *state;

	for (uint16_t i = 1; i <= 6; i++)
		learn(world, (const uint16_t[]){ 0x0909, (uint16_t)(0x0600 + i) }, 2,
		    DAY_NS);
	assert_int_equal(traced_links(world->traced), 4);
	assert_int_equal(traced_counts(world->traced)->refused, 2);
}

static void
a_link_not_traced_for_a_week_is_forgotten(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102 }, 2, DAY_NS);
	learn(world, (const uint16_t[]){ 0x0909, 0x0505 }, 2, 5 * DAY_NS);
	world->reported_count = 0;
	traced_age(world->traced, (rm_wall_t){ 8 * DAY_NS }, on_link, world);
	assert_int_equal(world->reported_count, 1);
	assert_string_equal(world->reported[0].to, "spine1");
	assert_int_equal(traced_links(world->traced), 1);
}

static void
a_link_is_read_from_the_store_as_it_was_written(void **state)
{
	struct world *world = *state;
	struct traced_link link;
	struct rm_error error = { 0 };
	char *stored;

	learn(world, (const uint16_t[]){ 0x0909, 0x0505 }, 2, DAY_NS);
	assert_int_equal(store_traced_write(&world->reported[0], &stored), 0);
	assert_int_equal(store_traced_read(
			     "tor1/?172.16.5.5", stored, strlen(stored), &link, &error),
	    0);
	assert_string_equal(link.to, "?172.16.5.5");
	assert_int_equal(link.first_seen.ns, DAY_NS);
	/* A link that another controller saw earlier keeps the earlier time. */
	link.first_seen.ns -= RM_NS_PER_S;
	assert_int_equal(traced_restore(world->traced, &link), 0);
	learn(world, (const uint16_t[]){ 0x0909, 0x0505 }, 2, 2 * DAY_NS);
	assert_int_equal(world->reported[1].first_seen.ns, DAY_NS - RM_NS_PER_S);
	/* The key must fit the value. */
	assert_int_equal(store_traced_read(
			     "tor2/?172.16.5.5", stored, strlen(stored), &link, &error),
	    -EBADMSG);
	strcpy(link.from, "no name");
	assert_int_equal(traced_restore(world->traced, &link), -EINVAL);
	free(stored);
}

static void
refuses_stored(const char *key, const char *stored)
{
	struct traced_link link;
	struct rm_error error = { 0 };

	assert_int_equal(
	    store_traced_read(key, stored, strlen(stored), &link, &error), -EBADMSG);
	assert_true(error.text[0] != 0);
}

static void
a_link_that_no_trace_could_find_is_refused(void **state)
{
#define TIMES                                      \
	"\"first_seen\":\"2026-01-01T00:00:00Z\"," \
	"\"last_seen\":\"2026-01-01T00:00:00Z\"}"
	refuses_stored("tor1/a b",
	    "{\"from\":\"tor1\",\"to\":\"a "
	    "b\",\"address\":\"10.0.0.1\",\"by\":\"tor1\"," TIMES);
	refuses_stored("tor1/?x", "{\"from\":\"tor1\",\"to\":\"?x\",\"address\":\"10.0."
				  "0.1\",\"by\":\"tor1\"," TIMES);
	refuses_stored("tor1/s", "{\"from\":\"tor1\",\"to\":\"s\",\"address\":\"10.0."
				 "0\",\"by\":\"tor1\"," TIMES);
	refuses_stored("tor1/s", "{\"from\":\"tor1\",\"to\":\"s\",\"address\":\"10.0.0."
				 "1\",\"by\":\"\"," TIMES);
}

static void
on_gone(const struct traced_link *link, void *arg)
{
	struct world *world = arg;

	world->gone++;
}

static void
another_topology(struct world *world, const char *aliases)
{
	struct rm_error error = { 0 };
	char other[512];

	snprintf(other, sizeof(other),
	    "region: lab\nswitches:\n"
	    "  - { name: tor1, role: tor }\n"
	    "  - { name: tor2, role: tor, aliases: [172.16.2.1] }\n"
	    "  - { name: spine1, role: spine, aliases: [%s] }\n"
	    "links:\n  - [[tor1, tor2], [spine1]]\n",
	    aliases);
	rm_topology_free(world->topology);
	world->topology = NULL;
	if (rm_topology_parse(
		"t.yaml", other, strlen(other), &world->topology, &error) < 0)
		fail_msg("%s", error.text);
	world->reported_count = 0;
	traced_fold(world->traced, world->topology, on_gone, on_link, world);
}

static void
a_link_named_by_a_later_alias_is_renamed(void **state)
{
	struct world *world = *state;
	const struct traced_link **links;
	size_t count;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102, 0x0201 }, 3, 2 * DAY_NS);
	learn(world, (const uint16_t[]){ 0x0909, 0x0505, 0x0201 }, 3, DAY_NS);
	assert_int_equal(traced_links(world->traced), 4);
	another_topology(world, "172.16.1.2, 172.16.5.5");
	assert_int_equal(world->gone, 2);
	assert_int_equal(world->reported_count, 2);
	assert_int_equal(traced_counts(world->traced)->folded, 2);
	assert_int_equal(traced_sorted(world->traced, &links, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(links[0]->from, "spine1");
	assert_string_equal(links[0]->to, "tor2");
	assert_string_equal(links[1]->to, "spine1");
	assert_int_equal(links[1]->first_seen.ns, DAY_NS);
	assert_int_equal(links[1]->last_seen.ns, 2 * DAY_NS);
	free(links);
	/* No change is left to report. */
	another_topology(world, "172.16.1.2, 172.16.5.5");
	assert_int_equal(world->gone, 2);
	assert_int_equal(world->reported_count, 0);
}

static void
two_interfaces_found_to_be_of_one_switch_are_no_link(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0505, 0x0506 }, 3, DAY_NS);
	assert_int_equal(traced_links(world->traced), 2);
	another_topology(world, "172.16.5.5, 172.16.5.6");
	assert_int_equal(world->gone, 2);
	assert_int_equal(traced_links(world->traced), 1);
	assert_string_equal(world->reported[0].to, "spine1");
}

static void
a_removed_alias_leaves_found_links(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102, 0x0201 }, 3, DAY_NS);
	another_topology(world, "172.16.2.2");
	/* No alias names the address any more: the link stays as found, and expires. */
	assert_int_equal(world->gone, 0);
	another_topology(world, "172.16.1.2");
	assert_int_equal(world->gone, 0);
}

static void
a_link_seen_in_the_future_expires(void **state)
{
	struct world *world = *state;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102 }, 2, 900 * DAY_NS);
	traced_age(world->traced, (rm_wall_t){ DAY_NS }, on_link, world);
	assert_int_equal(traced_links(world->traced), 1);
	traced_age(world->traced, (rm_wall_t){ 9 * DAY_NS }, on_link, world);
	assert_int_equal(traced_links(world->traced), 0);
}

static json_t *
named(json_t *list, const char *key, const char *name)
{
	json_t *object;
	size_t i;

	json_array_foreach (list, i, object) {
		if (strcmp(json_string_value(json_object_get(object, key)), name) == 0)
			return object;
	}
	return NULL;
}

static const char *
text_at(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void
the_topology_shows_written_and_traced_links(void **state)
{
	struct world *world = *state;
	json_t *topology = topology_json(world->topology), *switches, *links;

	learn(world, (const uint16_t[]){ 0x0909, 0x0102, 0x0505 }, 3, DAY_NS);
	assert_int_equal(traced_json_merge(topology, world->traced), 0);
	switches = json_object_get(topology, "switches");
	links = json_object_get(topology, "links");
	assert_int_equal(json_array_size(switches), 4);
	assert_string_equal(
	    text_at(named(switches, "name", "spine1"), "known"), "written");
	assert_non_null(text_at(named(switches, "name", "spine1"), "first_traced"));
	assert_null(text_at(named(switches, "name", "tor2"), "first_traced"));
	assert_string_equal(
	    text_at(named(switches, "name", "?172.16.5.5"), "known"), "traced");
	assert_int_equal(json_array_size(links), 3);
	assert_string_equal(text_at(json_array_get(links, 2), "known"), "traced");
	assert_string_equal(text_at(json_array_get(links, 2), "traced_by"), "tor1");
	json_decref(topology);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hops_become_links_between_the_switches_that_aliases_name),
		TEST(a_hop_without_an_alias_is_named_by_its_address),
		TEST(no_link_is_derived_across_a_silent_hop),
		TEST(a_link_seen_again_is_reported_at_most_once_an_hour),
		TEST(links_beyond_the_bound_are_refused_and_counted),
		TEST(a_link_not_traced_for_a_week_is_forgotten),
		TEST(a_link_is_read_from_the_store_as_it_was_written),
		TEST(a_link_that_no_trace_could_find_is_refused),
		TEST(a_link_named_by_a_later_alias_is_renamed),
		TEST(two_interfaces_found_to_be_of_one_switch_are_no_link),
		TEST(a_removed_alias_leaves_found_links),
		TEST(a_link_seen_in_the_future_expires),
		TEST(the_topology_shows_written_and_traced_links),
	};

	return cmocka_run_group_tests_name("traced", tests, NULL, NULL);
}
