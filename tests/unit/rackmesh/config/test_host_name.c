#include "rackmesh/config/host_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* No such file: the error then has no line. */
#define PATH "/nonexistent/daemon.yaml"

static void
a_name_that_nobody_gave_is_refused_in_every_form(void **state)
{
	static const struct {
		const char *name;
		int expected;
	} cases[] = {
		{ "localhost", -EINVAL },
		{ "LOCALHOST", -EINVAL },
		{ "localhost.", -EINVAL },
		{ "localhost.localdomain", -EINVAL },
		{ "LocalHost.localdomain.", -EINVAL },
		{ "localhost4", -EINVAL },
		{ "localhost6.localdomain6", -EINVAL },
		{ "localhost-live", -EINVAL },
		{ "Localhost-Live.lan.", -EINVAL },
		{ "localhosts3", 0 },
		{ "localhost-7", 0 },
		{ "gpu17.localhost", 0 },
		{ "GPU17.Rack3.example.", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rm_error error = { 0 };
		int r = rm_host_name_check(PATH, &error, "name", cases[i].name);

		if (r != cases[i].expected)
			fail_msg("%s: %d", cases[i].name, r);
		if (r < 0)
			assert_non_null(strstr(error.text,
			    "name: expected the name of this host, not localhost; name "
			    "the system, or give name here"));
	}
}

static void
a_malformed_name_is_quoted_with_what_to_do(void **state)
{
	struct rm_error error = { 0 };

	assert_int_equal(
	    rm_host_name_refuse(PATH, &error, "host", "gpu\n17", "expected a name"),
	    -EINVAL);
	assert_non_null(strstr(error.text,
	    "cannot name this host: expected a name; give the system a valid name, or "
	    "give host here, as in host: gpu17"));
	assert_null(strchr(error.text, '\n'));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_nobody_gave_is_refused_in_every_form),
		cmocka_unit_test(a_malformed_name_is_quoted_with_what_to_do),
	};

	return cmocka_run_group_tests_name("host_name", tests, NULL, NULL);
}
