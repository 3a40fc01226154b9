#include <errno.h>
#include <string.h>

#include "port_verbs_fixture.h"

static void
open_both(struct verbs_fixture *fixture)
{
	side_open(fixture, 0);
	side_open(fixture, 1);
}

static void
a_probe_arrives_with_what_its_header_reports(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	const struct port_arrival *arrival = &to->arrivals[PORT_REFLECTOR][0];
	struct port_packet packet;

	open_both(fixture);
	packet = side_packet(fixture, 1, 7, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 1);
	assert_memory_equal(
	    &arrival->from, &fixture->sides[0].address, sizeof(struct wire_address));
	assert_int_equal(arrival->len, 64);
	assert_int_equal(arrival->dscp, 26);
	assert_int_equal(arrival->ecn, 2);
	assert_int_equal(arrival->ttl, 61);
	assert_int_equal(arrival->source, WIRE_STAMP_USER);
	assert_int_equal(arrival->local_port, 0);
	assert_true(arrival->qpn > fixture->sides[0].facts.large_qpn);
	assert_int_equal(to->bytes[PORT_REFLECTOR][0][0], 7);
}

static void
a_reply_written_in_place_arrives_whole(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture);
	fixture->sides[1].answer = true;
	/* The answer's completion is read much later. */
	fixture->sides[1].device->hold_sends = true;
	packet = side_packet(fixture, 1, 9, 4096);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, from->arrived[PORT_PROBER] == 1);
	assert_int_equal(from->arrivals[PORT_PROBER][0].len, 4096);
	assert_int_equal(from->arrivals[PORT_PROBER][0].local_port, packet.src_port);
	assert_memory_equal(from->bytes[PORT_PROBER][0], "\x09\0\0\0R\0", 6);
	assert_int_equal(fixture->sides[1].device->inlined, 0);
	fake_verbs_release(fixture->sides[1].device);
}

static void
small_messages_leave_inline(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct port_packet packet;

	open_both(fixture);
	packet = side_packet(fixture, 1, 1, WIRE_ROCE_SMALL_BYTES);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(fixture->sides[0].device->inlined, 1);
	packet = side_packet(fixture, 1, 2, WIRE_ROCE_SMALL_BYTES + 1);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(fixture->sides[0].device->inlined, 1);
	UNTIL(fixture, fixture->sides[1].arrived[PORT_REFLECTOR] == 2);
}

static void
a_device_without_inline_sends_from_buffers(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct port_packet packet;

	fixture->sides[0].device->max_inline = 0;
	open_both(fixture);
	packet = side_packet(fixture, 1, 1, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(fixture->sides[0].device->inlined, 0);
	UNTIL(fixture, fixture->sides[1].arrived[PORT_REFLECTOR] == 1);
}

static void
a_probe_without_address_handle_is_none(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct port_packet packet;

	open_both(fixture);
	packet = side_packet(fixture, 1, 1, 64);
	port_send(fixture->sides[0].port, PORT_PROBER, &packet, 1);
	assert_int_equal(packet.error, -EAGAIN);
	assert_int_equal(fixture->sides[0].device->sent, 0);
	assert_int_equal(fixture->sides[0].departed[PORT_PROBER], 0);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
}

static void
a_reply_waits_for_its_address_handle(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	to->answer = true;
	packet = side_packet(fixture, 1, 3, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, fixture->sides[0].arrived[PORT_PROBER] == 1);
	assert_int_equal(to->answered, 1);
	assert_int_equal(port_counts(to->port)->handles_waited, 1);
	assert_int_equal(port_counts(to->port)->handles_refused, 0);
	assert_int_equal(to->departed[PORT_REFLECTOR], 1);
	assert_int_equal(to->departures[PORT_REFLECTOR][0].token, 3);
}

static void
a_reply_waits_for_a_moment_only(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	to->answer = true;
	memcpy(to->device->dead_gid, fixture->sides[0].device->gids[0], 16);
	to->device->dead_ns = 300 * RM_NS_PER_MS;
	packet = side_packet(fixture, 1, 3, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, port_counts(to->port)->handles_waited == 1);
	UNTIL(fixture, port_counts(to->port)->handles_refused == 1);
	assert_int_equal(to->device->sent, 0);
}

static void
a_reply_that_cannot_leave_after_its_wait_is_counted(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	to->answer = true;
	to->device->fail_post_send = -ENOMEM;
	packet = side_packet(fixture, 1, 3, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, port_counts(to->port)->handles_waited == 1);
	UNTIL(fixture, port_counts(to->port)->handles_refused == 1);
	assert_int_equal(to->device->sent, 0);
}

static void
one_unresolvable_neighbour_delays_no_other(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct wire_address dead = { 4, { 10, 0, 0, 99 }, WIRE_ROCE_PORT };
	struct port_packet to_dead, packet;

	open_both(fixture);
	memcpy(from->device->dead_gid, from->device->gids[0], 16);
	from->device->dead_gid[15] = 99;
	from->device->dead_ns = 3600 * RM_NS_PER_S;
	to_dead = side_packet(fixture, 1, 1, 64);
	to_dead.to = &dead;
	port_send(from->port, PORT_PROBER, &to_dead, 1);
	assert_int_equal(to_dead.error, -EAGAIN);
	for (uint32_t i = 0; i < 20; i++) {
		packet = side_packet(fixture, 1, i, 64);
		assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	}
	UNTIL(fixture, fixture->sides[1].arrived[PORT_REFLECTOR] == 20);
	assert_int_equal(port_counts(from->port)->handles_refused, 0);
	__atomic_store_n(&from->device->dead_ns, 0, __ATOMIC_RELAXED);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &to_dead), -EHOSTUNREACH);
	/* Later packets do not wait for the dead target. */
	__atomic_store_n(&from->device->dead_ns, 3600 * RM_NS_PER_S, __ATOMIC_RELAXED);
	port_send(from->port, PORT_PROBER, &to_dead, 1);
	assert_int_equal(to_dead.error, -EHOSTUNREACH);
	__atomic_store_n(&from->device->dead_ns, 0, __ATOMIC_RELAXED);
}

