#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector.h"
#include "tests/support/fake_port.h"

#define SIZE 64

static const struct wire_rnic_id own = { 2, 1 };

struct fixture {
	struct fake_port fake;
	struct reflector *reflector;
	uint8_t data[SIZE];
	struct port_arrival arrival;
};

static int
setup(void **state)
{
	static const struct wire_peer roster[] = { { .id = { 7, 1 },
	    .address = { .family = 4, .bytes = { 10, 0, 0, 1 } } } };
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL)
		return -1;
	fake_port_init_roce(&f->fake, PORT_FLOWS_LABEL);
	if (reflector_new(&f->fake.port, own, 0, &f->reflector) < 0)
		return -1;
	f->arrival = (struct port_arrival){ .from = roster[0].address,
		.data = f->data,
		.len = SIZE,
		.stamp_ns = 5 * RM_NS_PER_S,
		.qpn = 0x1234,
		.lid = 9,
		.sl = 3,
		.dscp = 18,
		.ecn = 2,
		.ttl = 61,
		.source = WIRE_STAMP_USER };
	return reflector_set_roster(f->reflector, roster, 1);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	reflector_free(f->reflector);
	free(f);
	return 0;
}

static void
write_probe(uint8_t data[SIZE], uint32_t seq)
{
	memset(data, 0, SIZE);
	roce_format.write_probe(&(struct probe_ask){ .seq = seq,
				    .timestamp = 77,
				    .error_estimate = STAMP_ERROR_ESTIMATE,
				    .ssid = 5,
				    .dscp = 26,
				    .tx_count = seq,
				    .label = 0x54321 },
	    SIZE, data);
}

static void
arrive(struct fixture *f, uint32_t seq)
{
	write_probe(f->data, seq);
	fake_port_deliver(&f->fake, PORT_REFLECTOR, &f->arrival);
}

static void
a_reply_goes_back_to_the_qp_with_the_label_and_class_of_its_probe(void **state)
{
	struct fixture *f = *state;
	const struct fake_sent *sent = &f->fake.sent[0];
	struct probe_reply reply;

	arrive(f, 1);
	assert_int_equal(f->fake.sent_count, 1);
	assert_int_equal(sent->qpn, 0x1234);
	assert_int_equal(sent->lid, 9);
	assert_int_equal(sent->sl, 3);
	assert_int_equal(sent->label, 0x54321);
	assert_int_equal(sent->dscp, 26);
	assert_int_equal(sent->len, SIZE);
	assert_int_equal(roce_format.read_reply(sent->data, SIZE, &reply), 0);
	assert_int_equal(reply.sender_seq, 1);
	assert_int_equal(reply.sender_ttl, 61);
	assert_int_equal(reply.dscp, 18);
	assert_int_equal(reply.rx_count, 1);
	assert_true(reply.receive_timestamp == stamp_time_write(5 * RM_NS_PER_S));
}

static void
the_next_reply_reports_when_this_one_left(void **state)
{
	struct fixture *f = *state;
	struct probe_reply reply;

	arrive(f, 1);
	fake_port_depart(&f->fake, PORT_REFLECTOR, 0, 6 * RM_NS_PER_S);
	arrive(f, 2);
	assert_int_equal(roce_format.read_reply(f->fake.sent[1].data, SIZE, &reply), 0);
	assert_true(reply.has_follow_up);
	assert_int_equal(reply.follow_up_seq, 1);
	assert_true(reply.follow_up_timestamp == stamp_time_write(6 * RM_NS_PER_S));
}

static void
replies_to_a_burst_each_carry_the_send_time_of_the_one_before(void **state)
{
	struct fixture *f = *state;
	const struct port_events *events = &f->fake.events[PORT_REFLECTOR];
	struct port_arrival arrivals[3] = { f->arrival, f->arrival, f->arrival };
	uint8_t data[3][SIZE];

	f->fake.stamp_ns = 6 * RM_NS_PER_S;
	for (uint32_t i = 0; i < 3; i++) {
		write_probe(data[i], i + 1);
		arrivals[i].data = data[i];
	}
	events->on_arrivals(arrivals, 3, events->arg);
	assert_int_equal(f->fake.sent_count, 3);
	assert_int_equal(reflector_counts(f->reflector)->replied, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct probe_reply reply;

		assert_int_equal(
		    roce_format.read_reply(f->fake.sent[i].data, SIZE, &reply), 0);
		assert_int_equal(reply.sender_seq, i + 1);
		assert_int_equal(reply.has_follow_up, i > 0);
		assert_int_equal(reply.follow_up_seq, i);
	}
}

static void
no_source_port_is_refused_where_there_are_none(void **state)
{
	static const uint16_t ports[] = { 0, 862, 1023, WIRE_ROCE_PORT,
		FAKE_PORT_REFLECTOR };
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 5; i++) {
		f->arrival.from.port = ports[i];
		arrive(f, i);
	}
	assert_int_equal(f->fake.sent_count, 5);
	assert_int_equal(reflector_counts(f->reflector)->refused_port, 0);
}

static void
a_reply_is_not_answered(void **state)
{
	struct fixture *f = *state;

	arrive(f, 1); /* answered in place: data contains the reply */
	fake_port_deliver(&f->fake, PORT_REFLECTOR, &f->arrival);
	assert_int_equal(f->fake.sent_count, 1);
	assert_int_equal(reflector_counts(f->reflector)->refused_malformed, 1);
}

static void
an_unknown_peer_is_not_answered(void **state)
{
	struct fixture *f = *state;

	f->arrival.from.bytes[3] = 2;
	arrive(f, 1);
	assert_int_equal(f->fake.sent_count, 0);
	assert_int_equal(reflector_counts(f->reflector)->refused_unknown, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_reply_goes_back_to_the_qp_with_the_label_and_class_of_its_probe),
		TEST(the_next_reply_reports_when_this_one_left),
		TEST(replies_to_a_burst_each_carry_the_send_time_of_the_one_before),
		TEST(no_source_port_is_refused_where_there_are_none),
		TEST(a_reply_is_not_answered),
		TEST(an_unknown_peer_is_not_answered),
	};

	return cmocka_run_group_tests_name("reflector_roce", tests, NULL, NULL);
}
