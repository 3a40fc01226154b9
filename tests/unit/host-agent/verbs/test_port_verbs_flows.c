#include <errno.h>
#include <string.h>

#include "host-agent/probe/flow_label.h"
#include "port_verbs_fixture.h"

static void
open_both(struct verbs_fixture *fixture, const char *driver)
{
	for (int i = 0; i < 2; i++) {
		fixture->sides[i].options.driver = driver;
		side_open(fixture, i);
	}
}

static void
each_qp_has_its_port_if_qps_make_the_flows(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	uint32_t qpns[4];

	open_both(fixture, "rxe");
	assert_int_equal(port_flows(from->port), PORT_FLOWS_QP);
	assert_int_equal(from->facts.flow_count, 4);
	for (uint16_t i = 0; i < 4; i++) {
		struct port_packet packet = side_packet(fixture, 1, i, 64);

		packet.src_port = port_flow(from->port, (uint16_t)(40000 + i));
		assert_int_equal(port_check(from->port, packet.to, packet.src_port), 0);
		assert_int_equal(port_label(from->port, packet.src_port), i + 1);
		assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
		qpns[i] = from->device->last_qpn;
		assert_int_equal(flow_label_rxe_ud_sport(qpns[i]), packet.src_port);
		for (uint16_t j = 0; j < i; j++)
			assert_int_not_equal(qpns[i], qpns[j]);
	}
	assert_int_equal(port_flow(from->port, 40004), port_flow(from->port, 40000));
	assert_int_equal(
	    port_check(from->port, &fixture->sides[1].address, 40000), -ERANGE);
	assert_int_equal(port_label(from->port, 40000), 0);
}

static void
ports_are_folded_if_labels_make_the_flows(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture, "mlx5");
	assert_int_equal(port_flows(from->port), PORT_FLOWS_LABEL);
	assert_int_equal(from->facts.flow_count, 1);
	assert_int_equal(port_flow(from->port, 0x1234), 0xd234);
	assert_int_equal(port_flow(from->port, 0xd234), 0xd234);
	assert_int_equal(
	    port_check(from->port, &fixture->sides[1].address, 0x1234), -ERANGE);
	packet = side_packet(fixture, 1, 1, 64);
	packet.src_port = 0xd234;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(
	    flow_label_sport(from->device->last_ah.grh.flow_label, 0, 0), 0xd234);
	assert_int_equal(
	    from->device->last_ah.grh.flow_label, port_label(from->port, 0xd234));
}

static void
an_unknown_driver_has_one_flow(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture, "nobody_knows");
	assert_int_equal(port_flows(from->port), PORT_FLOWS_UNKNOWN);
	assert_int_equal(port_flow(from->port, 40000), port_flow(from->port, 40001));
	packet = side_packet(fixture, 1, 1, 64);
	assert_int_equal(port_check(from->port, packet.to, packet.src_port), 0);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	/* A device that uses labels always gets the same one. */
	assert_int_not_equal(from->device->last_ah.grh.flow_label, 0);
}

/* The label of answers; side 1 answers with the label that the test sets. */
static uint32_t
answer_leaves_from(struct verbs_fixture *fixture, uint32_t label)
{
	struct verbs_side *from = &fixture->sides[0];
	size_t before = from->arrived[PORT_PROBER];
	struct port_packet packet = side_packet(fixture, 1, 1, 64);

	fixture->sides[1].answer = true;
	fixture->sides[1].label = label;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, from->arrived[PORT_PROBER] == before + 1);
	return fixture->sides[1].device->last_qpn;
}

static void
replies_take_the_flow_of_their_probes_label(void **state)
{
	struct verbs_fixture *fixture = *state;
	uint32_t first;

	open_both(fixture, "rxe");
	first = answer_leaves_from(fixture, 1);
	assert_int_equal(answer_leaves_from(fixture, 1), first);
	assert_int_equal(answer_leaves_from(fixture, 5), first);
	assert_int_not_equal(answer_leaves_from(fixture, 2), first);
}

