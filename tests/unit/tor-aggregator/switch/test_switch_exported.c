#include "tor-aggregator/switch/switch_exported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/switch/switch_list.h"

#define ALL UINT64_MAX
#define OF_PRIORITY 10 /* rows of the table for each priority */
#define PRIORITIES (OF_PRIORITY * SWITCH_PRIORITIES)
#define PORT_VALUES (51 + SWITCH_ERROR_BINS + PRIORITIES)

struct world {
	struct switch_list *list;
	struct switch_exported exported;
};

static void
add(struct world *w, enum switch_part part, const char *port, uint16_t index)
{
	struct switch_object object = { .part = part, .index = index };

	snprintf(object.port, sizeof(object.port), "%s", port);
	snprintf(object.id, sizeof(object.id), "oid:%u", index);
	assert_int_equal(switch_list_add(w->list, &object), 0);
}

static struct switch_object *
object_of(struct world *w, enum switch_part part, const char *port, uint16_t index)
{
	for (size_t i = 0; i < switch_list_count(w->list); i++) {
		struct switch_object *object = switch_list_get(w->list, i);

		if (object->part == part && strcmp(object->port, port) == 0 &&
		    object->index == index)
			return object;
	}
	fail_msg("no %s %s %u", switch_part_str(part), port, index);
	return NULL;
}

/* A row of the table for this part. before: the number of the part's values in earlier
 * rows. */
static const struct switch_row *
row_of(enum switch_part part, const char *name, size_t *before)
{
	*before = 0;
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != part)
			continue;
		if (strcmp(row->name, name) == 0)
			return row;
		*before += switch_row_values(row);
	}
	fail_msg("no row %s", name);
	return NULL;
}

static void
counted(
    struct switch_object *object, const char *name, unsigned priority, uint64_t total)
{
	size_t before;

	row_of(object->part, name, &before);
	object->states[before + priority].total = total;
}

static bool
is_exported(struct switch_object *object, const char *name, unsigned priority)
{
	size_t before;

	return switch_is_exported(
	    object, row_of(object->part, name, &before), priority);
}

/* A list with all values of all objects. before: the previous reading, or NULL. */
static void
fill(struct world *w, struct switch_list *before)
{
	uint64_t forgotten = 0;

	w->list = switch_list_new();
	for (uint16_t i = 0; i < 8; i++) {
		add(w, SWITCH_GROUP, "Ethernet4", i);
		add(w, SWITCH_QUEUE, "Ethernet4", i);
		add(w, SWITCH_QUEUE, "Ethernet12", i);
	}
	add(w, SWITCH_PORT, "Ethernet12", 0);
	add(w, SWITCH_PORT, "Ethernet4", 0);
	assert_int_equal(switch_list_close(w->list, before, &forgotten), 0);
	for (size_t i = 0; i < switch_list_count(w->list); i++)
		for (size_t j = 0; j < switch_values(switch_list_get(w->list, i)->part);
		     j++)
			switch_list_get(w->list, i)->states[j].there = true;
}

static int
setup(void **state)
{
	static struct world world;

	world = (struct world){ 0 };
	fill(&world, NULL);
	*state = &world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	switch_list_free(w->list);
	return 0;
}

static void
unused_classes_are_left_out_and_ports_are_complete(void **state)
{
	struct world *w = *state;

	switch_exported_choose(w->list, ALL, &w->exported);
	assert_int_equal(w->exported.exported, 2 * (PORT_VALUES - PRIORITIES));
	assert_int_equal(w->exported.unused, 2 * PRIORITIES +
						 16 * switch_values(SWITCH_QUEUE) +
						 8 * switch_values(SWITCH_GROUP));
	assert_int_equal(w->exported.refused, 0);
	assert_true(
	    is_exported(object_of(w, SWITCH_PORT, "Ethernet4", 0), "rx_discards", 0));
	assert_false(
	    is_exported(object_of(w, SWITCH_PORT, "Ethernet4", 0), "pfc_rx_frames", 3));
}

static void
a_used_class_is_exported_with_all_its_zeros(void **state)
{
	struct world *w = *state;
	struct switch_object *port = object_of(w, SWITCH_PORT, "Ethernet4", 0);

	counted(object_of(w, SWITCH_QUEUE, "Ethernet4", 3), "queue_tx_pkts", 0, 9);
	switch_exported_choose(w->list, ALL, &w->exported);
	assert_true(is_exported(port, "pfc_rx_frames", 3));
	assert_false(is_exported(port, "pfc_rx_frames", 4));
	assert_true(object_of(w, SWITCH_QUEUE, "Ethernet4", 3)->exported);
	assert_true(object_of(w, SWITCH_GROUP, "Ethernet4", 3)->exported);
	assert_false(object_of(w, SWITCH_QUEUE, "Ethernet4", 4)->exported);
	assert_false(object_of(w, SWITCH_QUEUE, "Ethernet12", 3)->exported);
	assert_false(is_exported(
	    object_of(w, SWITCH_PORT, "Ethernet12", 0), "pfc_rx_frames", 3));
}

