/* Which flows share probes, and which flows are probed now. */
#include "host-agent/services/services.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services_fixture.h"

#define TURN_S 10
#define MAX 4

static const struct services_options options = { .max_probed = MAX,
	.interval_us = 400000,
	.turn_ns = TURN_S * RM_NS_PER_S,
	.random_seed = 7 };

static int
setup(void **state)
{
	struct services *services;

	if (services_new(&options, &services) < 0)
		return -1;
	services_own(services, 0, NULL, 0);
	services_own(services, 1, NULL, 0);
	*state = services;
	return 0;
}

static int
teardown(void **state)
{
	services_free(*state);
	return 0;
}

static void
receive(struct services *services, struct qp_event event)
{
	assert_int_equal(services_event(services, &event, services_at(0)), 0);
}

/* The port's parity selects one of two spines; peer 3 is multipath. */
static uint64_t
two_spines(size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg)
{
	return dst.guid == PEER_GUID + 3 ? 0 : 10 + src_port % 2;
}

static uint64_t
turn(struct services *services, services_path *path, int64_t second)
{
	return services_turn(services, path, NULL, services_at(second * 1000));
}

static void
a_resolved_flow_is_probed_from_its_own_port(void **state)
{
	struct services *services = *state;
	struct wire_target target;

	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	turn(services, services_no_path, 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 0);
	services_answer_all(services, services_at(1));
	assert_int_equal(turn(services, services_no_path, 0), 2);
	assert_int_equal(services_probes(services, 0, &target, 1), 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
	assert_int_equal(target.kind, WIRE_SERVICE);
	assert_int_equal(target.src.guid, OWN_GUID + 1);
	assert_int_equal(target.dst.guid, PEER_GUID + 2);
	assert_memory_equal(target.address.bytes, "\x0a\0\x01\x02", 4);
	assert_int_equal(target.address.port, WIRE_ROCE_PORT);
	assert_int_equal(target.dst_qpn, 4002);
	assert_int_equal(target.dst_large_qpn, 5002);
	assert_int_equal(target.flow_count, 1);
	assert_int_equal(target.flows[0], 0xc123);
	assert_int_equal(target.dscp_count, 1);
	assert_int_equal(target.dscps[0], 26);
	assert_int_equal(target.interval_us, 400000);
	assert_true(target.paired);
	assert_int_equal(target.size_count, 4);
	assert_int_equal(target.sizes[0], 64);
	assert_int_equal(target.sizes[3], 1024); /* the smaller of the two MTUs */
	assert_int_equal(services_flow(services, 17).state, WIRE_SERVICE_PROBED);
	assert_int_equal(services_flow(services, 17).probe_port, 0xc123);
	assert_int_equal(services_counts(services).probed, 1);

	assert_int_equal(turn(services, services_no_path, 1), 0); /* no change */
	receive(services, services_end(1, 17));
	assert_int_equal(turn(services, services_no_path, 2), 2);
	assert_int_equal(services_probes(services, 1, &target, 1), 0);
}

static void
flows_of_one_port_share_probes_whatever_process_has_them(void **state)
{
	struct services *services = *state;
	struct wire_target targets[4];

	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	receive(services, services_qp(1, 18, 2, 0xc123, 6));
	receive(services, services_qp(1, 19, 2, 0xc124, 6));
	receive(services, services_qp(1, 20, 4, 0xc123, 6));
	services_answer_all(services, services_at(1));
	assert_int_equal(turn(services, services_no_path, 0), 2);
	assert_int_equal(services_probes(services, 1, targets, 4), 2);
	for (int i = 0; i < 2; i++)
		if (targets[i].dst.guid == PEER_GUID + 2) {
			assert_int_equal(targets[i].flow_count, 2);
			assert_int_equal(targets[i].interval_us, 200000);
			assert_false(targets[i].paired);
		}
	assert_int_equal(services_counts(services).merged, 1);
	assert_int_equal(services_counts(services).probed, 3);
}

static void
flows_of_one_traced_path_share_probes(void **state)
{
	struct services *services = *state;
	struct wire_target targets[4];

	for (uint32_t i = 0; i < 6; i++)
		receive(services, services_qp(1, 20 + i, 2, (uint16_t)(0xc100 + i), 5));
	services_answer_all(services, services_at(1));
	turn(services, services_no_path, 0);
	assert_int_equal(services_counts(services).probed, MAX);
	assert_int_equal(services_counts(services).waiting, 2);
	/* All flows are traced, also those that wait for a turn. */
	assert_int_equal(services_traces(services, 1, targets, 4), 1);
	assert_int_equal(targets[0].flow_count, 6);

	assert_int_equal(turn(services, two_spines, 1), 2);
	assert_int_equal(services_probes(services, 1, targets, 4), 1);
	assert_int_equal(targets[0].flow_count, 2);
	assert_int_equal(targets[0].flows[0], 0xc100);
	assert_int_equal(targets[0].flows[1], 0xc101);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(
		    services_flow(services, 20 + i).state, WIRE_SERVICE_PROBED);
		assert_int_equal(
		    services_flow(services, 20 + i).probe_port, 0xc100 + i % 2);
		assert_int_equal(services_flow(services, 20 + i).src_port, 0xc100 + i);
	}
	assert_int_equal(services_counts(services).merged, 4);
	assert_int_equal(services_traces(services, 1, targets, 4), 1);
	assert_int_equal(targets[0].flow_count, 6);
}

