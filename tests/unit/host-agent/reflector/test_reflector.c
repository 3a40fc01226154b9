#include "host-agent/reflector/reflector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "tests/support/fake_port.h"

#define PROBER_PORT 40001

static const struct wire_rnic_id own = { 2, 1 };
static const struct wire_rnic_id known = { 7, 1 };

static const struct wire_address roster_address = {
	.family = 4, .bytes = { 10, 0, 0, 1 }, .port = PROBER_PORT
};
static const struct wire_address unknown = {
	.family = 4, .bytes = { 10, 0, 0, 2 }, .port = PROBER_PORT
};

struct fixture {
	struct fake_port fake;
	struct reflector *reflector;
	uint8_t data[STAMP_MAX_BYTES];
	size_t len;
};

static void
set_roster(struct fixture *fixture)
{
	struct wire_peer roster[] = {
		{ .id = { 9, 1 }, .address = { .family = 6, .bytes = { 0xfd } } },
		{ .id = known, .address = roster_address },
	};

	assert_int_equal(reflector_set_roster(fixture->reflector, roster, 2), 0);
}

static int
setup_sessions(void **state, size_t max_sessions)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (fixture == NULL)
		return -1;
	fake_port_init(&fixture->fake);
	if (reflector_new(&fixture->fake.port, own, max_sessions, &fixture->reflector) <
	    0)
		return -1;
	set_roster(fixture);
	return 0;
}

static int
setup(void **state)
{
	return setup_sessions(state, 0);
}

static int
setup_two_sessions(void **state)
{
	return setup_sessions(state, 2);
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	reflector_free(fixture->reflector);
	free(fixture);
	return 0;
}

static const struct reflector_counts *
counts(const struct fixture *fixture)
{
	return reflector_counts(fixture->reflector);
}

static void
build(struct fixture *fixture, uint16_t ssid, uint32_t seq, uint8_t dscp, size_t size)
{
	struct probe_ask probe = { .seq = seq,
		.timestamp = stamp_time_write(INT64_C(1700000000000000000)),
		.error_estimate = STAMP_ERROR_ESTIMATE,
		.ssid = ssid,
		.dscp = dscp,
		.tx_count = seq };

	fixture->len = stamp_format.size(size);
	memset(fixture->data, 0, sizeof(fixture->data));
	stamp_format.write_probe(&probe, fixture->len, fixture->data);
}

static void
arrive(struct fixture *fixture, const struct wire_address *from)
{
	fake_port_arrive(
	    &fixture->fake, PORT_REFLECTOR, from, fixture->data, fixture->len, 26);
}

/* Sends one probe and returns its reply. */
static struct probe_reply
ask(struct fixture *fixture, uint16_t ssid, uint32_t seq, uint8_t dscp)
{
	struct probe_reply reply = { 0 };
	size_t before = fixture->fake.sent_count;
	const struct fake_sent *sent = &fixture->fake.sent[before % FAKE_PORT_KEPT];

	build(fixture, ssid, seq, dscp, 88);
	arrive(fixture, &roster_address);
	assert_int_equal(fixture->fake.sent_count, before + 1);
	assert_int_equal(sent->len, 88);
	assert_int_equal(stamp_format.read_reply(sent->data, sent->len, &reply), 0);
	return reply;
}

static void
a_reply_is_as_long_as_its_probe_and_in_its_class(void **state)
{
	static const size_t sizes[] = { 88, 92, 512, 9000 };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4; i++) {
		build(fixture, 5, (uint32_t)i, 18, sizes[i]);
		arrive(fixture, &roster_address);
		assert_int_equal(fixture->fake.sent[i].len, sizes[i]);
		assert_int_equal(fixture->fake.sent[i].dscp, 18);
		assert_int_equal(fixture->fake.sent[i].to.port, PROBER_PORT);
	}
	assert_int_equal(counts(fixture)->replied, 4);
}

static void
a_plain_probe_is_answered_in_the_class_it_arrived_in(void **state)
{
	struct fixture *fixture = *state;

	build(fixture, 0, 1, 18, 88);
	fixture->len = STAMP_BASE_BYTES;
	arrive(fixture, &roster_address);
	assert_int_equal(fixture->fake.sent_count, 1);
	assert_int_equal(fixture->fake.sent[0].len, STAMP_BASE_BYTES);
	assert_int_equal(fixture->fake.sent[0].dscp, 26);
}

