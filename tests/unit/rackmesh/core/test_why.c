#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/core/why.h"

static void
a_reason_returns_its_error_and_keeps_its_sentence(void **state)
{
	struct rm_why why;

	assert_int_equal(rm_why(&why, -EINVAL, "line %d", 7), -EINVAL);
	assert_string_equal(why.text, "line 7");
	assert_int_equal(rm_why(NULL, -EIO, "nobody asks"), -EIO);
}

static void
a_reason_may_wrap_itself(void **state)
{
	struct rm_why why;

	rm_why(&why, 0, "no such key");
	rm_why(&why, 0, "file.yaml:3: %s", why.text);
	assert_string_equal(why.text, "file.yaml:3: no such key");
}

static void
a_reason_too_long_is_cut_visibly(void **state)
{
	struct rm_why why;

	rm_why(&why, 0, "%0600d", 0);
	assert_int_equal(strlen(why.text), sizeof(why.text) - 1);
	assert_string_equal(why.text + sizeof(why.text) - 5, "0...");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reason_returns_its_error_and_keeps_its_sentence),
		cmocka_unit_test(a_reason_may_wrap_itself),
		cmocka_unit_test(a_reason_too_long_is_cut_visibly),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
