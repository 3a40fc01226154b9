#include "rackmesh/http/http_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "rackmesh/config/config.h"

static void
addresses_and_names_of_this_host_are_let_in_and_no_others(void **state)
{
	static char proxy[] = "mesh.example.com";
	static char *items[] = { proxy };
	static const struct rm_list names = { items, 1 };
	static const char *const here[] = { NULL, "", "127.0.0.1", "127.9.9.9", "[::1]",
		"10.1.2.3", "[fd00::1]", "[fe80::1%25eth0]", "localhost", "LocalHost.",
		"a.localhost", "noc1", "noc1.dc.example", "NOC1.dc.example.",
		"Mesh.example.com" };
	static const char *const elsewhere[] = { "rebound.example", "localhost.example",
		"notlocalhost", ".localhost", "127.0.0.1.example", "0x7f.1", "127.1",
		"[", "[]", "[::1", "::1]", "[localhost]", ".", "noc1.evil.example",
		"noc12", "noc", "mesh.example.com.evil.example", "xmesh.example.com" };
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!http_host_is_here(here[i], "noc1.dc.example", &names))
			fail_msg("'%s' was refused", here[i]);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (http_host_is_here(elsewhere[i], "noc1.dc.example", &names))
			fail_msg("'%s' was let in", elsewhere[i]);
	assert_false(http_host_is_here("mesh.example.com", "noc1", NULL));
	assert_false(http_host_is_here(".", "", NULL));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(http_host_is_here(longest, "noc1", &names));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    addresses_and_names_of_this_host_are_let_in_and_no_others),
	};

	return cmocka_run_group_tests_name("http_host", tests, NULL, NULL);
}
