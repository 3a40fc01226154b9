#include "host-agent/probe/target_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe/prober.h"
#include "host-agent/probe/prober_target.h"
#include "tests/support/fake_port.h"

#define MS RM_NS_PER_MS

static const rm_mono_t now = { 1000 * RM_NS_PER_S };

struct fixture {
	struct fake_port fake;
	struct target_list plan;
	uint64_t refused[TARGET_REFUSALS];
	struct own_rnic own_rnic;
};

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (fixture == NULL)
		return -1;
	fake_port_init(&fixture->fake);
	target_list_init(&fixture->plan, 1000, 1);
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	target_list_clear(&fixture->plan);
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
	const struct target_list_place place = { &fixture->fake.port,
		&fixture->own_rnic };

	assert_int_equal(target_list_set(&fixture->plan, &place, wires, count, now,
			     fixture->refused),
	    0);
	target_list_pace(&fixture->plan, now);
}

static void
impossible_targets_are_refused_and_the_others_are_kept(void **state)
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
	wires[6].address.bytes[0] = 224; /* a multicast address */
	wires[7].address.bytes[0] = 255;
	wires[8].address.family = 5;
	wires[9].dscp_count = 0;
	wires[10].size_count = WIRE_MAX_SIZES + 1;
	set(fixture, wires, 12);
	assert_int_equal(fixture->refused[TARGET_MALFORMED], 6);
	assert_int_equal(fixture->refused[TARGET_TOO_LARGE], 1);
	assert_int_equal(fixture->refused[TARGET_TOO_FAST], 1);
	assert_int_equal(fixture->refused[TARGET_MULTICAST], 2);
	assert_int_equal(fixture->refused[TARGET_UNSPECIFIED], 1);
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
	assert_int_equal(fixture->refused[TARGET_TOO_MANY], 3);
}

static void
targets_are_checked_against_the_rnics_own_addresses(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[6];

	for (size_t i = 0; i < 6; i++)
		wires[i] = target(i + 10, 10000);
	fixture->own_rnic = (struct own_rnic){ .id = { 1, 1 },
		.addresses = { { .family = 4, .bytes = { 10, 0, 0, 7 } } },
		.prefix_bits = { 24 } };
	/* A source RNIC that is not ours. */
	wires[0].src.port = 2;
	/* A target that is the source itself. */
	wires[1].dst = (struct wire_rnic_id){ 1, 1 };
	wires[2].address.bytes[3] = 7; /* the source's own address */
	wires[3].address.bytes[3] = 255;
	wires[4].address.bytes[0] = 127;
	set(fixture, wires, 6);
	assert_int_equal(fixture->refused[TARGET_SELF], 3);
	assert_int_equal(fixture->refused[TARGET_BROADCAST], 1);
	assert_int_equal(fixture->refused[TARGET_LOOPBACK], 1);
	assert_int_equal(fixture->plan.count, 1);
	assert_int_equal(fixture->plan.targets[0]->wire.dst.guid, 15);
}

/* The limit of an address holds even if its targets name different RNICs. */
static void
one_address_gets_no_more_than_its_limit(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[40];
	double packets = 0;

	fixture->plan.max_rate_per_s = PROBER_MAX_RATE_PER_S;
	for (size_t i = 0; i < 40; i++) {
		wires[i] = target(i, 1000);
		wires[i].address.port = (uint16_t)(862 + i);
	}
	wires[39].address.bytes[3] = 9; /* another target, within its limit */
	set(fixture, wires, 40);        /* 39,000 packets/s of 850 bytes */
	for (size_t i = 0; i < 39; i++)
		packets += 1e9 / (double)fixture->plan.targets[i]->pace.interval_ns;
	assert_true(packets < 10000.1);
	assert_true(packets * (780 + 72) < 6250000.1);
	assert_true(packets > 7000);
	assert_int_equal(fixture->plan.targets[39]->pace.interval_ns, 1 * MS);
}

static void
large_probes_are_held_by_their_bytes(void **state)
{
	static const uint16_t jumbo[] = { 9000 };
	struct fixture *fixture = *state;
	struct wire_target wires[100];
	double packets = 0;

	fixture->plan.max_rate_per_s = PROBER_MAX_RATE_PER_S;
	for (size_t i = 0; i < 100; i++) {
		wires[i] = target(i, 10000);
		wires[i].address.bytes[3] = (uint8_t)(i + 1);
		wires[i].sizes = jumbo;
		wires[i].size_count = 1;
	}
	set(fixture, wires, 100); /* 90 MB/s */
	for (size_t i = 0; i < 100; i++)
		packets += 1e9 / (double)fixture->plan.targets[i]->pace.interval_ns;
	assert_true(packets * 9072 < PROBER_MAX_BYTES_PER_S + 1);
	assert_true(packets * 9072 > PROBER_MAX_BYTES_PER_S * 0.99);
}

