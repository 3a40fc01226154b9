#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/http/http_url.h"

static void
a_url_without_scheme_or_host_or_with_characters_to_escape_is_refused(void **state)
{
	static const char *const good[] = { "http://am", "https://[::1]:8086/x?db=y",
		"http://me:secret@127.0.0.1:9093" };
	static const char *const bad[] = { "", "am:9093", "ftp://am", "http://",
		"http:///path", "https://?x", "http://#x", "http://a m", "http://am\n",
		"http://am/\"x", "http://am\\x", "http://\303\244m" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(rm_http_url_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(rm_http_url_valid(bad[i]));
}

static void
neither_a_password_nor_a_secret_path_is_shown(void **state)
{
	char shown[RM_HTTP_URL_SHOWN_BYTES];

	(void)state;
	rm_http_url_show("https://me:secret@hook.example/secret", false, shown);
	assert_string_equal(shown, "https://hook.example/...");
	rm_http_url_show("https://hook.example?secret", false, shown);
	assert_string_equal(shown, "https://hook.example/...");
	rm_http_url_show("/secret", false, shown);
	assert_string_equal(shown, "/...");
	rm_http_url_show("http://me:secret@am:9093/prefix", true, shown);
	assert_string_equal(shown, "http://am:9093/prefix");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_url_without_scheme_or_host_or_with_characters_to_escape_is_refused),
		cmocka_unit_test(neither_a_password_nor_a_secret_path_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
