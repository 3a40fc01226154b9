#include "rackmesh/net/refusals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"

static struct rm_refusals refusals;
static char who[RM_REFUSALS_TEXT];

static bool
reports(const char *text, const char *reason, int64_t second)
{
	const rm_mono_t now = { second * RM_NS_PER_S };
	struct rm_address peer;

	who[0] = '\0';
	assert_int_equal(rm_address_parse(text, -1, &peer), 0);
	return rm_refusals_report(&refusals, &peer, reason, now, who);
}

static void
repeated_refusals_of_a_host_are_one_line_per_minute_with_a_count(void **state)
{
	memset(&refusals, 0, sizeof(refusals));
	assert_true(reports("10.0.0.1:5000", "another name", 1));
	assert_string_equal(who, "10.0.0.1");
	for (int port = 5001; port <= 5007; port++) {
		char text[32];

		snprintf(text, sizeof(text), "10.0.0.1:%d", port);
		assert_false(reports(text, "another name", 60));
	}
	assert_true(reports("10.0.0.1:5008", "another name", 61));
	assert_string_equal(who, "10.0.0.1 (7 more times since)");
	assert_true(reports("10.0.0.1:5009", "another name", 121));
	assert_string_equal(who, "10.0.0.1");
}

static void
each_host_and_reason_has_its_own_line(void **state)
{
	memset(&refusals, 0, sizeof(refusals));
	assert_true(reports("10.0.0.1:5000", "another name", 1));
	assert_true(reports("10.0.0.2:5000", "another name", 1));
	assert_true(reports("10.0.0.1:5000", "another region", 1));
	assert_true(reports("[fd00::1]:5000", "another name", 1));
	assert_string_equal(who, "[fd00::1]");
	assert_false(reports("[fd00::1]:5001", "another name", 2));
	assert_false(reports("10.0.0.2:5001", "another name", 2));
}

static void
with_too_many_hosts_the_one_logged_longest_ago_is_forgotten(void **state)
{
	char text[32];

	memset(&refusals, 0, sizeof(refusals));
	for (int i = 0; i <= RM_REFUSALS; i++) {
		snprintf(text, sizeof(text), "10.0.0.%d:1", i);
		assert_true(reports(text, "no", 1 + i / 10));
	}
	assert_false(reports("10.0.0.40:1", "no", 8));
	assert_true(reports("10.0.0.0:1", "no", 8));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    repeated_refusals_of_a_host_are_one_line_per_minute_with_a_count),
		cmocka_unit_test(each_host_and_reason_has_its_own_line),
		cmocka_unit_test(
		    with_too_many_hosts_the_one_logged_longest_ago_is_forgotten),
	};

	return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
