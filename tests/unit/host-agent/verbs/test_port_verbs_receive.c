#include <string.h>

#include "host-agent/packet/grh.h"
#include "port_verbs_fixture.h"

static void
open_both(struct verbs_fixture *fixture)
{
	side_open(fixture, 0);
	side_open(fixture, 1);
}

/* Sends one probe and receives its reply. */
static void
probe_works(struct verbs_fixture *fixture)
{
	struct verbs_side *from = &fixture->sides[0], *to = &fixture->sides[1];
	size_t before = from->arrived[PORT_PROBER];
	struct port_packet packet = side_packet(fixture, 1, 1, 64);

	to->answer = true;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, from->arrived[PORT_PROBER] == before + 1);
}

static bool
arrive(struct verbs_side *side, const uint8_t *bytes, size_t len, uint32_t byte_len,
    unsigned flags)
{
	return fake_verbs_arrive(side->device, side->facts.qpn, bytes, len,
	    &(struct ibv_wc){
		.byte_len = byte_len, .wc_flags = flags, .src_qp = 0x99 });
}

static void
short_and_unrelated_datagrams_are_counted_and_dropped(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	const struct port_counts *counts;
	uint8_t bytes[GRH_BYTES + WIRE_ROCE_SMALL_BYTES];

	open_both(fixture);
	counts = port_counts(to->port);
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(arrive(to, bytes, 39, 39, IBV_WC_GRH)); /* too short for a GRH */
	/* Without a GRH. */
	assert_true(arrive(to, bytes, sizeof(bytes), sizeof(bytes), 0));
	assert_true(arrive(to, bytes, sizeof(bytes), sizeof(bytes), IBV_WC_GRH));
	UNTIL(fixture, counts->no_header == 3);
	/* The completion claims more bytes than the buffer has. */
	assert_true(arrive(to, bytes, sizeof(bytes), 4096, IBV_WC_GRH));
	UNTIL(fixture, counts->truncated == 1);
	assert_int_equal(to->arrived[PORT_REFLECTOR], 0);
	UNTIL(fixture, fake_verbs_posted(to->device, to->facts.qpn) == 64);
	probe_works(fixture);
}

static void
old_bytes_behind_a_short_message_are_not_delivered(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	packet = side_packet(fixture, 1, 1, 3);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 1);
	assert_int_equal(to->arrivals[PORT_REFLECTOR][0].len, 3);
	packet = side_packet(fixture, 1, 1, 0);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 2);
	assert_int_equal(to->arrivals[PORT_REFLECTOR][1].len, 0);
}

static void
a_receive_queue_that_runs_low_is_counted(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_verbs_facts facts;
	struct port_packet packets[PORT_BURST];

	open_both(fixture);
	packets[0] = side_packet(fixture, 1, 0, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, packets), 0);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 1);
	/* The receiver's loop does not run, so no packet is delivered. */
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < PORT_BURST; i++)
			packets[i] = side_packet(fixture, 1, 1, 64);
		port_send(fixture->sides[0].port, PORT_PROBER, packets, PORT_BURST);
	}
	assert_int_equal(to->device->dropped, 3 * PORT_BURST - 64);
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 65);
	port_verbs_facts(to->port, &facts);
	assert_int_equal(facts.receives_lowest, 0);
	assert_int_equal(port_counts(to->port)->receives_low, 1);
	assert_int_equal(port_overruns(to->port, PORT_REFLECTOR, true), 1);
	assert_int_equal(port_overruns(to->port, PORT_PROBER, true), 0);
	probe_works(fixture);
}

static void
refused_buffers_are_posted_later(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	to->device->scarce = true;
	for (uint32_t i = 0; i < 10; i++) {
		packet = side_packet(fixture, 1, i, 64);
		assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	}
	UNTIL(fixture, to->arrived[PORT_REFLECTOR] == 10);
	assert_int_equal(fake_verbs_posted(to->device, to->facts.qpn), 54);
	to->device->receives_left = 3; /* the device accepts only a part of the chain */
	UNTIL(fixture, fake_verbs_posted(to->device, to->facts.qpn) == 57);
	/* No packets arrive that would cause another attempt. */
	to->device->scarce = false;
	UNTIL(fixture, fake_verbs_posted(to->device, to->facts.qpn) == 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(short_and_unrelated_datagrams_are_counted_and_dropped),
		TEST(old_bytes_behind_a_short_message_are_not_delivered),
		TEST(a_receive_queue_that_runs_low_is_counted),
		TEST(refused_buffers_are_posted_later),
	};

	return cmocka_run_group_tests_name("port_verbs_receive", tests, NULL, NULL);
}
