#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "host-agent/packet/gid.h"

static bool
is_global(const char *text)
{
	uint8_t gid[GID_BYTES];

	assert_int_equal(inet_pton(AF_INET6, text, gid), 1);
	return gid_is_global(gid);
}

static void
check_same(const struct wire_address *a, const struct wire_address *b)
{
	assert_int_equal(a->family, b->family);
	assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
	assert_int_equal(a->port, b->port);
}

static void
an_ipv4_address_is_kept_through_a_gid(void **state)
{
	const struct wire_address address = { 4, { 10, 9, 0, 1 }, 0 };
	struct wire_address back;
	uint8_t gid[GID_BYTES];

	assert_int_equal(gid_from_address(&address, gid), 0);
	assert_memory_equal(gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\x00\x01", 16);
	gid_to_address(gid, &back);
	check_same(&back, &address);
}

static void
an_ipv6_address_is_its_gid(void **state)
{
	const struct wire_address address = { 6, { 0xfd, [15] = 7 }, 0 };
	struct wire_address back;
	uint8_t gid[GID_BYTES];

	assert_int_equal(gid_from_address(&address, gid), 0);
	assert_memory_equal(gid, address.bytes, 16);
	gid_to_address(gid, &back);
	check_same(&back, &address);
}

static void
an_address_without_family_gives_no_gid(void **state)
{
	const struct wire_address address = { 0 };
	uint8_t gid[GID_BYTES];

	assert_int_equal(gid_from_address(&address, gid), -EAFNOSUPPORT);
}

static void
only_what_can_be_reached_from_beyond_the_link_is_global(void **state)
{
	assert_true(is_global("::ffff:10.0.0.1"));
	assert_true(is_global("fd00::1"));
	assert_true(is_global("2001:db8::1"));
	assert_true(is_global("fec0::1")); /* fec0:: is site-local, not link-local */
	assert_false(is_global("fe80::1"));
	assert_false(is_global("febf::1"));
	assert_false(is_global("ff02::1"));
	assert_false(is_global("::1"));
	assert_false(is_global("::"));
	assert_false(is_global("::ffff:169.254.1.1"));
	assert_false(is_global("::ffff:127.0.0.1"));
	assert_false(is_global("::ffff:224.0.0.1"));
	assert_false(is_global("::ffff:0.0.0.0"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ipv4_address_is_kept_through_a_gid),
		cmocka_unit_test(an_ipv6_address_is_its_gid),
		cmocka_unit_test(an_address_without_family_gives_no_gid),
		cmocka_unit_test(
		    only_what_can_be_reached_from_beyond_the_link_is_global),
	};

	return cmocka_run_group_tests_name("gid", tests, NULL, NULL);
}
