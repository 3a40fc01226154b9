#include "host-agent/prober_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/prober.h"
#include "host-agent/prober_target.h"
#include "tests/support/fake_port.h"

#define MS RM_NS_PER_MS

static const rm_mono_t now = { 1000 * RM_NS_PER_S };

struct fixture {
	struct fake_port fake;
	struct prober_plan plan;
	uint64_t refused;
};

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (fixture == NULL)
		return -1;
	fake_port_init(&fixture->fake);
	prober_plan_init(&fixture->plan, 1000, 1);
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	prober_plan_clear(&fixture->plan);
	free(fixture);
	return 0;
}

static struct wire_target
target(uint64_t dst, uint32_t interval_us)
{
	static const uint16_t flows[] = { 40001, 40002 };
	static const uint16_t sizes[] = { 88, 1472 };
	static const uint8_t dscps[] = { 26, 26, 0 };

	return (struct wire_target){ .src = { 1, 1 },
		.dst = { dst, 1 },
		.address = { .family = 4, .bytes = { 10, 0, 0, 1 }, .port = 862 },
		.interval_us = interval_us,
		.flows = flows,
		.flow_count = 2,
		.sizes = sizes,
		.size_count = 2,
		.dscps = dscps,
		.dscp_count = 3 };
}

static void
set(struct fixture *fixture, const struct wire_target *wires, size_t count)
{
	assert_int_equal(prober_plan_set(&fixture->plan, &fixture->fake.port, wires,
			     count, now, &fixture->refused),
	    0);
	prober_plan_pace(&fixture->plan, now);
}

static void
the_impossible_is_refused_and_the_rest_is_kept(void **state)
{
	static const uint16_t reserved[] = { 53 }, own[] = { 862 }, huge[] = { 9001 };
	static const uint8_t classes[] = { 64 };
	struct fixture *fixture = *state;
	struct wire_target wires[12];

	for (size_t i = 0; i < 12; i++)
		wires[i] = target(i, 10000);
	wires[0].flow_count = 0;
	wires[1].flows = reserved;
	wires[1].flow_count = 1;
	wires[2].flows = own;
	wires[2].flow_count = 1;
	wires[3].sizes = huge;
	wires[3].size_count = 1;
	wires[4].dscps = classes;
	wires[4].dscp_count = 1;
	wires[5].interval_us = PROBER_MIN_INTERVAL_US - 1;
	wires[6].address.bytes[0] = 224; /* multicast */
	wires[7].address.bytes[0] = 255;
	wires[8].address.family = 5;
	wires[9].dscp_count = 0;
	wires[10].size_count = WIRE_MAX_SIZES + 1;
	set(fixture, wires, 12);
	assert_int_equal(fixture->refused, 11);
	assert_int_equal(fixture->plan.count, 1);
	assert_int_equal(fixture->plan.targets[0]->wire.dst.guid, 11);
}

static void
too_many_targets_are_refused(void **state)
{
	struct fixture *fixture = *state;
	size_t count = PROBER_MAX_TARGETS + 3;
	struct wire_target *wires = calloc(count, sizeof(*wires));

	assert_non_null(wires);
	for (size_t i = 0; i < count; i++)
		wires[i] = target(i, 1000000);
	set(fixture, wires, count);
	free(wires);
	assert_int_equal(fixture->plan.count, PROBER_MAX_TARGETS);
	assert_int_equal(fixture->refused, 3);
}

static void
beyond_the_ceiling_all_intervals_stretch_alike(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 1000), target(2, 500),
		target(3, 1000) };

	set(fixture, wires, 3); /* 4000/s asked, 1000/s allowed */
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 4 * MS);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 2 * MS);
	for (size_t i = 0; i < 3; i++)
		assert_in_range(
		    rm_mono_since(fixture->plan.targets[i]->pace.due, now), 0, 4 * MS);
}

static void
a_target_that_stays_keeps_its_pace_and_turn(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 100000), target(2, 100000) };
	struct prober_target *was;
	rm_mono_t due;

	set(fixture, wires, 2);
	was = fixture->plan.targets[1];
	prober_target_turn(was, false);
	*prober_target_turn(was, false).tx_count = 77;
	was->turn = 42;
	due = was->pace.due;

	wires[0] = target(3, 100000);
	wires[0].dst.guid = 2;
	wires[1].dst.guid = 4;
	set(fixture, wires, 2);
	assert_int_equal(fixture->plan.targets[0]->turn, 42);
	assert_true(fixture->plan.targets[0]->pace.due.ns == due.ns);
	assert_true(fixture->plan.targets[0]->tx_counts[0] == 77 ||
		    fixture->plan.targets[0]->tx_counts[2] == 77);
	assert_int_equal(fixture->plan.targets[1]->tx_counts[0], 0);
}

static void
focus_speeds_up_its_target_for_a_while(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 100000), target(2, 100000) };
	rm_mono_t until = rm_mono_add(now, 500 * MS);

	set(fixture, wires, 2);
	prober_plan_focus(
	    &fixture->plan, (struct wire_rnic_id){ 2, 1 }, 10 * MS, until);
	assert_true(prober_plan_pace(&fixture->plan, now).ns == until.ns);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 100 * MS);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 10 * MS);
	assert_true(rm_mono_since(fixture->plan.targets[1]->pace.due, now) <= 10 * MS);
	assert_true(prober_plan_pace(&fixture->plan, until).ns == INT64_MAX);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 100 * MS);
}

static void
a_pair_repeats_its_combination_and_all_occur(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wire = target(1, 100000);
	unsigned seen[2][2][2] = { 0 };

	set(fixture, &wire, 1);
	for (int i = 0; i < 12; i++) {
		struct prober_combination a, b;

		a = prober_target_turn(fixture->plan.targets[0], false);
		b = prober_target_turn(fixture->plan.targets[0], true);
		assert_int_equal(a.src_port, b.src_port);
		assert_int_equal(a.size, b.size);
		assert_int_equal(a.dscp, b.dscp);
		assert_ptr_equal(a.tx_count, b.tx_count);
		seen[a.src_port - 40001][a.size == 88][a.dscp == 0]++;
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(seen[i / 2][i % 2][0], 2); /* named twice */
		assert_int_equal(seen[i / 2][i % 2][1], 1);
	}
}

static void
the_brake_stretches_all_intervals_and_no_ceiling_twice(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 10000), target(2, 40000) };

	set(fixture, wires, 2);
	fixture->plan.permille = 250;
	prober_plan_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 40 * MS);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 160 * MS);
	assert_true(fixture->plan.rate_per_s > 31.2 && fixture->plan.rate_per_s < 31.3);

	/* 125 are asked for: a quarter of that is less than the ceiling anyway. */
	fixture->plan.max_rate_per_s = 50;
	prober_plan_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 40 * MS);
	fixture->plan.max_rate_per_s = 25;
	prober_plan_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 50 * MS);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_impossible_is_refused_and_the_rest_is_kept),
		TEST(too_many_targets_are_refused),
		TEST(the_brake_stretches_all_intervals_and_no_ceiling_twice),
		TEST(beyond_the_ceiling_all_intervals_stretch_alike),
		TEST(a_target_that_stays_keeps_its_pace_and_turn),
		TEST(focus_speeds_up_its_target_for_a_while),
		TEST(a_pair_repeats_its_combination_and_all_occur),
	};

	return cmocka_run_group_tests_name("prober_plan", tests, NULL, NULL);
}