static void
flows_of_no_single_path_are_probed_each_by_itself(void **state)
{
	struct services *services = *state;

	receive(services, services_qp(1, 20, 3, 0xc100, 5));
	receive(services, services_qp(1, 21, 3, 0xc102, 5));
	services_answer_all(services, services_at(1));
	turn(services, two_spines, 0);
	assert_int_equal(services_counts(services).probed, 2);
	assert_int_equal(services_flow(services, 21).probe_port, 0xc102);
}

static void
an_rnic_of_few_ports_takes_the_one_that_goes_the_same_path(void **state)
{
	struct services *services = *state;
	const uint16_t ports[] = { 0xc00b, 0xc00d, 0xc010 };
	struct wire_target target;

	services_own(services, 1, ports, 3);
	receive(services, services_qp(1, 20, 2, 0xc100, 5));
	receive(services, services_qp(1, 21, 2, 0xc103, 5));
	services_answer_all(services, services_at(1));

	/* Not traced yet: any port is used, and it is not reported as the flow's
	 * path. */
	turn(services, services_no_path, 0);
	assert_int_equal(services_flow(services, 20).state, WIRE_SERVICE_PROBED);
	assert_int_equal(services_flow(services, 20).probe_port, 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
	for (size_t i = 0; i < target.flow_count; i++)
		assert_true(target.flows[i] == ports[0] ||
			    target.flows[i] == ports[1] || target.flows[i] == ports[2]);
	assert_int_equal(services_traces(services, 1, &target, 1), 1);
	/* The ports of the flows and the candidate ports. */
	assert_int_equal(target.flow_count, 5);

	turn(services, two_spines, 1);
	assert_int_equal(services_flow(services, 20).probe_port, 0xc010);
	assert_int_equal(services_flow(services, 21).probe_port, 0xc00b);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
	assert_int_equal(target.flow_count, 2);
}

static uint64_t
own_spine_each(size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg)
{
	return src_port;
}

static void
a_path_that_no_port_takes_is_not_claimed(void **state)
{
	struct services *services = *state;
	const uint16_t ports[] = { 0xc00b, 0xc00d };
	struct wire_target target;

	services_own(services, 1, ports, 2);
	receive(services, services_qp(1, 20, 2, 0xc100, 5));
	services_answer_all(services, services_at(1));
	turn(services, own_spine_each, 0);
	assert_int_equal(services_flow(services, 20).probe_port, 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
}

static void
below_one_tor_all_paths_are_one_and_none_is_traced(void **state)
{
	struct services *services = *state;
	struct wire_rnic rnic = services_peer_rnic(2, "tor1");
	struct services_ask ask;
	struct wire_target target;

	receive(services, services_qp(1, 20, 2, 0xc100, 5));
	receive(services, services_qp(1, 21, 2, 0xc101, 5));
	assert_int_equal(services_asks(services, services_at(0), &ask, 1), 1);
	services_answer(services, ask.token, &rnic, services_at(0));
	turn(services, services_no_path, 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
	assert_int_equal(target.flow_count, 1);
	assert_int_equal(services_flow(services, 21).probe_port, 0xc100);
	assert_int_equal(services_traces(services, 1, &target, 1), 0);
}

static void
every_flow_has_its_turn(void **state)
{
	struct services *services = *state;
	unsigned turns[10] = { 0 };

	for (uint32_t i = 0; i < 10; i++)
		receive(services, services_qp(1, 20 + i, 2, (uint16_t)(0xc100 + i), 5));
	services_answer_all(services, services_at(1));
	for (int64_t second = 0; second < 50 * TURN_S; second++) {
		turn(services, services_no_path, second);
		assert_int_equal(services_counts(services).probed, MAX);
		assert_int_equal(services_counts(services).waiting, 10 - MAX);
		for (uint32_t i = 0; i < 10; i++)
			turns[i] += services_flow(services, 20 + i).state ==
				    WIRE_SERVICE_PROBED;
	}
	for (int i = 0; i < 10; i++) /* 500 s; four of ten flows are probed at a time */
		assert_in_range(turns[i], 180, 220);
}

static void
a_flow_without_a_turn_yet_comes_first(void **state)
{
	struct services *services = *state;

	for (uint32_t i = 0; i < 8; i++)
		receive(services, services_qp(1, 20 + i, 2, (uint16_t)(0xc100 + i), 5));
	services_answer_all(services, services_at(1));
	turn(services, services_no_path, 0);
	turn(services, services_no_path, TURN_S); /* the second group of four */
	receive(services, services_qp(1, 50, 2, 0xc200, 5));
	turn(services, services_no_path, TURN_S + 1);
	assert_int_equal(services_flow(services, 50).state, WIRE_SERVICE_WAITING);
	turn(services, services_no_path, 2 * TURN_S);
	assert_int_equal(services_flow(services, 50).state, WIRE_SERVICE_PROBED);
}

static void
no_flow_loses_its_turn_while_there_is_room(void **state)
{
	struct services *services = *state;

	for (uint32_t i = 0; i < MAX; i++)
		receive(services, services_qp(1, 20 + i, 2, (uint16_t)(0xc100 + i), 5));
	services_answer_all(services, services_at(1));
	assert_int_equal(turn(services, services_no_path, 0), 2);
	for (int64_t second = 1; second < 5 * TURN_S; second++)
		assert_int_equal(turn(services, services_no_path, second), 0);
	/* The limit applies to each RNIC. */
	receive(services, services_qp(0, 50, 2, 0xc200, 5));
	assert_int_equal(turn(services, services_no_path, 6 * TURN_S), 1);
	assert_int_equal(services_counts(services).probed, MAX + 1);
}

static void
a_lower_cap_applies_at_once_and_none_exceeds_the_limit(void **state)
{
	struct services *services = *state;
	struct services_options other = options;

	for (uint32_t i = 0; i < 100; i++)
		receive(services, services_qp(1, 20 + i, 2, (uint16_t)(0xc100 + i), 5));
	services_answer_all(services, services_at(1));
	other.max_probed = 1000;
	services_tune(services, &other);
	assert_true(services_news(services));
	turn(services, services_no_path, 0);
	assert_int_equal(services_counts(services).probed, SERVICES_MAX_PROBED);
	other.max_probed = 2;
	services_tune(services, &other);
	turn(services, services_no_path, 1);
	assert_int_equal(services_counts(services).probed, 2);
	other.max_probed = 0;
	services_tune(services, &other);
	turn(services, services_no_path, 2);
	assert_int_equal(services_counts(services).probed, 0);
}

static void
probes_go_where_their_kind_is_answered(void **state)
{
	struct services *services = *state;
	struct wire_rnic rnic = services_peer_rnic(2, "tor2");
	struct services_ask ask;
	struct wire_target target;

	receive(services, services_qp(1, 20, 2, 0xc100, 5));
	assert_int_equal(services_asks(services, services_at(0), &ask, 1), 1);
	rnic.qpn = 0; /* the peer answers UDP only */
	services_answer(services, ask.token, &rnic, services_at(0));
	turn(services, services_no_path, 0);
	assert_int_equal(services_probes(services, 1, &target, 1), 0);
	assert_int_equal(services_flow(services, 20).state, WIRE_SERVICE_RESOLVING);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_resolved_flow_is_probed_from_its_own_port),
		TEST(flows_of_one_port_share_probes_whatever_process_has_them),
		TEST(flows_of_one_traced_path_share_probes),
		TEST(flows_of_no_single_path_are_probed_each_by_itself),
		TEST(an_rnic_of_few_ports_takes_the_one_that_goes_the_same_path),
		TEST(a_path_that_no_port_takes_is_not_claimed),
		TEST(below_one_tor_all_paths_are_one_and_none_is_traced),
		TEST(every_flow_has_its_turn),
		TEST(a_flow_without_a_turn_yet_comes_first),
		TEST(no_flow_loses_its_turn_while_there_is_room),
		TEST(a_lower_cap_applies_at_once_and_none_exceeds_the_limit),
		TEST(probes_go_where_their_kind_is_answered),
	};

	return cmocka_run_group_tests_name("services_turn", tests, NULL, NULL);
}
