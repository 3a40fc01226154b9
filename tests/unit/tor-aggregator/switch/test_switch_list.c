/* The list of a switch with several ASICs. */
#include "tor-aggregator/switch/switch_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "schemas/wire.h"
#include "tor-aggregator/switch/switch_neighbor.h"

#define ASICS 3

struct world {
	struct switch_share shares[ASICS];
	struct switch_list *lists[ASICS], *merged;
	struct switch_counts counts;
};

/* Adds count ports from Ethernet<first> on, each with one queue, to an ASIC. The total
 * of the first value is 100 * asic + the number of the port. */
static void
fill(struct world *w, size_t asic, unsigned first, unsigned count)
{
	struct switch_list *list = switch_list_new();
	uint64_t forgotten = 0;

	assert_non_null(list);
	for (unsigned i = 0; i < 2 * count; i++) {
		struct switch_object object = { .part = i < count ? SWITCH_PORT
								  : SWITCH_QUEUE,
			.index = i < count ? 0 : 3 };

		snprintf(
		    object.port, sizeof(object.port), "Ethernet%u", first + i % count);
		snprintf(object.id, sizeof(object.id), "oid:%u", i);
		assert_int_equal(switch_list_add(list, &object), 0);
	}
	assert_int_equal(switch_list_close(list, NULL, &forgotten), 0);
	for (size_t i = 0; i < switch_list_count(list); i++) {
		struct switch_object *object = switch_list_get(list, i);
		const unsigned port = first + (unsigned)i % count;

		object->states[0] = (struct counter_state){ .there = true,
			.change = COUNTER_COUNTED,
			.delta = 1,
			.total = 100 * (asic + 1) + port };
	}
	w->lists[asic] = list;
	w->shares[asic] = (struct switch_share){ list, true, true };
}

static void
merge(struct world *w)
{
	switch_list_free(w->merged);
	w->merged = NULL;
	assert_int_equal(
	    switch_list_merge(w->shares, ASICS, &w->counts, &w->merged), 0);
}

static const struct switch_object *
port_of(const struct world *w, const char *port)
{
	size_t i;

	return switch_list_find_port(w->merged, port, &i) < 0
		   ? NULL
		   : switch_list_get(w->merged, i);
}

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ 0 };
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ASICS; i++)
		switch_list_free(w->lists[i]);
	switch_list_free(w->merged);
	return 0;
}

static void
the_ports_of_all_asics_are_in_one_sorted_list(void **state)
{
	struct world *w = *state;
	struct switch_neighbor neighbor = { .name = "spine1", .port = "p1" };
	const struct wire_settings settings = { .known = 1 };
	size_t i;

	fill(w, 0, 8, 2);
	fill(w, 1, 0, 2);
	fill(w, 2, 100, 1);
	assert_int_equal(switch_list_set_neighbor(w->lists[1], 1, &neighbor), 0);
	assert_int_equal(switch_list_set_settings(w->lists[0], 0, &settings), 0);
	merge(w);
	assert_int_equal(switch_list_count(w->merged), 10);
	for (i = 1; i < 10; i++)
		assert_true(switch_object_compare(switch_list_get(w->merged, i - 1),
				switch_list_get(w->merged, i)) < 0);
	assert_int_equal(port_of(w, "Ethernet8")->states[0].total, 108);
	assert_int_equal(port_of(w, "Ethernet1")->states[0].total, 201);
	assert_int_equal(port_of(w, "Ethernet100")->states[0].total, 400);
	assert_int_equal(switch_list_get(w->merged, 5)->states[0].total, 200);
	assert_int_equal(switch_list_find_port(w->merged, "Ethernet1", &i), 0);
	assert_string_equal(switch_list_neighbor(w->merged, i)->name, "spine1");
	assert_null(switch_list_settings(w->merged, i));
	assert_int_equal(switch_list_find_port(w->merged, "Ethernet8", &i), 0);
	assert_null(switch_list_neighbor(w->merged, i));
	assert_non_null(switch_list_settings(w->merged, i));
	assert_int_equal(w->counts.duplicates, 0);
}

static void
an_asic_that_was_not_read_is_left_out(void **state)
{
	struct world *w = *state;

	fill(w, 0, 0, 2);
	fill(w, 2, 8, 2);
	w->shares[0].taken = false;
	merge(w);
	assert_int_equal(switch_list_count(w->merged), 4);
	assert_null(port_of(w, "Ethernet0"));
	assert_int_equal(port_of(w, "Ethernet8")->states[0].total, 308);
}

/* The first ASIC keeps the port while it is not read: else the totals of the port would
 * jump to those of another one, and back. */
static void
a_port_of_two_asics_is_that_of_the_first(void **state)
{
	struct world *w = *state;

	fill(w, 0, 0, 2);
	fill(w, 1, 1, 2);
	merge(w);
	assert_int_equal(switch_list_count(w->merged), 6);
	assert_int_equal(port_of(w, "Ethernet1")->states[0].total, 101);
	assert_int_equal(w->counts.duplicates, 1);
	w->shares[0].taken = false;
	merge(w);
	assert_int_equal(switch_list_count(w->merged), 2);
	assert_null(port_of(w, "Ethernet1"));
	assert_int_equal(w->counts.duplicates, 2);
}

static void
deltas_over_several_intervals_are_marked(void **state)
{
	struct world *w = *state;

	fill(w, 0, 0, 1);
	fill(w, 1, 8, 1);
	w->shares[1].continues = false;
	merge(w);
	assert_false(port_of(w, "Ethernet0")->states[0].back);
	assert_true(port_of(w, "Ethernet8")->states[0].back);
	assert_false(port_of(w, "Ethernet8")->states[1].back);
	assert_int_equal(port_of(w, "Ethernet8")->away, 0);
	/* the list of the ASIC itself is not changed */
	assert_false(switch_list_get(w->lists[1], 0)->states[0].back);
}

static void
the_limits_are_those_of_the_whole_switch(void **state)
{
	struct world *w = *state;

	fill(w, 0, 0, 1000);
	fill(w, 1, 1000, 100);
	merge(w);
	assert_int_equal(w->counts.refused, 1100 - SWITCH_MAX_PORTS);
	assert_non_null(port_of(w, "Ethernet1023"));
	assert_null(port_of(w, "Ethernet1024"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_ports_of_all_asics_are_in_one_sorted_list),
		TEST(an_asic_that_was_not_read_is_left_out),
		TEST(a_port_of_two_asics_is_that_of_the_first),
		TEST(deltas_over_several_intervals_are_marked),
		TEST(the_limits_are_those_of_the_whole_switch),
	};

	return cmocka_run_group_tests_name("switch_list", tests, NULL, NULL);
}