static void
replies_carry_their_probes_label_and_never_none(void **state)
{
	struct verbs_fixture *fixture = *state;
	const struct ibv_ah_attr *ah = &fixture->sides[1].device->last_ah;

	open_both(fixture, "mlx5");
	answer_leaves_from(fixture, 0x54321);
	assert_int_equal(ah->grh.flow_label, 0x54321);
	assert_int_equal(ah->grh.traffic_class, 26 << 2 | 2);
	/* 0 would let the device choose a new random port each time. */
	answer_leaves_from(fixture, 0);
	assert_int_not_equal(ah->grh.flow_label, 0);
	answer_leaves_from(fixture, 0xfff00000);
	assert_int_not_equal(ah->grh.flow_label, 0);
	assert_true(ah->grh.flow_label <= FLOW_LABEL_MAX);
}

static void
addresses_of_either_family_use_their_own_gid(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct wire_address six[2];

	for (uint8_t i = 0; i < 2; i++) {
		struct verbs_side *side = &fixture->sides[i];

		side->device->gids[1][0] = 0xfd;
		side->device->gids[1][15] = (uint8_t)(i + 1);
		six[i] = (struct wire_address){ .family = 6, .port = WIRE_ROCE_PORT };
		memcpy(six[i].bytes, side->device->gids[1], 16);
		side->options.gids[1].address = six[i];
		side->options.gids[1].index = 1;
		memcpy(side->options.gids[1].gid, side->device->gids[1], 16);
	}
	open_both(fixture, "rxe");
	struct port_packet packet = side_packet(fixture, 1, 1, 64);

	packet.to = &six[1];
	fixture->sides[1].answer = true;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, fixture->sides[0].arrived[PORT_PROBER] == 1);
	assert_int_equal(fixture->sides[0].device->last_ah.grh.sgid_index, 1);
	assert_memory_equal(&fixture->sides[1].arrivals[PORT_REFLECTOR][0].from,
	    &six[0], sizeof(six[0]));
	assert_int_equal(fixture->sides[1].arrivals[PORT_REFLECTOR][0].ttl, 61);
}

/* InfiniBand, addressed by LID alone. Only this unit test covers it. */
static void
a_lid_addresses_without_a_grh(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct wire_address nowhere = { 0 };
	const struct port_arrival *arrival =
	    &fixture->sides[1].arrivals[PORT_REFLECTOR][0];
	struct port_packet packet;

	for (int i = 0; i < 2; i++) {
		fixture->sides[i].device->infiniband = true;
		fixture->sides[i].options.gids[0].address.family = 0;
	}
	open_both(fixture, "mlx5");
	assert_int_equal(port_flows(fixture->sides[0].port), PORT_FLOWS_UNKNOWN);
	packet = side_packet(fixture, 1, 1, 64);
	packet.to = &nowhere;
	packet.lid = 2;
	packet.sl = 3;
	fixture->sides[1].answer = true;
	assert_int_equal(port_check(fixture->sides[0].port, packet.to, 0), 0);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(fixture->sides[0].device->last_ah.dlid, 2);
	assert_int_equal(fixture->sides[0].device->last_ah.sl, 3);
	assert_int_equal(fixture->sides[0].device->last_ah.is_global, 0);
	UNTIL(fixture, fixture->sides[0].arrived[PORT_PROBER] == 1);
	assert_int_equal(arrival->lid, 1);
	assert_int_equal(arrival->sl, 3);
	assert_int_equal(arrival->from.family, 0);
	packet.lid = 0;
	port_send(fixture->sides[0].port, PORT_PROBER, &packet, 1);
	assert_int_equal(packet.error, -EAFNOSUPPORT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_qp_has_its_port_if_qps_make_the_flows),
		TEST(ports_are_folded_if_labels_make_the_flows),
		TEST(an_unknown_driver_has_one_flow),
		TEST(replies_take_the_flow_of_their_probes_label),
		TEST(replies_carry_their_probes_label_and_never_none),
		TEST(addresses_of_either_family_use_their_own_gid),
		TEST(a_lid_addresses_without_a_grh),
	};

	return cmocka_run_group_tests_name("port_verbs_flows", tests, NULL, NULL);
}
