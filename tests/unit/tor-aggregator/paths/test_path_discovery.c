#include "tor-aggregator/paths/path_discovery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tor-aggregator/paths/path_table.h"

#define AT(s) ((rm_mono_t){ (s)*RM_NS_PER_S })

struct world {
	struct path_table *table;
	struct path_discovery *discovery;
	struct wire_path out[4];
};

static int
setup(void **state)
{
	const struct path_table_options options = { "t1", 64, 16 };
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	return path_table_new(&options, &world->table) < 0
		   ? -1
		   : path_discovery_new(&world->discovery);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	path_discovery_free(world->discovery);
	path_table_free(world->table);
	free(world);
	return 0;
}

static void
trace(struct world *world, uint16_t src_port, uint8_t spine, int64_t at_s)
{
	const struct wire_path path = { .src_guid = 0x100,
		.src_port_num = 1,
		.dst_guid = 0x9000,
		.dst_port_num = 1,
		.src_port = src_port,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 2,
		.hops = { { 10, 1, 0, 1 }, { 10, 2, 0, spine } } };

	assert_int_equal(
	    path_table_learn(world->table, &path, "t2", AT(at_s), AT(at_s)), 0);
}

static size_t
next(struct world *world, int64_t at_s)
{
	return path_discovery_next(
	    world->discovery, world->table, AT(at_s), world->out, 4);
}

static void
each_path_is_reported_once_however_many_flows_take_it(void **state)
{
	struct world *world = *state;

	trace(world, 50000, 1, 1);
	trace(world, 50001, 1, 1);
	trace(world, 50002, 2, 1);
	assert_int_equal(next(world, 2), 2);
	assert_int_equal(world->out[0].hop_count, 2);
	assert_int_equal(world->out[1].hops[1][3], 2);
	assert_int_equal(next(world, 3), 0);
}

static void
many_paths_are_reported_in_several_rounds(void **state)
{
	struct world *world = *state;

	for (uint8_t i = 0; i < 6; i++)
		trace(world, (uint16_t)(50000 + i), (uint8_t)(1 + i), 1);
	assert_int_equal(next(world, 2), 4);
	assert_int_equal(next(world, 3), 2);
	assert_int_equal(next(world, 4), 0);
}

static void
a_path_still_taken_is_reported_again_after_ten_minutes(void **state)
{
	struct world *world = *state;

	trace(world, 50000, 1, 1);
	assert_int_equal(next(world, 2), 1);
	assert_int_equal(next(world, 601), 0);
	assert_int_equal(next(world, 602), 1);
}

static void
all_paths_are_reported_again_to_the_next_controller(void **state)
{
	struct world *world = *state;

	trace(world, 50000, 1, 1);
	assert_int_equal(next(world, 2), 1);
	path_discovery_again(world->discovery);
	assert_int_equal(next(world, 3), 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_path_is_reported_once_however_many_flows_take_it),
		TEST(many_paths_are_reported_in_several_rounds),
		TEST(a_path_still_taken_is_reported_again_after_ten_minutes),
		TEST(all_paths_are_reported_again_to_the_next_controller),
	};

	return cmocka_run_group_tests_name("path_discovery", tests, NULL, NULL);
}
