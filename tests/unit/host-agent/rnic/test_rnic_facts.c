/* Runs in a new network namespace. Needs root; skipped (exit 77) without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/rnic/rnic_facts.h"

#define MAC 0x020000000007

static int
setup(void **state)
{
	return system("ip link add r0 address 02:00:00:00:00:07 mtu 4200 type veth "
		      "peer name r1 && ip link set r0 up && ip link set r1 up");
}

static int
teardown(void **state)
{
	return system("ip link del r0 2>/dev/null || true");
}

static void
run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static void
the_guid_and_the_place_of_a_device_are_read(void **state)
{
	struct rnic_facts facts;

	run("ip addr add 10.9.0.1/24 dev r0 && "
	    "ip addr add fd00:9::1/64 dev r0 nodad");
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &facts), 0);
	assert_int_equal(facts.id.guid, MAC);
	assert_int_equal(facts.id.port, 0);
	assert_int_equal(facts.mtu_bytes, 4200);
	assert_string_equal(facts.driver, "veth");
	assert_int_equal(facts.address_count, 2);
	assert_int_equal(facts.addresses[0].family, 4);
	assert_memory_equal(facts.addresses[0].bytes, "\x0a\x09\x00\x01", 4);
	assert_int_equal(facts.addresses[1].family, 6);
	assert_int_equal(facts.addresses[1].bytes[15], 1);
}

static void
a_missing_device_or_address_is_reported(void **state)
{
	struct rnic_facts facts;

	run("true");
	assert_int_equal(rnic_facts_read(NULL, "r9", NULL, &facts), -ENODEV);
	/* A link-local address alone, which is all that it has so far, is not
	 * enough. */
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &facts), -EADDRNOTAVAIL);
	assert_int_equal(rnic_facts_read(NULL, "lo", NULL, &facts), -ENXIO);
	assert_int_equal(rnic_facts_read("no-such-netns", "r0", NULL, &facts), -ENOENT);
}

static void
an_ipv6_address_still_being_checked_is_not_used(void **state)
{
	struct rnic_facts facts;

	/* While its peer is down the duplicate address detection cannot begin. */
	run("ip link set r1 down && ip addr add fd00:9::2/64 dev r0");
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &facts), -EADDRNOTAVAIL);
}

static void
a_configured_address_is_the_only_one(void **state)
{
	struct rnic_facts facts;

	run("ip addr add 10.9.0.1/24 dev r0 && ip addr add 10.9.0.2/24 dev r0 && "
	    "ip addr add fd00:9::1/64 dev r0 nodad");
	assert_int_equal(rnic_facts_read(NULL, "r0", "10.9.0.2", &facts), 0);
	assert_int_equal(facts.address_count, 1);
	assert_memory_equal(facts.addresses[0].bytes, "\x0a\x09\x00\x02", 4);
	assert_int_equal(rnic_facts_read(NULL, "r0", "fd00:9:0::0:1", &facts), 0);
	assert_int_equal(facts.address_count, 1);
	assert_int_equal(facts.addresses[0].family, 6);
	assert_int_equal(
	    rnic_facts_read(NULL, "r0", "10.9.0.3", &facts), -EADDRNOTAVAIL);
}

static void
a_recreated_device_is_another_place(void **state)
{
	struct rnic_facts before, after;

	run("ip addr add 10.9.0.1/24 dev r0");
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &before), 0);
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &after), 0);
	assert_true(rnic_facts_same(&before, &after));

	run("ip link set r0 mtu 1400");
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &after), 0);
	assert_false(rnic_facts_same(&before, &after));
	assert_true(rnic_facts_same_place(&before, &after));

	run("ip link del r0 && ip link add r0 address 02:00:00:00:00:07 type veth "
	    "peer name r1 && ip link set r0 up && ip addr add 10.9.0.1/24 dev r0");
	assert_int_equal(rnic_facts_read(NULL, "r0", NULL, &after), 0);
	assert_int_equal(after.id.guid, before.id.guid);
	assert_false(rnic_facts_same_place(&before, &after));
}

static void
a_drivers_text_is_kept_and_fits_a_label(void **state)
{
	static const char whole[RNIC_DRIVER_BYTES] = "0123456789abcdef0123456789abcdef";
	char driver[RNIC_DRIVER_BYTES];

	rnic_facts_driver(driver, (char[RNIC_DRIVER_BYTES]){ "802.1Q VLAN Support" });
	assert_string_equal(driver, "802.1Q VLAN Support");
	rnic_facts_driver(driver, (char[RNIC_DRIVER_BYTES]){ "a\"b\\c\nd\xff" });
	assert_string_equal(driver, "a_b_c_d_");
	rnic_facts_driver(driver, whole);
	assert_string_equal(driver, "0123456789abcdef0123456789abcde");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_guid_and_the_place_of_a_device_are_read),
		TEST(a_missing_device_or_address_is_reported),
		TEST(an_ipv6_address_still_being_checked_is_not_used),
		TEST(a_configured_address_is_the_only_one),
		cmocka_unit_test(a_drivers_text_is_kept_and_fits_a_label),
		TEST(a_recreated_device_is_another_place),
	};

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0)
		return 77;
	return cmocka_run_group_tests_name("rnic_facts", tests, NULL, NULL);
}
