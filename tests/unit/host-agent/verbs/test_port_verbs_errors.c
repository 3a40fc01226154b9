#include <errno.h>
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

static uint32_t
flow_qpn(struct verbs_fixture *fixture)
{
	probe_works(fixture);
	return fixture->sides[0].device->last_qpn;
}

static void
undefined_fields_of_a_flushed_receive_free_no_send_slot(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;
	uint32_t qpn;

	open_both(fixture);
	qpn = flow_qpn(fixture);
	from->device->hold_sends = true;
	packet = side_packet(fixture, 1, 1, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	size_t departed = from->departed[PORT_PROBER];

	/* The flushed receives claim to be sends. */
	fake_verbs_break(from->device, qpn);
	UNTIL(fixture, port_counts(from->port)->reset == 1);
	assert_int_equal(from->departed[PORT_PROBER], departed);
	assert_true(port_counts(from->port)->errors >= 64);
	from->device->hold_sends = false;
	probe_works(fixture);
}

static void
a_broken_queue_comes_back_with_its_number(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_verbs_facts facts;

	open_both(fixture);
	probe_works(fixture);
	fake_verbs_break(to->device, to->facts.qpn);
	UNTIL(fixture, port_counts(to->port)->reset == 1);
	port_verbs_facts(to->port, &facts);
	assert_int_equal(facts.qpn, to->facts.qpn);
	assert_int_equal(fake_verbs_posted(to->device, facts.qpn), 64);
	probe_works(fixture);
	assert_int_equal(to->renumbered, 0);
	assert_int_equal(port_counts(to->port)->rebuilt, 0);
	/* Flushed buffers do not count as a flood. */
	assert_int_equal(port_counts(to->port)->receives_low, 0);
	assert_int_equal(port_overruns(to->port, PORT_REFLECTOR, true), 0);
}

/* Buffers posted to a broken queue are flushed, which would wake the loop for
 * nothing. */
static void
a_broken_queue_gets_no_buffers_until_it_is_back(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	probe_works(fixture);
	fake_verbs_break(to->device, to->facts.qpn);
	UNTIL(fixture, port_counts(to->port)->reset == 1);
	/* Too soon after the first reset: delayed. */
	fake_verbs_break(to->device, to->facts.qpn);
	UNTIL(fixture, port_counts(to->port)->reset == 2);
	assert_in_range(port_counts(to->port)->errors, 64, 2 * 64);
	probe_works(fixture);
}

static void
packets_received_before_the_break_are_delivered(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packets[PORT_BURST];

	open_both(fixture);
	probe_works(fixture);
	for (uint32_t i = 0; i < PORT_BURST; i++)
		packets[i] = side_packet(fixture, 1, i, 64);
	port_send(fixture->sides[0].port, PORT_PROBER, packets, PORT_BURST);
	fake_verbs_break(to->device, to->facts.qpn);
	UNTIL(fixture, port_counts(to->port)->reset == 1);
	assert_int_equal(to->arrived[PORT_REFLECTOR], 1 + PORT_BURST);
}

static void
where_reset_fails_the_new_number_is_reported(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	uint32_t before;

	open_both(fixture);
	probe_works(fixture);
	before = to->facts.qpn;
	to->device->fail_reset = -EINVAL;
	fake_verbs_break(to->device, before);
	UNTIL(fixture, to->renumbered == 1);
	port_verbs_facts(to->port, &to->facts);
	assert_int_not_equal(to->facts.qpn, before);
	assert_int_equal(port_counts(to->port)->rebuilt, 1);
	probe_works(fixture);
}

static void
a_rebuilt_flow_leaves_from_another_port(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	uint16_t before;

	open_both(fixture);
	from->device->fail_reset = -EINVAL;
	before = port_flow(from->port, 50000);
	fake_verbs_break(from->device, flow_qpn(fixture));
	UNTIL(fixture, from->renumbered == 1);
	assert_int_not_equal(port_flow(from->port, 50000), before);
	assert_int_equal(
	    port_check(from->port, &fixture->sides[1].address, before), -ERANGE);
	probe_works(fixture);
}

static void
a_queue_that_cannot_be_made_again_is_tried_again(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	to->device->fail_reset = -EINVAL;
	to->device->fail_create_qp = -ENOMEM;
	fake_verbs_break(to->device, to->facts.qpn);
	turn_for(fixture, 50 * RM_NS_PER_MS);
	assert_int_equal(to->renumbered, 0);
	to->device->fail_create_qp = 0;
	UNTIL(fixture, to->renumbered == 1);
	assert_int_equal(to->gone, 0);
	port_verbs_facts(to->port, &to->facts);
	probe_works(fixture);
}

static void
a_completion_from_before_a_reset_is_ignored(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct ibv_wc late = { .status = IBV_WC_SUCCESS,
		.byte_len = GRH_BYTES + 64,
		.wc_flags = IBV_WC_GRH };
	size_t arrived, errors;

	open_both(fixture);
	late.wr_id = fake_verbs_next_receive(to->device, to->facts.qpn);
	fake_verbs_break(to->device, to->facts.qpn);
	UNTIL(fixture, port_counts(to->port)->reset == 1);
	arrived = to->arrived[PORT_REFLECTOR];
	errors = port_counts(to->port)->errors;
	fake_verbs_complete(to->device, to->facts.qpn, &late);
	late.status = IBV_WC_WR_FLUSH_ERR;
	fake_verbs_complete(to->device, to->facts.qpn, &late);
	late.wr_id = UINT64_MAX; /* a completion for no queue */
	fake_verbs_complete(to->device, to->facts.qpn, &late);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	assert_int_equal(to->arrived[PORT_REFLECTOR], arrived);
	assert_int_equal(port_counts(to->port)->errors, errors);
	assert_int_equal(fake_verbs_posted(to->device, to->facts.qpn), 64);
	probe_works(fixture);
}

/* Some devices fail a receive and continue. The buffers are posted again only after
 * the queue has been checked, and then all of them are. */
static void
a_failed_receive_costs_a_working_queue_no_buffer(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct ibv_wc failed = { .status = IBV_WC_LOC_LEN_ERR };
	uint64_t errors;

	open_both(fixture);
	probe_works(fixture);
	errors = port_counts(to->port)->errors;
	for (int i = 0; i < 3; i++) {
		failed.wr_id = fake_verbs_next_receive(to->device, to->facts.qpn);
		assert_true(
		    fake_verbs_arrive(to->device, to->facts.qpn, "", 0, &failed));
		UNTIL(fixture, port_counts(to->port)->errors == errors + 1);
		errors++;
		assert_false(fake_verbs_is_broken(to->device, to->facts.qpn));
		probe_works(fixture); /* the other receives remain posted */
	}
	UNTIL(fixture, fake_verbs_posted(to->device, to->facts.qpn) == 64);
	assert_int_equal(port_counts(to->port)->reset, 0);
	assert_int_equal(port_counts(to->port)->rebuilt, 0);
}

static void
a_queue_pair_event_causes_a_check(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	to->device->hold_sends = true;
	fake_verbs_qp_event(to->device, IBV_EVENT_QP_FATAL, to->facts.qpn);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	/* The queue is not broken. */
	assert_int_equal(port_counts(to->port)->reset, 0);
	to->device->hold_sends = false;
	probe_works(fixture);
}

static void
a_send_that_fails_returns_its_slot(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture);
	probe_works(fixture);
	from->device->fail_post_send = -EIO;
	for (int i = 0; i < 300; i++) {
		packet = side_packet(fixture, 1, 1, 64);
		port_send(from->port, PORT_PROBER, &packet, 1);
		assert_int_equal(packet.error, -EIO);
	}
	assert_int_equal(from->departed[PORT_PROBER], 1);
	from->device->fail_post_send = 0;
	probe_works(fixture);
}

