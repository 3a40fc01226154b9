#include "host-agent/udp/port_udp_stamps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t
key(uint32_t n)
{
	uint8_t payload[PORT_UDP_KEY_BYTES] = { 0 };

	memcpy(payload, &n, sizeof(n));
	return port_udp_stamps_key(payload, sizeof(payload));
}

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct port_udp_stamps));
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

static void
stamps_in_any_order_find_their_packets(void **state)
{
	struct port_udp_stamps *stamps = *state;
	uint64_t token;

	for (uint32_t n = 0; n < 4; n++)
		assert_false(port_udp_stamps_add(stamps, key(n), 100 + n));
	for (uint32_t n = 4; n-- > 0;) {
		assert_int_equal(
		    port_udp_stamps_match(stamps, n, key(n), &token), PORT_UDP_MATCHED);
		assert_int_equal(token, 100 + n);
		assert_false(port_udp_stamps_waiting(stamps));
	}
	assert_int_equal(
	    port_udp_stamps_match(stamps, 2, key(2), &token), PORT_UDP_UNMATCHED);
}

static void
a_failed_send_that_used_a_number_shifts_nothing(void **state)
{
	struct port_udp_stamps *stamps = *state;
	uint64_t token;

	port_udp_stamps_add(stamps, key(0), 100);
	/* sends 1 and 2 of the kernel's numbers have failed */
	port_udp_stamps_add(stamps, key(1), 101);
	port_udp_stamps_add(stamps, key(2), 102);
	assert_int_equal(
	    port_udp_stamps_match(stamps, 0, key(0), &token), PORT_UDP_MATCHED);
	assert_int_equal(
	    port_udp_stamps_match(stamps, 3, key(1), &token), PORT_UDP_RESYNCED);
	assert_int_equal(token, 101);
	assert_int_equal(
	    port_udp_stamps_match(stamps, 4, key(2), &token), PORT_UDP_MATCHED);
	assert_int_equal(token, 102);
}

static void
a_matching_number_alone_is_not_enough(void **state)
{
	struct port_udp_stamps *stamps = *state;
	uint64_t token;

	port_udp_stamps_add(stamps, key(0), 100);
	assert_int_equal(
	    port_udp_stamps_match(stamps, 0, key(77), &token), PORT_UDP_UNMATCHED);
	assert_int_equal(
	    port_udp_stamps_match(stamps, 0, 0, &token), PORT_UDP_UNMATCHED);
	assert_true(port_udp_stamps_waiting(stamps));
}

static void
a_packet_without_a_stamp_is_pushed_out_and_reported(void **state)
{
	struct port_udp_stamps *stamps = *state;
	uint64_t token;
	uint32_t n;

	for (n = 0; n < PORT_UDP_STAMPS; n++)
		assert_false(port_udp_stamps_add(stamps, key(n), n));
	assert_true(port_udp_stamps_add(stamps, key(n), n));
	assert_int_equal(
	    port_udp_stamps_match(stamps, 0, key(0), &token), PORT_UDP_UNMATCHED);
	assert_int_equal(
	    port_udp_stamps_match(stamps, n, key(n), &token), PORT_UDP_MATCHED);
}

static void
the_payload_is_found_behind_any_link_header(void **state)
{
	static const size_t links[] = { 0, 4, 14, 18, 22, 44 };
	uint8_t packet[160];

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		uint8_t *ip = packet + links[i];

		memset(packet, 0xee, sizeof(packet));
		ip[0] = 0x45;
		ip[9] = 17;
		ip[20] = 0xc0;
		ip[21] = 0x01;
		assert_int_equal(
		    port_udp_stamps_payload(packet, 160, 4, 0xc001), links[i] + 28);
		assert_int_equal(port_udp_stamps_payload(packet, 160, 4, 0xc002), 0);
		ip[0] = 0x60;
		ip[6] = 17;
		ip[40] = 0xc0;
		ip[41] = 0x01;
		assert_int_equal(
		    port_udp_stamps_payload(packet, 160, 6, 0xc001), links[i] + 48);
		assert_int_equal(
		    port_udp_stamps_payload(packet, links[i] + 47, 6, 0xc001), 0);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stamps_in_any_order_find_their_packets),
		TEST(a_failed_send_that_used_a_number_shifts_nothing),
		TEST(a_matching_number_alone_is_not_enough),
		TEST(a_packet_without_a_stamp_is_pushed_out_and_reported),
		TEST(the_payload_is_found_behind_any_link_header),
	};

	return cmocka_run_group_tests_name("port_udp_stamps", tests, NULL, NULL);
}
