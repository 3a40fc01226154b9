#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "rackmesh/core/address.h"

static void
assert_round_trip(const char *text, int default_port, const char *expected)
{
	struct rm_address address, again;
	char out[RM_ADDRESS_TEXT];

	assert_int_equal(rm_address_parse(text, default_port, &address), 0);
	rm_address_format(&address, out);
	assert_string_equal(out, expected);
	assert_int_equal(rm_address_parse(out, -1, &again), 0);
	assert_true(rm_address_equal(&address, &again));
	assert_int_equal(address.len, again.len);
}

static void
addresses_survive_parsing_and_formatting(void **state)
{
	assert_round_trip("10.0.0.1:7471", -1, "10.0.0.1:7471");
	assert_round_trip("10.0.0.1", 80, "10.0.0.1:80");
	assert_round_trip("0.0.0.0:0", -1, "0.0.0.0:0");
	assert_round_trip("[fd00::1]:7471", -1, "[fd00::1]:7471");
	assert_round_trip("[FD00:0::1]:65535", 80, "[fd00::1]:65535");
	assert_round_trip("[fd00::1]", 80, "[fd00::1]:80");
	assert_round_trip("fd00::1", 80, "[fd00::1]:80");
	assert_round_trip("::", 80, "[::]:80");
	assert_round_trip("[fe80::1%3]:1", -1, "[fe80::1%3]:1");
	assert_round_trip(
	    "unix:/run/rackmesh/agent.sock", -1, "unix:/run/rackmesh/agent.sock");
}

static void
malformed_addresses_are_refused(void **state)
{
	const char *const bad[] = {
		"",
		":",
		":80",
		"10.0.0.1:",
		"10.0.0.1:65536",
		"10.0.0.1:-1",
		"10.0.0.1:+1",
		"10.0.0.1: 1",
		"10.0.0.1:0x1",
		"10.0.0.1:99999999999999999999",
		"10.0.0:1",
		"10.0.0.256:1",
		"host:1",
		"[fd00::1]",
		"fd00::1",
		"[fd00::1:1",
		"[fd00::1]1",
		"[fd00::1]:",
		"[10.0.0.1]:1",
		"[]:1",
		"[fe80::1%]:1",
		"[fe80::1%eth0]:1",
		"[fe80::1%4294967296]:1",
		"unix:",
		"10.0.0.1",
	};
	char text[512];
	struct rm_address address;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rm_address_parse(bad[i], -1, &address) != -EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(rm_address_parse(text, 80, &address), -EINVAL);
	memcpy(text, "unix:", 5);
	assert_int_equal(rm_address_parse(text, 80, &address), -EINVAL);
}

static void
the_longest_unix_path_fits(void **state)
{
	char text[RM_ADDRESS_TEXT], out[RM_ADDRESS_TEXT];
	struct rm_address address;
	size_t path = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	memset(text, 'p', sizeof(text));
	memcpy(text, "unix:", 5);
	text[5 + path] = '\0';
	assert_int_equal(rm_address_parse(text, -1, &address), 0);
	rm_address_format(&address, out);
	assert_string_equal(out, text);
}

static void
every_part_of_an_address_counts(void **state)
{
	const char *const all[] = { "10.0.0.1:1", "10.0.0.1:2", "10.0.0.2:1",
		"[fd00::1]:1", "[fd00::1]:2", "[fd00::2]:1", "[fd00::1%1]:1", "unix:/a",
		"unix:/ab" };
	struct rm_address a, b;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; j < sizeof(all) / sizeof(all[0]); j++) {
			assert_int_equal(rm_address_parse(all[i], -1, &a), 0);
			assert_int_equal(rm_address_parse(all[j], -1, &b), 0);
			assert_int_equal(rm_address_equal(&a, &b), i == j);
		}
	}
}

static void
an_unnamed_unix_peer_can_be_written(void **state)
{
	struct rm_address address = { .len = sizeof(sa_family_t) };
	char out[RM_ADDRESS_TEXT];

	address.storage.ss_family = AF_UNIX;
	memset((char *)&address.storage + sizeof(sa_family_t), 'x', 110);
	rm_address_format(&address, out);
	assert_string_equal(out, "unix:");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_survive_parsing_and_formatting),
		cmocka_unit_test(malformed_addresses_are_refused),
		cmocka_unit_test(the_longest_unix_path_fits),
		cmocka_unit_test(every_part_of_an_address_counts),
		cmocka_unit_test(an_unnamed_unix_peer_can_be_written),
	};

	return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
