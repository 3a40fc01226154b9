#include "tor-aggregator/otlp/otlp_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/http/http_client.h"

static struct otlp_answer answer;

static enum otlp_status
reports(long status, const char *body)
{
	const struct rm_http_answer http = { .status = status,
		.body = body,
		.body_len = strlen(body),
		.retry_after_s = 7 };

	otlp_answer_read(&http, &answer);
	return answer.status;
}

static void
a_message_is_taken_whole(void **state)
{
	assert_int_equal(reports(200, "{}"), OTLP_TAKEN);
	assert_int_equal(reports(200, "{\"partialSuccess\":{}}"), OTLP_TAKEN);
	assert_int_equal(reports(204, ""), OTLP_TAKEN);
	assert_int_equal(answer.rejected, 0);
	assert_string_equal(answer.sentence, "");
}

static void
rejected_values_are_counted_and_never_sent_again(void **state)
{
	assert_int_equal(
	    reports(200, "{\"partialSuccess\":{\"rejectedDataPoints\":\"12\","
			 "\"errorMessage\":\"too\\nold\"}}"),
	    OTLP_TAKEN);
	assert_int_equal(answer.rejected, 12);
	assert_string_equal(answer.sentence, "too old");
	assert_int_equal(
	    reports(200, "{\"partialSuccess\":{\"rejectedDataPoints\":3}}"),
	    OTLP_TAKEN);
	assert_int_equal(answer.rejected, 3);
	assert_string_equal(answer.sentence, "no reason given");
	/* A warning. */
	assert_int_equal(
	    reports(200, "{\"partialSuccess\":{\"errorMessage\":\"slow\"}}"),
	    OTLP_TAKEN);
	assert_int_equal(answer.rejected, 0);
	assert_string_equal(answer.sentence, "slow");
}

static void
an_invalid_count_is_ignored(void **state)
{
	static const char *const counts[] = { "-1", "\"-1\"", "\"\"", "\"1x\"", "1.5",
		"\"99999999999999999999\"", "[]" };
	char body[128];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		snprintf(body, sizeof(body),
		    "{\"partialSuccess\":{\"rejectedDataPoints\":%s}}", counts[i]);
		assert_int_equal(reports(200, body), OTLP_TAKEN);
		assert_int_equal(answer.rejected, 0);
	}
}

static void
only_four_statuses_ask_for_another_try(void **state)
{
	static const long again[] = { 429, 502, 503, 504 };
	static const long never[] = { 0, 100, 301, 400, 401, 403, 404, 408, 413, 500,
		501, 505 };

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
		assert_int_equal(reports(again[i], "no"), OTLP_RETRY);
		assert_int_equal(answer.retry_after_s, 7);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(reports(never[i], "no"), OTLP_REFUSED);
	assert_int_equal(
	    reports(400, "{\"code\":3,\"message\":\"bad data\"}"), OTLP_REFUSED);
	assert_string_equal(answer.sentence, "status 400: bad data");
}

static void
no_answer_asks_for_another_try(void **state)
{
	const struct rm_http_answer http = { .r = -ECONNREFUSED, .body = "" };

	otlp_answer_read(&http, &answer);
	assert_int_equal(answer.status, OTLP_RETRY);
	assert_int_equal(answer.retry_after_s, -1);
	assert_string_equal(answer.sentence, "Connection refused");
}

static void
an_answer_that_is_not_from_a_collector_accepts_nothing(void **state)
{
	struct rm_http_answer http = { .r = -EPROTO,
		.reason = "SSL certificate problem: certificate has expired",
		.body = "" };

	otlp_answer_read(&http, &answer);
	assert_int_equal(answer.status, OTLP_RETRY);
	assert_string_equal(answer.sentence, http.reason);
	assert_int_equal(reports(200, "<html>Sign in</html>"), OTLP_REFUSED);
	assert_non_null(strstr(answer.sentence, "with a web page"));
	http = (struct rm_http_answer){
		.status = 301, .body = "", .redirect = "https://otel.example/v1/metrics"
	};
	otlp_answer_read(&http, &answer);
	assert_int_equal(answer.status, OTLP_REFUSED);
	assert_non_null(strstr(answer.sentence, "https://otel.example/v1/metrics"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_taken_whole),
		cmocka_unit_test(
		    an_answer_that_is_not_from_a_collector_accepts_nothing),
		cmocka_unit_test(rejected_values_are_counted_and_never_sent_again),
		cmocka_unit_test(an_invalid_count_is_ignored),
		cmocka_unit_test(only_four_statuses_ask_for_another_try),
		cmocka_unit_test(no_answer_asks_for_another_try),
	};

	return cmocka_run_group_tests_name("otlp_answer", tests, NULL, NULL);
}
