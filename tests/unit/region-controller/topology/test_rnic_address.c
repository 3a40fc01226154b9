#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "region-controller/topology/rnic_address.h"
#include "schemas/wire/text.h"

static void
same_again(const char *text)
{
	struct wire_address address;
	char again[WIRE_ADDRESS_TEXT];

	assert_int_equal(rnic_address_parse(text, &address), 0);
	wire_address_format(&address, again);
	assert_string_equal(again, text);
}

static void
a_written_address_is_read_back(void **state)
{
	same_again("10.0.0.1");
	same_again("10.0.0.1:862");
	same_again("fd00::1");
	same_again("[fd00::1]:862");
	same_again("fe80::a00:1");
	same_again("::ffff:10.0.0.1");
	same_again("[::ffff:10.0.0.1]:65535");
}

static void
malformed_addresses_are_refused(void **state)
{
	static const char *const texts[] = { "", "h1", "10.0.0",
		"10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:862x",
		"[10.0.0.1]:862", "[fd00::1]", "[fd00::1]862", "[fd00::1:862",
		"fd00::1::2", "fd00::1%eth0", "10.0.0.1 ", "+10.0.0.1",
		"10.0.0.1:+862" };
	struct wire_address address;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(rnic_address_parse(texts[i], &address), -EINVAL);
}

static struct rnic_address_key
key_of(const char *text)
{
	struct wire_address address;

	assert_int_equal(rnic_address_parse(text, &address), 0);
	return rnic_address_key(&address);
}

static void
a_gid_that_maps_an_ipv4_address_is_that_address(void **state)
{
	struct rnic_address_key v4 = key_of("10.0.0.1:862");
	struct rnic_address_key mapped = key_of("::ffff:10.0.0.1");
	struct rnic_address_key other = key_of("fd00::a00:1");

	assert_memory_equal(&v4, &mapped, sizeof(v4));
	assert_memory_not_equal(&v4, &other, sizeof(v4));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_address_is_read_back),
		cmocka_unit_test(malformed_addresses_are_refused),
		cmocka_unit_test(a_gid_that_maps_an_ipv4_address_is_that_address),
	};

	return cmocka_run_group_tests_name("rnic_address", tests, NULL, NULL);
}
