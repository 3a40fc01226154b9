#include "host-agent/probe/target_filter.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct wire_address
address(const char *text)
{
	struct wire_address ret = { .port = 862,
		.family = strchr(text, ':') != NULL ? 6 : 4 };

	assert_int_equal(
	    inet_pton(ret.family == 6 ? AF_INET6 : AF_INET, text, ret.bytes), 1);
	return ret;
}

static enum target_refusal
check(const char *text, const char *own, uint8_t prefix_bits)
{
	struct own_rnic own_rnic = { .id = { 7, 1 } };
	struct wire_address to = address(text);

	if (own != NULL) {
		own_rnic.addresses[1] = address(own);
		own_rnic.prefix_bits[1] = prefix_bits;
	}
	return target_address_check(&to, &own_rnic);
}

static void
a_host_of_the_fabric_is_fine(void **state)
{
	static const char *const fine[] = { "10.1.0.8", "192.0.2.1", "172.31.255.254",
		"223.255.255.254", "fd00::1", "2001:db8::2", "1.0.0.1" };

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		assert_int_equal(check(fine[i], "10.1.0.7", 24), TARGET_FINE);
		assert_int_equal(check(fine[i], "fd00::7", 64), TARGET_FINE);
	}
}

static void
addresses_that_are_no_host_are_always_refused(void **state)
{
	static const struct {
		const char *text;
		enum target_refusal refusal;
	} cases[] = {
		{ "0.0.0.0", TARGET_UNSPECIFIED },
		{ "0.1.2.3", TARGET_UNSPECIFIED },
		{ "::", TARGET_UNSPECIFIED },
		{ "224.0.0.1", TARGET_MULTICAST },
		{ "239.255.255.255", TARGET_MULTICAST },
		{ "240.0.0.1", TARGET_MULTICAST },
		{ "255.255.255.254", TARGET_MULTICAST },
		{ "ff02::1", TARGET_MULTICAST },
		{ "255.255.255.255", TARGET_BROADCAST },
		{ "::ffff:224.0.0.1", TARGET_MULTICAST },
		{ "::ffff:255.255.255.255", TARGET_BROADCAST },
		{ "::ffff:0.0.0.0", TARGET_UNSPECIFIED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(check(cases[i].text, NULL, 0), cases[i].refusal);
		assert_int_equal(
		    check(cases[i].text, "10.1.0.7", 24), cases[i].refusal);
		assert_int_equal(
		    check(cases[i].text, "127.0.0.1", 8), cases[i].refusal);
	}
}

static void
loopback_and_link_local_targets_need_such_an_rnic(void **state)
{
	assert_int_equal(check("127.0.0.1", "10.1.0.7", 24), TARGET_LOOPBACK);
	assert_int_equal(check("127.8.0.1", "fd00::7", 64), TARGET_LOOPBACK);
	assert_int_equal(check("::1", "10.1.0.7", 24), TARGET_LOOPBACK);
	assert_int_equal(check("::ffff:127.0.0.1", "10.1.0.7", 24), TARGET_LOOPBACK);
	assert_int_equal(check("169.254.1.1", "10.1.0.7", 24), TARGET_LINK_LOCAL);
	assert_int_equal(check("fe80::1", "fd00::7", 64), TARGET_LINK_LOCAL);
	assert_int_equal(check("febf::1", "fd00::7", 64), TARGET_LINK_LOCAL);

	assert_int_equal(check("127.0.0.2", "127.0.0.1", 8), TARGET_FINE);
	assert_int_equal(check("169.254.1.1", "169.254.1.2", 16), TARGET_FINE);
	assert_int_equal(check("fe80::1", "fe80::2", 64), TARGET_FINE);
	/* Loopback and link-local addresses are different scopes. */
	assert_int_equal(check("127.0.0.2", "169.254.1.2", 16), TARGET_LOOPBACK);
}

static void
the_rnics_own_address_is_refused(void **state)
{
	assert_int_equal(check("10.1.0.7", "10.1.0.7", 24), TARGET_SELF);
	assert_int_equal(check("fd00::7", "fd00::7", 64), TARGET_SELF);
	assert_int_equal(check("::ffff:10.1.0.7", "10.1.0.7", 24), TARGET_SELF);
}

static void
the_broadcast_address_of_the_rnics_subnet_is_refused(void **state)
{
	assert_int_equal(check("10.1.0.255", "10.1.0.7", 24), TARGET_BROADCAST);
	assert_int_equal(check("10.1.0.0", "10.1.0.7", 24), TARGET_BROADCAST);
	assert_int_equal(check("10.1.3.255", "10.1.0.7", 22), TARGET_BROADCAST);
	assert_int_equal(check("10.255.255.255", "10.1.0.7", 8), TARGET_BROADCAST);
	/* In another subnet the same address may belong to a host. */
	assert_int_equal(check("10.1.0.255", "10.1.0.7", 22), TARGET_FINE);
	assert_int_equal(check("10.2.0.255", "10.1.0.7", 24), TARGET_FINE);
	/* A point-to-point link has no broadcast address. */
	assert_int_equal(check("10.1.0.6", "10.1.0.7", 31), TARGET_FINE);
	assert_int_equal(check("10.1.0.255", "10.1.0.7", 32), TARGET_FINE);
	assert_int_equal(check("10.1.0.255", "10.1.0.7", 0), TARGET_FINE);
}

static void
every_refusal_has_a_unique_name(void **state)
{
	for (int i = 0; i < TARGET_REFUSALS; i++) {
		assert_non_null(target_refusal_str((enum target_refusal)i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(
			    target_refusal_str((enum target_refusal)i),
			    target_refusal_str((enum target_refusal)k));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_of_the_fabric_is_fine),
		cmocka_unit_test(addresses_that_are_no_host_are_always_refused),
		cmocka_unit_test(loopback_and_link_local_targets_need_such_an_rnic),
		cmocka_unit_test(the_rnics_own_address_is_refused),
		cmocka_unit_test(the_broadcast_address_of_the_rnics_subnet_is_refused),
		cmocka_unit_test(every_refusal_has_a_unique_name),
	};

	return cmocka_run_group_tests_name("target_rules", tests, NULL, NULL);
}