static void
send_one_more(void *arg)
{
	struct verbs_fixture *fixture = arg;
	struct port_packet packet = side_packet(fixture, 1, 2, 64);

	fixture->sides[1].device->before_arming = NULL;
	port_send(fixture->sides[0].port, PORT_PROBER, &packet, 1);
	assert_int_equal(packet.error, 0);
}

/* Completions between an event and the arming of the queue cause no further event. */
static void
no_wake_up_is_lost(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	probe_works(fixture);
	for (int i = 0; i < 20; i++) {
		size_t before = to->arrived[PORT_REFLECTOR];
		struct port_packet packet = side_packet(fixture, 1, 1, 64);

		to->device->before_arming = send_one_more;
		to->device->arg = fixture;
		port_send(fixture->sides[0].port, PORT_PROBER, &packet, 1);
		assert_int_equal(packet.error, 0);
		/* Only the event finds it that soon: no timer of the port does. */
		for (int k = 0; k < 100 && to->arrived[PORT_REFLECTOR] < before + 2;
		     k++)
			turn(fixture);
		assert_int_equal(to->arrived[PORT_REFLECTOR], before + 2);
	}
}

static void
interrupted_calls_are_made_again(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	probe_works(fixture);
	for (int i = 0; i < 20; i++) {
		to->device->interruptions = 5;
		fixture->sides[0].device->interruptions = 3;
		probe_works(fixture);
	}
	to->device->interruptions = 5;
	fake_verbs_link(to->device, false);
	UNTIL(fixture, to->links == 1);
	assert_int_equal(to->gone, 0);
}

static void
a_queue_that_cannot_be_polled_ends_the_port(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	struct port_packet packet;

	open_both(fixture);
	to->device->fail_poll = -EIO;
	packet = side_packet(fixture, 1, 1, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, to->gone == 1);
	assert_int_equal(to->gone_reason, -EIO);
	port_send(to->port, PORT_REFLECTOR, &packet, 1);
	assert_int_equal(packet.error, -ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(undefined_fields_of_a_flushed_receive_free_no_send_slot),
		TEST(a_broken_queue_comes_back_with_its_number),
		TEST(a_broken_queue_gets_no_buffers_until_it_is_back),
		TEST(packets_received_before_the_break_are_delivered),
		TEST(where_reset_fails_the_new_number_is_reported),
		TEST(a_rebuilt_flow_leaves_from_another_port),
		TEST(a_queue_that_cannot_be_made_again_is_tried_again),
		TEST(a_completion_from_before_a_reset_is_ignored),
		TEST(a_failed_receive_costs_a_working_queue_no_buffer),
		TEST(a_queue_pair_event_causes_a_check),
		TEST(a_send_that_fails_returns_its_slot),
		TEST(no_wake_up_is_lost),
		TEST(interrupted_calls_are_made_again),
		TEST(a_queue_that_cannot_be_polled_ends_the_port),
	};

	return cmocka_run_group_tests_name("port_verbs_errors", tests, NULL, NULL);
}
