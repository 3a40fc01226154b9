#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/file.h"
#include "rackmesh/http/http_origin.h"

static char secret[64];

static int
setup(void **state)
{
	snprintf(secret, sizeof(secret), "/tmp/rackmesh-site-%d", (int)getpid());
	if (rm_file_replace(secret, (const uint8_t *)"s3cret\n", 7) < 0 ||
	    chmod(secret, 0600) < 0)
		return -1;
	return rm_http_origins_new((struct rm_http_origins **)state);
}

static int
teardown(void **state)
{
	rm_http_origins_free(*state);
	unlink(secret);
	return 0;
}

static void
credentials_are_only_used_for_urls_below_the_base(void **state)
{
	static const struct {
		const char *url;
		bool met;
	} cases[] = {
		{ "https://a:9093/api/v2/alerts", true },
		{ "https://a:9093", true },
		{ "https://a:9093?x", true },
		{ "https://a:90931/api", false },
		{ "https://a:9093.evil/api", false },
		{ "https://a:9093@evil/api", false },
		{ "http://a:9093/api", false },
		{ "https://b:9093/api", false },
		{ "", false },
	};
	char ca[] = "/ca.pem", user[] = "ann";
	struct rm_http_origin origin = {
		.authorities = ca, .user = user, .password_file = secret
	};
	struct rm_http_origins *origins = *state;

	assert_int_equal(rm_http_origins_add(origins, "https://a:9093/", &origin), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rm_http_exchange exchange = { .url = cases[i].url };
		struct rm_http_request_auth auth;

		assert_int_equal(rm_http_origins_meet(origins, &exchange, &auth), 0);
		if ((exchange.tls != NULL) != cases[i].met)
			fail_msg("%s", cases[i].url);
		if (!cases[i].met)
			continue;
		assert_string_equal(exchange.tls->authorities, "/ca.pem");
		assert_null(exchange.tls->certificate);
		assert_string_equal(exchange.user, "ann");
		assert_string_equal(exchange.password, "s3cret");
	}
}

static void
a_secret_is_read_for_each_request_and_not_if_others_can_read_it(void **state)
{
	struct rm_http_origin origin = { .token_file = secret };
	struct rm_http_origins *origins = *state;
	struct rm_http_exchange exchange = { .url = "https://a/x" };
	struct rm_http_request_auth auth;

	assert_int_equal(rm_http_origins_add(origins, "https://a", &origin), 0);
	assert_int_equal(rm_http_origins_meet(origins, &exchange, &auth), 0);
	assert_string_equal(exchange.bearer, "s3cret");
	assert_int_equal(rm_file_replace(secret, (const uint8_t *)"other\n", 6), 0);
	exchange = (struct rm_http_exchange){ .url = "https://a/x" };
	assert_int_equal(rm_http_origins_meet(origins, &exchange, &auth), -EACCES);
	assert_int_equal(chmod(secret, 0400), 0);
	exchange = (struct rm_http_exchange){ .url = "https://a/x" };
	assert_int_equal(rm_http_origins_meet(origins, &exchange, &auth), 0);
	assert_string_equal(exchange.bearer, "other");
}

static void
credentials_of_the_exchange_itself_are_kept(void **state)
{
	char ca[] = "/ca.pem";
	struct rm_http_origin origin = { .authorities = ca, .token_file = secret };
	const struct rm_http_tls own = { .authorities = "/own.pem" };
	struct rm_http_origins *origins = *state;
	struct rm_http_exchange exchange = {
		.url = "https://a/x", .tls = &own, .user = "me", .password = "mine"
	};
	struct rm_http_request_auth auth;

	assert_int_equal(rm_http_origins_add(origins, "https://a", &origin), 0);
	assert_int_equal(rm_http_origins_meet(origins, &exchange, &auth), 0);
	assert_ptr_equal(exchange.tls, &own);
	assert_string_equal(exchange.user, "me");
	assert_null(exchange.bearer);
}

static void
incomplete_credentials_are_refused(void **state)
{
	char some[] = "some", missing[] = "/nonexistent";
	const struct rm_http_origin good = { .user = some, .password_file = secret };
	const struct rm_http_origin bad[] = {
		{ .certificate = some },
		{ .key = secret },
		{ .user = some },
		{ .password_file = secret },
		{ .user = some, .password_file = secret, .token_file = secret },
		{ .token_file = missing },
		{ .certificate = some, .key = missing },
	};
	struct rm_error error;

	assert_int_equal(rm_http_origin_check(&good, "alerts", &error), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_true(rm_http_origin_check(&bad[i], "alerts", &error) < 0);
	/* The message names the file. */
	assert_true(rm_http_origin_check(&bad[5], "otlp", &error) < 0);
	assert_ptr_equal(
	    strstr(error.text, "otlp.token_file: /nonexistent: "), error.text);
	assert_true(rm_http_origin_check(&bad[6], "alerts", &error) < 0);
	assert_ptr_equal(strstr(error.text, "alerts.key: /nonexistent: "), error.text);
	assert_int_equal(chmod(secret, 0644), 0);
	assert_true(rm_http_origin_check(&good, "alerts", &error) < 0);
	assert_ptr_equal(strstr(error.text, "alerts.password_file: "), error.text);
}

static void
the_number_of_bases_is_limited(void **state)
{
	const struct rm_http_origin origin = { 0 };
	struct rm_http_origins *origins = *state;

	char base[32];

	for (size_t i = 0; i < RM_HTTP_SITES; i++) {
		snprintf(base, sizeof(base), "https://a%zu/", i);
		assert_int_equal(rm_http_origins_add(origins, base, &origin), 0);
	}
	assert_int_equal(rm_http_origins_add(origins, "https://b", &origin), -ENOSPC);
	/* A known origin needs no further place. */
	assert_int_equal(rm_http_origins_add(origins, "https://a0", &origin), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    credentials_are_only_used_for_urls_below_the_base, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_secret_is_read_for_each_request_and_not_if_others_can_read_it,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(
		    credentials_of_the_exchange_itself_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    incomplete_credentials_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    the_number_of_bases_is_limited, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
