/* Every class of status, with bodies that InfluxDB 1.6.7 sent, and bodies from the
 * manual of InfluxDB 3. */
#include "analyzer/history/influx_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/http/http_client.h"

static struct influx_answer answer;

static enum influx_status
reports(long status, const char *body)
{
	const struct rm_http_answer http = { .status = status,
		.body = body,
		.body_len = strlen(body),
		.retry_after_s = -1 };

	influx_answer_read(&http, &answer);
	return answer.status;
}

static void
two_hundreds_are_taken(void **state)
{
	assert_int_equal(reports(204, ""), INFLUX_TAKEN);
	assert_int_equal(reports(200, "{}"), INFLUX_TAKEN);
	assert_string_equal(answer.sentence, "");
}

static void
a_partial_write_is_taken_except_for_the_dropped_points(void **state)
{
	assert_int_equal(
	    reports(400, "{\"error\":\"partial write: field type conflict: "
			 "input field \\\"x\\\" dropped=12\"}"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 12);
	assert_string_equal(answer.sentence,
	    "status 400: partial write: field type conflict: input field \"x\" "
	    "dropped=12");
	/* InfluxDB reports dropped=0 for lines that it cannot parse. */
	assert_int_equal(
	    reports(400, "{\"error\":\"partial write: unable to parse 'x': "
			 "invalid boolean dropped=0\"}"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 1);
	assert_int_equal(
	    reports(422, "{\"code\":\"unprocessable entity\",\"message\":\"failure "
			 "writing points to database: partial write: points beyond "
			 "retention policy dropped=3\"}"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 3);
}

#define TEMP "invalid column type for column 'temp', expected float, got string"

static void
a_partial_write_of_influxdb_3_is_counted_by_its_lines(void **state)
{
	assert_int_equal(
	    reports(400, "{\"error\":\"partial write of line protocol occurred\","
			 "\"data\":[{\"error_message\":\"" TEMP "\",\"line_number\":2,"
			 "\"original_line\":\"home,room=a temp=hi 17\"},"
			 "{\"original_line\":\"x \\\"line_number\\\": dropped=9\","
			 "\"line_number\" : 7,\"error_message\":\"No fields\"}]}"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 2);
	assert_string_equal(answer.sentence,
	    "status 400: partial write of line protocol occurred: line 2: " TEMP);
	/* A truncated answer, or one without a list, still means at least one refused
	 * line. */
	assert_int_equal(
	    reports(400,
		"{\"error\":\"partial write of line protocol occurred\","
		"\"data\":[{\"line_number\":2},{\"line_number\":3},{\"line_nu"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 2);
	assert_int_equal(
	    reports(400, "{\"error\":\"partial write of line protocol occurred\","
			 "\"data\":[7]}"),
	    INFLUX_PARTIAL);
	assert_int_equal(answer.dropped, 1);
	assert_string_equal(
	    answer.sentence, "status 400: partial write of line protocol occurred");
}

static void
a_batch_refused_whole_by_influxdb_3_has_the_reason(void **state)
{
	assert_int_equal(
	    reports(400, "{\"error\":\"parsing failed for write_lp endpoint\",\"data\":"
			 "{\"error_message\":\"No fields were provided\","
			 "\"line_number\":1,\"original_line\":\"cpu val= 123\"}}"),
	    INFLUX_REFUSED);
	assert_string_equal(answer.sentence,
	    "status 400: parsing failed for write_lp endpoint: line 1: "
	    "No fields were provided");
}

static void
a_batch_that_is_refused_whole_is_halved(void **state)
{
	assert_int_equal(
	    reports(400, "{\"error\":\"gzip: invalid header\"}"), INFLUX_REFUSED);
	assert_int_equal(
	    reports(400, "{\"error\":\"unable to parse 'a': missing fields\"}"),
	    INFLUX_REFUSED);
	assert_int_equal(reports(400, "what"), INFLUX_REFUSED);
	assert_int_equal(
	    reports(413, "{\"error\":\"Request Entity Too Large\"}"), INFLUX_TOO_LARGE);
}

static void
points_are_kept_until_the_configuration_is_corrected(void **state)
{
	static const long statuses[] = { 301, 401, 403, 404, 405, 410, 415 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		assert_int_equal(reports(statuses[i], "no"), INFLUX_CONFIG);
	assert_int_equal(reports(404, "{\"error\":\"database not found: \\\"x\\\"\"}"),
	    INFLUX_CONFIG);
	/* InfluxDB 1.x answers 500 here, but a retry cannot succeed. */
	assert_int_equal(reports(500, "{\"error\":\"retention policy not found: x\"}"),
	    INFLUX_CONFIG);
	assert_string_equal(
	    answer.sentence, "status 500: retention policy not found: x");
}

static void
an_answer_that_is_not_from_a_database_accepts_no_point(void **state)
{
	const struct rm_http_answer moved = { .status = 308,
		.body = "",
		.redirect = "https://u:secret@db.example/write?db=rackmesh",
		.retry_after_s = -1 };

	assert_int_equal(
	    reports(200, "\n<!DOCTYPE html><title>Sign in</title>"), INFLUX_CONFIG);
	assert_string_equal(answer.sentence,
	    "status 200 with a web page: look at what is at influx.url, perhaps a "
	    "login");
	influx_answer_read(&moved, &answer);
	assert_int_equal(answer.status, INFLUX_CONFIG);
	assert_string_equal(answer.sentence,
	    "status 308: a redirect to \"https://db.example/write?db=rackmesh\": "
	    "configure in influx.url the URL that it leads to");
}

static void
everything_else_is_tried_again(void **state)
{
	static const long statuses[] = { 0, 100, 408, 429, 500, 502, 503, 504, 599 };
	struct rm_http_answer http = { .r = -ECONNREFUSED, .body = "" };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		assert_int_equal(reports(statuses[i], "no"), INFLUX_RETRY);
	influx_answer_read(&http, &answer);
	assert_int_equal(answer.status, INFLUX_RETRY);
	assert_string_equal(answer.sentence, "Connection refused");
	http = (struct rm_http_answer){ .r = -EPROTO,
		.reason = "SSL certificate problem: unable to get local issuer "
			  "certificate",
		.body = "" };
	influx_answer_read(&http, &answer);
	assert_int_equal(answer.status, INFLUX_RETRY);
	assert_string_equal(answer.sentence, http.reason);
	http = (struct rm_http_answer){ .status = 429, .body = "", .retry_after_s = 7 };
	influx_answer_read(&http, &answer);
	assert_int_equal(answer.status, INFLUX_RETRY);
	assert_int_equal(answer.retry_after_s, 7);
}

static void
foreign_text_is_truncated_and_made_printable(void **state)
{
	char body[4096];

	memset(body, 'x', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	body[3] = '\n';
	body[4] = '\033';
	assert_int_equal(reports(503, body), INFLUX_RETRY);
	assert_int_equal(strlen(answer.sentence), sizeof(answer.sentence) - 1);
	assert_memory_equal(answer.sentence, "status 503: xxx  xxx", 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hundreds_are_taken),
		cmocka_unit_test(
		    a_partial_write_is_taken_except_for_the_dropped_points),
		cmocka_unit_test(a_partial_write_of_influxdb_3_is_counted_by_its_lines),
		cmocka_unit_test(a_batch_refused_whole_by_influxdb_3_has_the_reason),
		cmocka_unit_test(a_batch_that_is_refused_whole_is_halved),
		cmocka_unit_test(points_are_kept_until_the_configuration_is_corrected),
		cmocka_unit_test(
		    an_answer_that_is_not_from_a_database_accepts_no_point),
		cmocka_unit_test(everything_else_is_tried_again),
		cmocka_unit_test(foreign_text_is_truncated_and_made_printable),
	};

	return cmocka_run_group_tests_name("influx_answer", tests, NULL, NULL);
}