static void
above_the_limit_all_intervals_are_stretched_by_one_factor(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 1000), target(2, 500),
		target(3, 1000) };

	set(fixture, wires, 3); /* 4000/s requested, 1000/s allowed */
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
	target_list_focus(
	    &fixture->plan, (struct wire_rnic_id){ 2, 1 }, 10 * MS, until);
	assert_true(target_list_pace(&fixture->plan, now).ns == until.ns);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 100 * MS);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 10 * MS);
	assert_true(rm_mono_since(fixture->plan.targets[1]->pace.due, now) <= 10 * MS);
	assert_true(target_list_pace(&fixture->plan, until).ns == INT64_MAX);
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
		/* The duplicate is removed. */
		assert_int_equal(seen[i / 2][i % 2][0], 2);
		assert_int_equal(seen[i / 2][i % 2][1], 1);
	}
}

static void
large_probes_are_spread_over_the_flows(void **state)
{
	static const uint16_t flows[] = { 40001, 40002, 40003, 40004, 40005 };
	static const uint16_t sizes[] = { 88, 88, 4096 };
	struct fixture *fixture = *state;
	struct wire_target wire = target(1, 100000);
	unsigned large[5] = { 0 }, in_a_row = 0;

	wire.flows = flows;
	wire.flow_count = 5;
	wire.dscp_count = 1;
	wire.sizes = sizes;
	wire.size_count = 3;
	set(fixture, &wire, 1);
	for (int i = 0; i < 45; i++) {
		const struct prober_combination next =
		    prober_target_turn(fixture->plan.targets[0], false);

		in_a_row = next.size == 4096 ? in_a_row + 1 : 0;
		assert_in_range(in_a_row, 0, 2);
		large[next.src_port - 40001] += next.size == 4096;
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(large[i], 3);
}

static void
the_brake_stretches_all_intervals_and_the_limit_only_once(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wires[] = { target(1, 10000), target(2, 40000) };

	set(fixture, wires, 2);
	fixture->plan.permille = 250;
	target_list_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 40 * MS);
	assert_int_equal(fixture->plan.targets[1]->pace.interval_ns, 160 * MS);
	assert_true(fixture->plan.rate_per_s > 31.2 && fixture->plan.rate_per_s < 31.3);

	/* 125/s are requested; a quarter of them, 31/s, is below the limit of 50/s
	 * anyway. */
	fixture->plan.max_rate_per_s = 50;
	target_list_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 40 * MS);
	fixture->plan.max_rate_per_s = 25;
	target_list_pace(&fixture->plan, now);
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 50 * MS);
}

/* ---- targets with QPs --------------------------------------------------------- */

static struct wire_target
roce_target(uint64_t dst, uint32_t large_qpn)
{
	struct wire_target wire = target(dst, 10000);

	wire.address.port = WIRE_ROCE_PORT;
	wire.dst_qpn = 17;
	wire.dst_large_qpn = large_qpn;
	return wire;
}

static void
a_target_without_a_qp_is_refused_by_a_verbs_port(void **state)
{
	static const uint16_t large[] = { 257, 4096 };
	struct fixture *fixture = *state;
	struct wire_target wires[] = { roce_target(1, 18), roce_target(2, 18),
		roce_target(3, 0) };

	fake_port_init_roce(&fixture->fake, PORT_FLOWS_LABEL);
	wires[1].dst_qpn = 0;
	wires[2].sizes = large;
	set(fixture, wires, 3);
	assert_int_equal(fixture->refused[TARGET_OTHER_PORT], 2);
	assert_int_equal(fixture->plan.count, 1);
	assert_int_equal(fixture->plan.targets[0]->wire.dst.guid, 1);
}

static void
over_udp_nothing_is_sent_to_the_port_of_roce(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wire = roce_target(1, 18);

	set(fixture, &wire, 1);
	assert_int_equal(fixture->refused[TARGET_OTHER_PORT], 1);
	assert_int_equal(fixture->plan.count, 0);
}

static void
sizes_that_no_qp_of_the_target_takes_have_no_turn(void **state)
{
	static const uint16_t sizes[] = { 4096, 64, 256, 257 };
	struct fixture *fixture = *state;
	struct wire_target wires[] = { roce_target(1, 0), roce_target(2, 18) };
	const struct wire_target *small, *both;

	fake_port_init_roce(&fixture->fake, PORT_FLOWS_LABEL);
	for (size_t i = 0; i < 2; i++) {
		wires[i].sizes = sizes;
		wires[i].size_count = 4;
	}
	set(fixture, wires, 2);
	small = &fixture->plan.targets[0]->wire;
	both = &fixture->plan.targets[1]->wire;
	assert_int_equal(small->size_count, 2);
	assert_int_equal(small->sizes[0], 64);
	assert_int_equal(small->sizes[1], 256);
	assert_int_equal(both->size_count, 4);
}