static void
pause_alone_makes_a_class_used(void **state)
{
	struct world *w = *state;

	counted(object_of(w, SWITCH_PORT, "Ethernet12", 0), "pfc_tx_pause_us", 5, 1);
	switch_exported_choose(w->list, ALL, &w->exported);
	assert_true(object_of(w, SWITCH_QUEUE, "Ethernet12", 5)->exported);
	assert_true(is_exported(
	    object_of(w, SWITCH_PORT, "Ethernet12", 0), "pfc_rx_frames", 5));
}

static void
a_class_once_in_use_stays_reported(void **state)
{
	struct world *w = *state;
	struct switch_list *before = w->list;
	struct switch_object *group = object_of(w, SWITCH_GROUP, "Ethernet4", 6);

	counted(group, "group_watermark_bytes", 0, 4096);
	switch_exported_choose(w->list, ALL, &w->exported);
	fill(w, before);
	switch_list_free(before);
	group = object_of(w, SWITCH_GROUP, "Ethernet4", 6);
	counted(group, "group_watermark_bytes", 0, 0); /* an operator has cleared it */
	switch_exported_choose(w->list, ALL, &w->exported);
	assert_true(group->exported);
	assert_true(object_of(w, SWITCH_QUEUE, "Ethernet4", 6)->exported);
}

static void
values_beyond_the_limit_are_refused_by_whole_objects(void **state)
{
	struct world *w = *state;
	const uint64_t of_port = PORT_VALUES - PRIORITIES + OF_PRIORITY,
		       of_queue = switch_values(SWITCH_QUEUE);

	for (int i = 0; i < 2; i++)
		counted(
		    object_of(w, SWITCH_QUEUE, i == 0 ? "Ethernet4" : "Ethernet12", 3),
		    "queue_tx_pkts", 0, 9);
	switch_exported_choose(w->list, 2 * of_port + of_queue + 1, &w->exported);
	assert_int_equal(w->exported.exported, 2 * of_port + of_queue);
	assert_int_equal(w->exported.refused, of_queue + switch_values(SWITCH_GROUP));
	assert_true(object_of(w, SWITCH_QUEUE, "Ethernet4", 3)->exported);
	assert_false(object_of(w, SWITCH_QUEUE, "Ethernet12", 3)->exported);
	assert_false(object_of(w, SWITCH_GROUP, "Ethernet4", 3)->exported);
}

static void
the_limit_holds_for_the_largest_list(void **state)
{
	struct switch_list *list = switch_list_new();
	struct switch_exported exported;
	uint64_t forgotten = 0;

	for (unsigned i = 0; i < SWITCH_MAX_OBJECTS; i++) {
		struct switch_object object = {
			.part = i < SWITCH_MAX_PORTS ? SWITCH_PORT : SWITCH_QUEUE,
			.index = (uint16_t)(i % 16)
		};

		snprintf(object.port, sizeof(object.port), "Ethernet%u",
		    object.part == SWITCH_PORT ? i : i / 16);
		snprintf(object.id, sizeof(object.id), "oid:%u", i);
		assert_int_equal(switch_list_add(list, &object), 0);
	}
	assert_int_equal(switch_list_close(list, NULL, &forgotten), 0);
	for (size_t i = 0; i < switch_list_count(list); i++)
		for (size_t j = 0; j < switch_values(switch_list_get(list, i)->part);
		     j++) {
			struct counter_state *each = switch_list_get(list, i)->states;

			each[j].there = true;
			each[j].total = 1;
		}
	switch_exported_choose(list, SWITCH_EXPORTED_MAX, &exported);
	assert_in_range(
	    exported.exported, SWITCH_EXPORTED_MAX - PORT_VALUES, SWITCH_EXPORTED_MAX);
	assert_int_equal(exported.unused, 0);
	assert_int_equal(exported.exported + exported.refused,
	    SWITCH_MAX_PORTS * switch_values(SWITCH_PORT) +
		(SWITCH_MAX_OBJECTS - SWITCH_MAX_PORTS) * switch_values(SWITCH_QUEUE));
	switch_list_free(list);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unused_classes_are_left_out_and_ports_are_complete),
		TEST(a_used_class_is_exported_with_all_its_zeros),
		TEST(pause_alone_makes_a_class_used),
		TEST(a_class_once_in_use_stays_reported),
		TEST(values_beyond_the_limit_are_refused_by_whole_objects),
		TEST(the_limit_holds_for_the_largest_list),
	};

	return cmocka_run_group_tests_name("switch_exported", tests, NULL, NULL);
}