static void
unknown_peers_are_refused(void **state)
{
	struct fixture *fixture = *state;

	build(fixture, 5, 1, 0, 88);
	arrive(fixture, &unknown);
	fixture->len = 3;
	arrive(fixture, &unknown);
	assert_int_equal(fixture->fake.sent_count, 0);
	assert_int_equal(counts(fixture)->refused_unknown, 2);
	assert_int_equal(counts(fixture)->received, 2);
}

static void
reflectors_and_privileged_ports_are_refused(void **state)
{
	static const uint16_t ports[] = { 0, 53, STAMP_PORT, 1023,
		FAKE_PORT_REFLECTOR };
	struct fixture *fixture = *state;
	struct wire_address from = roster_address;

	for (size_t i = 0; i < 5; i++) {
		build(fixture, 5, 1, 0, 88);
		from.port = ports[i];
		arrive(fixture, &from);
	}
	assert_int_equal(fixture->fake.sent_count, 0);
	assert_int_equal(counts(fixture)->refused_port, 5);
}

static void
short_packets_and_overlong_tlvs_are_refused(void **state)
{
	struct fixture *fixture = *state;

	build(fixture, 5, 1, 0, 88);
	fixture->len = 43;
	arrive(fixture, &roster_address);
	fixture->len = 0;
	arrive(fixture, &roster_address);
	build(fixture, 5, 1, 0, 200);
	fixture->data[90] = 0xff;
	arrive(fixture, &roster_address);
	assert_int_equal(fixture->fake.sent_count, 0);
	assert_int_equal(counts(fixture)->refused_malformed, 3);
}

static void
the_next_reply_carries_when_the_last_one_left(void **state)
{
	struct fixture *fixture = *state;
	int64_t left = INT64_C(1700000000123456789), reported;
	struct probe_reply reply;

	assert_false(ask(fixture, 5, 1, 0).has_follow_up);
	fake_port_depart(&fixture->fake, PORT_REFLECTOR, 0, left);
	assert_false(ask(fixture, 6, 9, 0).has_follow_up); /* another session */
	reply = ask(fixture, 5, 2, 0);
	assert_true(reply.has_follow_up);
	assert_int_equal(reply.follow_up_seq, 1);
	assert_int_equal(
	    stamp_time_read(reply.follow_up_timestamp, true, &reported), 0);
	assert_true(reported == left);
	assert_false(ask(fixture, 5, 3, 0).has_follow_up); /* counted once */
}

static void
every_reply_of_a_burst_is_followed_up_newest_first(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t seq = 0; seq < 3; seq++)
		ask(fixture, 5, seq, 0);
	for (size_t i = 0; i < 3; i++)
		fake_port_depart(&fixture->fake, PORT_REFLECTOR, i, 1000);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ask(fixture, 5, 10, 0).follow_up_seq, 2 - i);
}

/* T3 and T4 must belong to the same reply: the prober uses the first one. */
static void
a_probe_that_arrives_twice_is_followed_up_once(void **state)
{
	struct fixture *fixture = *state;

	ask(fixture, 5, 1, 0);
	ask(fixture, 5, 1, 0);
	fake_port_depart(&fixture->fake, PORT_REFLECTOR, 0, 1000);
	fake_port_depart(&fixture->fake, PORT_REFLECTOR, 1, 2000);
	assert_int_equal(
	    ask(fixture, 5, 2, 0).follow_up_timestamp, stamp_time_write(1000));
	assert_false(ask(fixture, 5, 3, 0).has_follow_up);
}

/* Two reflectors never answer each other, whatever ports they use. */
static void
a_reply_is_not_answered(void **state)
{
	struct fixture *fixture = *state;
	struct probe_ask probe = { 0 };
	struct probe_answer answer = { .receive_timestamp = 1, .timestamp = 2 };

	build(fixture, 5, 1, 0, 88);
	stamp_format.write_reply(fixture->data, fixture->len, &probe, &answer);
	arrive(fixture, &roster_address);
	assert_int_equal(fixture->fake.sent_count, 0);
	assert_int_equal(counts(fixture)->refused_malformed, 1);
}