static void
software_send_stamps_are_taken_before_posting(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture);
	from->device->hold_sends = true; /* the departure needs no completion */
	packet = side_packet(fixture, 1, 5, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	assert_int_equal(from->departed[PORT_PROBER], 1);
	assert_int_equal(from->departures[PORT_PROBER][0].token, 5);
	assert_int_equal(from->departures[PORT_PROBER][0].stamp_ns, packet.posted.ns);
	UNTIL(fixture, fixture->sides[1].arrived[PORT_REFLECTOR] == 1);
	assert_true(
	    fixture->sides[1].arrivals[PORT_REFLECTOR][0].stamp_ns >= packet.posted.ns);
	fake_verbs_release(from->device);
}

static void
more_sends_than_slots_are_refused_until_some_complete(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;
	size_t sent = 0;

	open_both(fixture);
	packet = side_packet(fixture, 1, 5, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	from->device->hold_sends = true;
	for (; sent < 1000; sent++) {
		port_send(from->port, PORT_PROBER, &packet, 1);
		if (packet.error != 0)
			break;
	}
	assert_int_equal(packet.error, -EAGAIN);
	assert_int_equal(sent, 64);
	from->device->hold_sends = false;
	fake_verbs_release(from->device);
	port_send(from->port, PORT_PROBER, &packet, 1);
	assert_int_equal(packet.error, 0);
}

static void
a_packet_that_cannot_be_sent_fails_at_once(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct wire_address six = { .family = 6, .port = WIRE_ROCE_PORT };
	struct port_packet packets[3];

	fixture->sides[0].device->mtu = IBV_MTU_1024;
	open_both(fixture);
	packets[0] = side_packet(fixture, 1, 1, 1025);
	packets[1] = side_packet(fixture, 1, 1, 64);
	packets[1].qpn = 0;
	packets[2] = side_packet(fixture, 1, 1, 64);
	packets[2].to = &six;
	port_send(fixture->sides[0].port, PORT_PROBER, packets, 3);
	assert_int_equal(packets[0].error, -EMSGSIZE);
	assert_int_equal(packets[1].error, -EINVAL);
	assert_int_equal(packets[2].error, -EAFNOSUPPORT);
	assert_int_equal(fixture->sides[0].facts.mtu_bytes, 1024);
}

static void
a_flood_is_handed_over_in_bursts_and_nothing_is_lost(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packets[PORT_BURST];
	size_t sent = 0;

	fixture->sides[1].options.small_receives = 1024;
	open_both(fixture);
	to->answer = true;
	packets[0] = side_packet(fixture, 1, 0, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packets[0]), 0);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < PORT_BURST; i++)
			packets[i] = side_packet(fixture, 1, 1, 64);
		port_send(fixture->sides[0].port, PORT_PROBER, packets, PORT_BURST);
		for (int i = 0; i < PORT_BURST; i++)
			sent += packets[i].error == 0;
	}
	assert_int_equal(sent, 20 * PORT_BURST);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == sent + 1);
	UNTIL(fixture, to->answered + to->refused == sent + 1);
	assert_int_equal(port_overruns(to->port, PORT_REFLECTOR, true), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_probe_arrives_with_what_its_header_reports),
		TEST(a_reply_written_in_place_arrives_whole),
		TEST(small_messages_leave_inline),
		TEST(a_device_without_inline_sends_from_buffers),
		TEST(a_probe_without_address_handle_is_none),
		TEST(a_reply_waits_for_its_address_handle),
		TEST(a_reply_waits_for_a_moment_only),
		TEST(a_reply_that_cannot_leave_after_its_wait_is_counted),
		TEST(one_unresolvable_neighbour_delays_no_other),
		TEST(software_send_stamps_are_taken_before_posting),
		TEST(more_sends_than_slots_are_refused_until_some_complete),
		TEST(a_packet_that_cannot_be_sent_fails_at_once),
		TEST(a_flood_is_handed_over_in_bursts_and_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("port_verbs", tests, NULL, NULL);
}
