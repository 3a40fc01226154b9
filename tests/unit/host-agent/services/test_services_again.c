/* Missed events and changes of peers are found by repeated requests. */
#include "host-agent/services/services.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services_fixture.h"

static const struct services_options options = { .max_probed = 16,
	.interval_us = 500000,
	.turn_ns = 10 * RM_NS_PER_S,
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
receive(struct services *services, struct qp_event event, int64_t ms)
{
	assert_int_equal(services_event(services, &event, services_at(ms)), 0);
}

static void
list(struct services *services, struct qp_list_row *rows, size_t count, bool cut,
    int64_t asked_ms)
{
	struct qp_list_device device = { 1, "rxe1" };
	const struct qp_list of = { .devices = &device,
		.device_count = 1,
		.rows = rows,
		.row_count = count,
		.cut = cut };

	services_listed(
	    services, &of, services_at(asked_ms), services_at(asked_ms + 5));
}

/* The other end sends its own requests at other times; requests are kept for a
 * minute. */
static void
a_joined_peer_is_asked_for_by_its_address_from_then_on(void **state)
{
	struct services *services = *state;
	struct qp_list_row row = services_row(17, 30, 0);
	struct wire_rnic rnic = services_peer_rnic(9, "tor2");
	struct services_ask ask;

	list(services, &row, 1, false, 0);
	assert_int_equal(services_asks(services, services_at(10), &ask, 1), 1);
	assert_true(ask.join);
	services_answer(services, ask.token, &rnic, services_at(20));
	assert_int_equal(services_asks(services, services_at(100000), &ask, 1), 1);
	assert_false(ask.join);
	assert_memory_equal(ask.address.bytes, "\x0a\0\x01\x09", 4);
	/* A peer that is gone for good is requested by QP number again. */
	for (int64_t s = 100; s < 400; s += 100) {
		services_answer(services, ask.token, NULL, services_at(s * 1000));
		assert_int_equal(
		    services_asks(services, services_at(s * 1000 + 90000), &ask, 1), 1);
	}
	assert_true(ask.join);
}

static void
a_reused_qp_number_belongs_to_the_new_qp(void **state)
{
	struct services *services = *state;
	struct qp_list_row rows[2] = { services_row(17, 2017, 3),
		services_row(18, 2018, 3) };

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 100);
	/* Reported after the listing began. */
	receive(services, services_qp(1, 18, 2, 0xc001, 5), 300);
	list(services, rows, 2, false, 200);
	assert_int_equal(services_flow(services, 17).dst_qpn, 2017);
	assert_int_equal(services_flow(services, 17).peer.bytes[3], 3);
	assert_int_equal(services_flow(services, 18).dst_qpn, 1018);
	assert_int_equal(services_counts(services).qps, 2);
	assert_int_equal(services_counts(services).missed, 1);
}

/* The listing was read before the QP ended, and evaluated after it. */
static void
a_qp_that_ends_during_a_listing_causes_another_listing(void **state)
{
	struct services *services = *state;
	struct qp_list_device device = { 1, "rxe1" };
	struct qp_list_row row = services_row(17, 1017, 2);
	const struct qp_list of = {
		.devices = &device, .device_count = 1, .rows = &row, .row_count = 1
	};

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 100);
	receive(services, services_end(1, 17), 210);
	assert_true(services_listed(services, &of, services_at(200), services_at(220)));
	assert_false(
	    services_listed(services, &of, services_at(300), services_at(320)));
	receive(services, services_end(1, 99), 410); /* nothing was added in between */
	assert_false(
	    services_listed(services, &of, services_at(400), services_at(420)));
}

static void
a_command_with_unprintable_bytes_is_cleaned_at_once(void **state)
{
	struct services *services = *state;
	struct qp_event event = services_qp(1, 17, 2, 0xc001, 5);

	strcpy(event.comm, "a\x1b[2J\xff\n\"b");
	receive(services, event, 0);
	assert_string_equal(services_flow(services, 17).comm, "a?[2J??\"b");
	assert_string_equal(services_flow(services, 17).service, "comm:a?[2J??\"b");
}