static void
probes_are_counted_by_prober_session_and_class(void **state)
{
	struct fixture *fixture = *state;
	struct wire_count rows[4];

	assert_int_equal(ask(fixture, 5, 1, 0).rx_count, 1);
	assert_int_equal(ask(fixture, 5, 2, 26).rx_count, 1);
	assert_int_equal(ask(fixture, 5, 3, 26).rx_count, 2);
	/* The prober has restarted. */
	assert_int_equal(ask(fixture, 6, 4, 26).rx_count, 1);

	assert_int_equal(reflector_changed_counts(fixture->reflector, rows, 1), 1);
	assert_int_equal(rows[0].dscp, 0);
	assert_int_equal(rows[0].received, 1);
	assert_int_equal(reflector_changed_counts(fixture->reflector, rows, 4), 1);
	assert_int_equal(rows[0].dscp, 26);
	assert_int_equal(rows[0].received, 3);
	assert_int_equal(rows[0].own_guid, own.guid);
	assert_int_equal(rows[0].prober_guid, known.guid);
	assert_int_equal(reflector_changed_counts(fixture->reflector, rows, 4), 0);
	reflector_report_all(fixture->reflector);
	assert_int_equal(reflector_changed_counts(fixture->reflector, rows, 4), 2);
}

static void
a_full_table_refuses_new_sessions_instead_of_dropping_busy_ones(void **state)
{
	struct fixture *fixture = *state;

	ask(fixture, 1, 1, 0);
	ask(fixture, 2, 1, 0);
	build(fixture, 3, 1, 0, 88);
	arrive(fixture, &roster_address);
	assert_int_equal(counts(fixture)->refused_full, 1);
	assert_int_equal(ask(fixture, 1, 2, 0).rx_count, 2);
}

static void
a_peer_that_left_the_roster_is_unknown(void **state)
{
	struct fixture *fixture = *state;

	ask(fixture, 5, 1, 0);
	assert_int_equal(reflector_set_roster(fixture->reflector, NULL, 0), 0);
	fake_port_depart(&fixture->fake, PORT_REFLECTOR, 0, 1000);
	build(fixture, 5, 2, 0, 88);
	arrive(fixture, &roster_address);
	assert_int_equal(counts(fixture)->refused_unknown, 1);
	set_roster(fixture);
	assert_int_equal(ask(fixture, 5, 3, 0).rx_count, 1);
	assert_false(ask(fixture, 5, 4, 0).has_follow_up);
}

static void
a_reply_that_cannot_be_sent_is_reported(void **state)
{
	struct fixture *fixture = *state;

	fixture->fake.error = -EPERM;
	build(fixture, 5, 1, 0, 88);
	arrive(fixture, &roster_address);
	assert_int_equal(counts(fixture)->send_failed, 1);
	assert_int_equal(counts(fixture)->replied, 0);
	fixture->fake.error = 0;
	assert_int_equal(ask(fixture, 5, 2, 0).reflector_tx_count, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_reply_is_as_long_as_its_probe_and_in_its_class),
		TEST(a_plain_probe_is_answered_in_the_class_it_arrived_in),
		TEST(unknown_peers_are_refused),
		TEST(reflectors_and_privileged_ports_are_refused),
		TEST(short_packets_and_overlong_tlvs_are_refused),
		TEST(the_next_reply_carries_when_the_last_one_left),
		TEST(every_reply_of_a_burst_is_followed_up_newest_first),
		TEST(a_probe_that_arrives_twice_is_followed_up_once),
		TEST(a_reply_is_not_answered),
		TEST(probes_are_counted_by_prober_session_and_class),
		cmocka_unit_test_setup_teardown(
		    a_full_table_refuses_new_sessions_instead_of_dropping_busy_ones,
		    setup_two_sessions, teardown),
		TEST(a_peer_that_left_the_roster_is_unknown),
		TEST(a_reply_that_cannot_be_sent_is_reported),
	};

	return cmocka_run_group_tests_name("reflector", tests, NULL, NULL);
}
