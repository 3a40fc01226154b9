#include "rackmesh/core/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
versions_of_packages_are_accepted(void **state)
{
	char out[RM_VERSION_BYTES];

	rm_version_take(out, "0.1.0");
	assert_string_equal(out, "0.1.0");
	rm_version_take(out, "1:2.0~rc1+git20260101-1_deb12u3");
	assert_string_equal(out, "1:2.0~rc1+git20260101-1_deb12u3");
	assert_string_equal(rm_version_show(out), "1:2.0~rc1+git20260101-1_deb12u3");
}

static void
malformed_versions_are_unknown(void **state)
{
	static const char *const bad[] = { "", " ", "1.0 ", "1.0\n", "\x1b[31m", "1/2",
		"0123456789012345678901234567890123456789012345678" };
	char out[RM_VERSION_BYTES] = "1";
	char longest[RM_VERSION_BYTES];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rm_version_take(out, bad[i]);
		assert_string_equal(out, "");
	}
	assert_string_equal(rm_version_show(out), "unknown");
	memset(longest, '9', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_true(rm_version_valid(longest));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_of_packages_are_accepted),
		cmocka_unit_test(malformed_versions_are_unknown),
	};

	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
