#include "tor-aggregator/paths/path_ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/paths/path_set.h"
#include "tor-aggregator/window/window.h"

#define T2 1 /* numbers of ToRs */
#define T3 2
#define LOST_AT RM_NS_PER_S
#define ANSWERED_AT (2 * RM_NS_PER_S)

struct world {
	struct path_ends *ends;
	struct flow_second second;
	uint32_t path_end;
};

static int
setup(void **state)
{
	static struct world world;

	world = (struct world){ .path_end = PATH_FIRST };
	flow_counts_init(&world.second.flows, 1024);
	*state = &world;
	return path_ends_new(&world.ends);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	path_ends_free(w->ends);
	flow_second_release(&w->second);
	return 0;
}

/* Four probes of a flow; each takes a path of its own. */
static void
add(struct world *w, uint32_t src, uint32_t dst, uint16_t port, uint16_t tor,
    uint8_t dscp, bool lost)
{
	struct flow_count *flow = flow_counts_get(
	    &w->second.flows, src, WINDOW_FOREIGN_BASE + dst, port, dscp);
	const size_t index = (size_t)(flow - w->second.flows.flows);

	flow->dst_tor = tor;
	flow->path = w->path_end++;
	flow->sent = 4;
	flow->answered = lost ? 0 : ANSWERED_AT;
	flow->lost = lost ? 4 : 0;
	for (uint32_t i = 0; i < flow->lost; i++)
		assert_int_equal(flow_second_lost(&w->second, index, LOST_AT + i), 0);
}

/* Each member probes one RNIC of t2, of which the first so many do not answer, and one
 * of t3. */
static uint64_t
probes_left_out(struct world *w, uint32_t dead, uint16_t ports, uint8_t classes)
{
	for (uint32_t src = 0; src < 8; src++)
		for (uint8_t dscp = 0; dscp < classes; dscp++) {
			for (uint16_t port = 0; port < ports; port++)
				add(w, src, src, 50000 + port, T2, dscp, src < dead);
			add(w, src, 8 + src, 50000, T3, dscp, false);
		}
	assert_int_equal(path_ends_judge(w->ends, &w->second, w->path_end), 0);
	assert_int_equal(path_ends_counts(w->ends)->own_dead, 0);
	return path_ends_counts(w->ends)->foreign_dead;
}

static void
several_known_by_one_flow_each_are_flows_that_die(void **state)
{
	assert_int_equal(probes_left_out(*state, 3, 1, 1), 0);
}

static void
a_flow_of_two_classes_is_one(void **state)
{
	assert_int_equal(probes_left_out(*state, 4, 1, 2), 0);
}

static void
one_or_two_at_a_time_are_dead_themselves(void **state)
{
	assert_int_equal(probes_left_out(*state, 2, 1, 1), 2 * 4);
}

static void
and_so_are_several_whose_flows_all_die(void **state)
{
	assert_int_equal(probes_left_out(*state, 3, 2, 1), 3 * 2 * 4);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(several_known_by_one_flow_each_are_flows_that_die),
		TEST(a_flow_of_two_classes_is_one),
		TEST(one_or_two_at_a_time_are_dead_themselves),
		TEST(and_so_are_several_whose_flows_all_die),
	};

	return cmocka_run_group_tests_name("path_ends", tests, NULL, NULL);
}