static void
flows_are_those_that_the_port_has_and_each_has_one_turn(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wire = roce_target(1, 18);
	const struct wire_target *taken;

	fake_port_init_roce(&fixture->fake, PORT_FLOWS_UNKNOWN);
	fixture->fake.every_flow = 0xc123;
	set(fixture, &wire, 1);
	taken = &fixture->plan.targets[0]->wire;
	assert_int_equal(taken->flow_count, 1);
	assert_int_equal(taken->flows[0], 0xc123);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
		    prober_target_turn(fixture->plan.targets[0], false).src_port,
		    0xc123);
}

/* ---- which flow is probed next ------------------------------------------------ */

static void
only_flows_that_are_kept_have_a_turn(void **state)
{
	struct fixture *fixture = *state;
	struct wire_target wire = target(1, 100000);
	struct prober_target *taken;

	set(fixture, &wire, 1);
	taken = fixture->plan.targets[0];
	prober_target_keep(taken, 2);
	for (int i = 0; i < 4; i++)
		assert_int_equal(prober_target_turn(taken, false).src_port, 40002);
	/* The mask contains none of its flows: all are used. */
	prober_target_keep(taken, 4);
	assert_int_not_equal(prober_target_turn(taken, false).src_port,
	    prober_target_turn(taken, false).src_port);
}

static void
a_choice_lasts_as_long_as_the_flows_are_the_same(void **state)
{
	static const uint16_t others[] = { 40003, 40002 };
	struct fixture *fixture = *state;
	struct wire_target wire = target(1, 100000);

	set(fixture, &wire, 1);
	prober_target_keep(fixture->plan.targets[0], 2);
	set(fixture, &wire, 1);
	assert_int_equal(fixture->plan.targets[0]->kept_count, 1);
	assert_int_equal(fixture->plan.targets[0]->kept[0], 40002);
	wire.flows = others;
	set(fixture, &wire, 1);
	assert_int_equal(fixture->plan.targets[0]->kept_count, 2);
}

static void
a_service_is_a_target_beside_the_plans_with_a_pace_of_its_own(void **state)
{
	struct fixture *fixture = *state;
	uint16_t many[WIRE_MAX_FLOWS];
	struct wire_target wires[] = { target(1, 100000), target(1, 20000) };
	struct prober_target *service;
	unsigned turns[WIRE_MAX_FLOWS] = { 0 };

	for (size_t i = 0; i < WIRE_MAX_FLOWS; i++)
		many[i] = (uint16_t)(50000 + i);
	wires[0].kind = WIRE_INTER_TOR;
	wires[1].kind = WIRE_SERVICE;
	wires[1].flows = many;
	wires[1].flow_count = WIRE_MAX_FLOWS;
	set(fixture, wires, 2);
	set(fixture, wires, 2);
	for (int i = 0; i < TARGET_REFUSALS; i++)
		assert_int_equal(fixture->refused[i], 0);
	assert_int_equal(fixture->plan.count, 2);
	service = fixture->plan.targets[1];
	assert_int_equal(fixture->plan.targets[0]->pace.interval_ns, 100 * MS);
	assert_int_equal(service->pace.interval_ns, 20 * MS);
	for (size_t i = 0; i < 2 * (size_t)WIRE_MAX_FLOWS; i++)
		turns[prober_target_turn(service, false).src_port - 50000]++;
	for (size_t i = 0; i < WIRE_MAX_FLOWS; i++)
		assert_int_equal(turns[i], 2);

	wires[1].flow_count = WIRE_MAX_FLOWS + 1;
	set(fixture, wires, 2);
	assert_int_equal(fixture->refused[TARGET_MALFORMED], 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(impossible_targets_are_refused_and_the_others_are_kept),
		TEST(too_many_targets_are_refused),
		TEST(targets_are_checked_against_the_rnics_own_addresses),
		TEST(one_address_gets_no_more_than_its_limit),
		TEST(large_probes_are_held_by_their_bytes),
		TEST(the_brake_stretches_all_intervals_and_the_limit_only_once),
		TEST(above_the_limit_all_intervals_are_stretched_by_one_factor),
		TEST(a_target_that_stays_keeps_its_pace_and_turn),
		TEST(focus_speeds_up_its_target_for_a_while),
		TEST(a_pair_repeats_its_combination_and_all_occur),
		TEST(large_probes_are_spread_over_the_flows),
		TEST(a_target_without_a_qp_is_refused_by_a_verbs_port),
		TEST(over_udp_nothing_is_sent_to_the_port_of_roce),
		TEST(sizes_that_no_qp_of_the_target_takes_have_no_turn),
		TEST(flows_are_those_that_the_port_has_and_each_has_one_turn),
		TEST(only_flows_that_are_kept_have_a_turn),
		TEST(a_choice_lasts_as_long_as_the_flows_are_the_same),
		TEST(a_service_is_a_target_beside_the_plans_with_a_pace_of_its_own),
	};

	return cmocka_run_group_tests_name("prober_plan", tests, NULL, NULL);
}