/* The peer's agent may have restarted: its probe QP then has another number. */
static void
a_peer_whose_probes_are_lost_is_asked_for_soon_but_not_again_and_again(void **state)
{
	const struct wire_rnic_id peer = { PEER_GUID + 2, 1 };
	struct wire_rnic rnic = services_peer_rnic(2, "tor2");
	struct services *services = *state;
	struct services_ask ask;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(1, 18, 3, 0xc001, 5), 0);
	services_answer_all(services, services_at(0));
	services_lost(services, peer, services_at(2000));
	assert_int_equal(services_asks(services, services_at(2000), &ask, 1), 0);
	assert_int_equal(services_asks(services, services_at(10000), &ask, 1), 1);
	assert_int_equal(ask.address.bytes[3], 2);
	services_answer(services, ask.token, &rnic, services_at(10000));
	services_lost(services, peer, services_at(19000));
	services_lost(services, (struct wire_rnic_id){ 1, 1 }, services_at(19100));
	assert_int_equal(services_asks(services, services_at(19999), &ask, 1), 0);
	assert_int_equal(services_asks(services, services_at(20000), &ask, 1), 1);
}

/* A program on the host must not be able to prevent the agent's reports. */
static void
numbers_of_more_than_24_bits_are_reported_as_they_are_sent(void **state)
{
	struct services *services = *state;
	struct qp_event event = services_qp(1, 17, 2, 0xc001, 5);
	struct qp_list_row row = services_row(18, 0xffffffff, 0);
	struct wire_writer *writer = wire_writer_new();
	struct wire_service_flow flows[2];
	struct wire_services report = { .host = "h1",
		.incarnation = 1,
		.now_ns = 1,
		.missing = "",
		.flows = flows };
	struct wire_bytes bytes;

	event.dest_qpn = 0xff001017;
	receive(services, event, 0);
	list(services, &row, 1, true, 0);
	assert_int_equal(services_flow(services, 17).dst_qpn, 0x1017);
	assert_int_equal(services_flow(services, 18).dst_qpn, 0xffffff);
	assert_int_equal(services_flows(services, flows, 2), 2);
	for (size_t i = 0; i < 2; i++) /* flows with unknown peers are only counted */
		if (services_is_reported(&flows[i]))
			flows[report.flow_count++] = flows[i];
	assert_int_equal(report.flow_count, 1);
	assert_int_equal(wire_write_services(writer, &report, &bytes), 0);
	wire_writer_free(writer);
}

static void
a_qp_that_gets_another_port_of_its_device_leaves_the_first(void **state)
{
	struct services *services = *state;
	const struct services_rnic second = {
		.id = { OWN_GUID + 1, 2 }, .device = "rxe1", .port = 2, .verbs = true
	};
	struct qp_event event = services_qp(1, 17, 2, 0xc001, 5);

	services_set_rnic(services, 2, &second);
	receive(services, event, 0);
	event.port = 2;
	receive(services, event, 10);
	assert_int_equal(services_counts(services).qps, 1);
	assert_int_equal(services_flow(services, 17).src.port, 2);
	receive(services, services_end(1, 17), 20);
	assert_int_equal(services_counts(services).qps, 0);
	assert_int_equal(services_counts(services).destroyed, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_joined_peer_is_asked_for_by_its_address_from_then_on),
		TEST(a_reused_qp_number_belongs_to_the_new_qp),
		TEST(a_qp_that_ends_during_a_listing_causes_another_listing),
		TEST(
		    a_peer_whose_probes_are_lost_is_asked_for_soon_but_not_again_and_again),
		TEST(numbers_of_more_than_24_bits_are_reported_as_they_are_sent),
		TEST(a_qp_that_gets_another_port_of_its_device_leaves_the_first),
		TEST(a_command_with_unprintable_bytes_is_cleaned_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
