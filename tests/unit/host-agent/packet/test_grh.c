#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "host-agent/packet/grh.h"

/* 10.1.0.2 -> 10.2.0.3, DSCP 26, ECN 1, TTL 61, UDP, with the right checksum. */
static const uint8_t ipv4[20] = { 0x45, 0x69, 0x00, 0x5c, 0x12, 0x34, 0x40, 0x00, 61,
	17, 0x16, 0xed, 10, 1, 0, 2, 10, 2, 0, 3 };

/* fd00::2 -> fd00::3, class 0x69, label 0xabcde, hop limit 62. */
static const uint8_t ipv6[40] = { 0x66, 0x9a, 0xbc, 0xde, 0x00, 0x48, 17, 62,
	0xfd, [23] = 2, [24] = 0xfd, [39] = 3 };

static void
with_ipv4(uint8_t first, uint8_t bytes[GRH_BYTES])
{
	memset(bytes, first, 20);
	memcpy(bytes + 20, ipv4, 20);
}

static void
check_ipv4(const uint8_t bytes[GRH_BYTES])
{
	struct grh grh;

	assert_int_equal(grh_parse(bytes, GRH_BYTES, &grh), 0);
	assert_int_equal(grh.src.family, 4);
	assert_int_equal(grh.dst.family, 4);
	assert_memory_equal(grh.src.bytes, "\x0a\x01\x00\x02\0\0\0\0", 8);
	assert_memory_equal(grh.dst.bytes, "\x0a\x02\x00\x03\0\0\0\0", 8);
	assert_int_equal(grh.src.port, 0);
	assert_int_equal(grh.dscp, 26);
	assert_int_equal(grh.ecn, 1);
	assert_int_equal(grh.ttl, 61);
	assert_int_equal(grh.flow_label, 0);
}

static void
an_ipv4_header_is_found_whatever_is_in_front_of_it(void **state)
{
	uint8_t bytes[GRH_BYTES];

	for (unsigned first = 0; first < 256; first++) {
		with_ipv4((uint8_t)first, bytes);
		check_ipv4(bytes);
	}
	memcpy(bytes, ipv6, 20); /* remainders that look like an IPv6 header */
	check_ipv4(bytes);
}

static void
an_ipv6_header_reports_its_label_too(void **state)
{
	struct grh grh;

	assert_int_equal(grh_parse(ipv6, sizeof(ipv6), &grh), 0);
	assert_int_equal(grh.src.family, 6);
	assert_memory_equal(grh.src.bytes, ipv6 + 8, 16);
	assert_memory_equal(grh.dst.bytes, ipv6 + 24, 16);
	assert_int_equal(grh.dscp, 26);
	assert_int_equal(grh.ecn, 1);
	assert_int_equal(grh.ttl, 62);
	assert_int_equal(grh.flow_label, 0xabcde);
}

static void
an_ipv6_address_that_looks_like_an_ipv4_header_does_not_mislead(void **state)
{
	uint8_t bytes[GRH_BYTES];
	struct grh grh;

	/* The second half of the source looks like an IPv4 header: 0x45.., protocol
	 * 17. */
	memcpy(bytes, ipv6, sizeof(bytes));
	bytes[20] = 0x45;
	bytes[29] = 17;
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), 0);
	assert_int_equal(grh.src.family, 6);
	assert_memory_equal(grh.src.bytes, bytes + 8, 16);
}

static void
a_checksum_that_was_never_set_is_no_reason_to_refuse(void **state)
{
	uint8_t bytes[GRH_BYTES];
	struct grh grh;

	with_ipv4(0, bytes);
	bytes[30] = bytes[31] = 0;
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), 0);
	assert_int_equal(grh.src.family, 4);
}

static void
a_label_does_not_come_from_the_undefined_bytes(void **state)
{
	uint8_t bytes[GRH_BYTES];
	struct grh grh;

	with_ipv4(0x66, bytes);
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), 0);
	assert_int_equal(grh.flow_label, 0);
}

static void
ipv4_addresses_in_a_grh_are_ipv4_addresses(void **state)
{
	uint8_t bytes[GRH_BYTES];
	struct grh grh;

	memcpy(bytes, ipv6, 8);
	assert_int_equal(inet_pton(AF_INET6, "::ffff:10.1.0.2", bytes + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, "::ffff:10.2.0.3", bytes + 24), 1);
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), 0);
	assert_int_equal(grh.src.family, 4);
	assert_memory_equal(grh.dst.bytes, "\x0a\x02\x00\x03", 4);

	/* An IPv4-mapped source with an IPv6 destination is impossible. */
	assert_int_equal(inet_pton(AF_INET6, "fd00::3", bytes + 24), 1);
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);
}

static void
a_header_of_neither_layout_is_refused(void **state)
{
	uint8_t bytes[GRH_BYTES] = { 0 };
	struct grh grh = { .ttl = 77 };

	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);

	with_ipv4(0, bytes);
	assert_int_equal(grh_parse(bytes, GRH_BYTES - 1, &grh), -EBADMSG);
	bytes[20] = 0x46; /* IPv4 options: not RoCE */
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);
	with_ipv4(0, bytes);
	bytes[29] = 6; /* TCP */
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);

	memcpy(bytes, ipv6, sizeof(bytes));
	memset(bytes + 8, 0, 16); /* an all-zero address */
	assert_int_equal(grh_parse(bytes, sizeof(bytes), &grh), -EBADMSG);
	assert_int_equal(grh.ttl, 77); /* the output is unchanged */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ipv4_header_is_found_whatever_is_in_front_of_it),
		cmocka_unit_test(an_ipv6_header_reports_its_label_too),
		cmocka_unit_test(
		    an_ipv6_address_that_looks_like_an_ipv4_header_does_not_mislead),
		cmocka_unit_test(a_checksum_that_was_never_set_is_no_reason_to_refuse),
		cmocka_unit_test(a_label_does_not_come_from_the_undefined_bytes),
		cmocka_unit_test(ipv4_addresses_in_a_grh_are_ipv4_addresses),
		cmocka_unit_test(a_header_of_neither_layout_is_refused),
	};

	return cmocka_run_group_tests_name("grh", tests, NULL, NULL);
}
