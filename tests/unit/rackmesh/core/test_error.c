#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/core/error.h"

static void
a_reason_returns_its_error_and_keeps_its_sentence(void **state)
{
	struct rm_error error;

	assert_int_equal(rm_error_set(&error, -EINVAL, "line %d", 7), -EINVAL);
	assert_string_equal(error.text, "line 7");
	assert_int_equal(rm_error_set(NULL, -EIO, "nobody asks"), -EIO);
}

static void
a_reason_may_wrap_itself(void **state)
{
	struct rm_error error;

	rm_error_set(&error, 0, "no such key");
	rm_error_set(&error, 0, "file.yaml:3: %s", error.text);
	assert_string_equal(error.text, "file.yaml:3: no such key");
}

static void
a_reason_too_long_is_cut_visibly(void **state)
{
	struct rm_error error;

	rm_error_set(&error, 0, "%0600d", 0);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_string_equal(error.text + sizeof(error.text) - 5, "0...");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reason_returns_its_error_and_keeps_its_sentence),
		cmocka_unit_test(a_reason_may_wrap_itself),
		cmocka_unit_test(a_reason_too_long_is_cut_visibly),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
