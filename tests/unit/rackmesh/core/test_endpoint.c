#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"

#define LABEL63 "a23456789012345678901234567890123456789012345678901234567890123"

static void
names_and_numeric_addresses_are_distinguished(void **state)
{
	static const char *const names[] = { "agg1:7471",
		"agg1.rack-7.example.com:7471", "localhost:1", "agg1.example.:65535",
		"_agg.x:7", "3com.example:7471", "10.0.0.1.example:7471",
		LABEL63 ".b:7471",
		LABEL63 "." LABEL63 "." LABEL63 "." LABEL63 ":7471" };
	static const char *const numeric[] = { "10.0.0.1:7471", "[fd00::1]:7471",
		"[fe80::1%3]:7471", "unix:/run/agg.sock" };
	char text[RM_ENDPOINT_TEXT];
	struct rm_endpoint endpoint;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(rm_endpoint_parse(names[i], &endpoint),
		    strlen(names[i]) > 258 ? -EINVAL : 0);
		if (strlen(names[i]) > 258)
			continue;
		assert_true(endpoint.name[0] != 0);
		rm_endpoint_format(&endpoint, text);
		assert_string_equal(text, names[i]);
	}
	for (size_t i = 0; i < sizeof(numeric) / sizeof(numeric[0]); i++) {
		assert_int_equal(rm_endpoint_parse(numeric[i], &endpoint), 0);
		assert_string_equal(endpoint.name, "");
		rm_endpoint_format(&endpoint, text);
		assert_string_equal(text, numeric[i]);
	}
}

static void
text_that_is_neither_name_nor_address_is_refused(void **state)
{
	static const char *const bad[] = { "", ":7471", "agg1", "agg1:", "agg1:0",
		"agg1:65536", "agg1:7471 ", "agg1:+1", "agg 1:7471", "agg1:7471:7471",
		"agg..x:7471", ".agg:7471", "-agg:7471", "agg-.x:7471", "agg/x:7471",
		"10.0.0.300:7471", "300:7471", "10.0.0.1", "fd00::1", "[agg1]:7471",
		"[fd00::1]", "http://agg1:7471", "agg1.:", ".:1", "agg1..:7471",
		LABEL63 "4.b:7471" };
	struct rm_endpoint endpoint;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (rm_endpoint_parse(bad[i], &endpoint) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
}

static void
the_case_of_a_name_does_not_count_and_all_else_does(void **state)
{
	static const char *const all[] = { "agg1:7471", "agg1:7472", "agg2:7471",
		"10.0.0.1:7471", "10.0.0.2:7471" };
	struct rm_endpoint a, b;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; j < sizeof(all) / sizeof(all[0]); j++) {
			assert_int_equal(rm_endpoint_parse(all[i], &a), 0);
			assert_int_equal(rm_endpoint_parse(all[j], &b), 0);
			assert_int_equal(rm_endpoint_equal(&a, &b), i == j);
		}
	}
	assert_int_equal(rm_endpoint_parse("AGG1:7471", &a), 0);
	assert_int_equal(rm_endpoint_parse("agg1:7471", &b), 0);
	assert_true(rm_endpoint_equal(&a, &b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_numeric_addresses_are_distinguished),
		cmocka_unit_test(text_that_is_neither_name_nor_address_is_refused),
		cmocka_unit_test(the_case_of_a_name_does_not_count_and_all_else_does),
	};

	return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
