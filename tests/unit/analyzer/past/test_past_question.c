#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/past/past_question.h"

static const rm_wall_t now = { INT64_C(1769860800) * RM_NS_PER_S }; /* 12:00 */

static int
make(struct past_words words, struct past_question *ret, struct rm_why *why)
{
	return past_question_make(&words, 10, now, ret, why);
}

static void
without_times_it_is_the_last_hour(void **state)
{
	struct past_question q;
	struct rm_why why;

	assert_int_equal(
	    make((struct past_words){ .measurement = "rm_sla" }, &q, &why), 0);
	assert_true(q.to.ns == now.ns);
	assert_true(now.ns - q.from.ns == 3600 * RM_NS_PER_S);
}

static void
times_are_rfc_3339_in_utc(void **state)
{
	rm_wall_t t;

	assert_true(past_time_parse("2026-01-31T12:00:00Z", &t));
	assert_true(t.ns == now.ns);
	assert_true(past_time_parse("2026-01-31T12:00:00.250Z", &t));
	assert_true(t.ns == now.ns + 250 * RM_NS_PER_MS);
	assert_false(past_time_parse("2026-01-31T12:00:00", &t));
	assert_false(past_time_parse("2026-01-31T12:00:00Z'", &t));
	assert_false(past_time_parse("yesterday", &t));
	assert_false(past_time_parse("", &t));
}

static void
what_is_no_name_or_no_measurement_is_refused(void **state)
{
	const struct past_words bad[] = {
		{ .measurement = "rm_sla", .region = "a' OR 'a'='a" },
		{ .measurement = "rm_rack", .tor = "tor\"1" },
		{ .measurement = "rm_rack", .tor = "" },
		{ .measurement = "rm_sla", .tor = "tor1" }, /* not by ToR */
		{ .measurement = "rm_sla", .from = "now()" },
		{ .measurement = "rm_sla", .from = "2026-02-01T00:00:00Z" },
		{ .measurement = "rm_sla", .from = "2020-02-01T00:00:00Z" },
	};
	struct past_question q;
	struct rm_why why;

	assert_int_equal(
	    make((struct past_words){ .measurement = "rm_self" }, &q, &why), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(make(bad[i], &q, &why), -EINVAL);
}

static void
influxql_names_columns_and_quotes_what_it_was_given(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_why why;

	assert_int_equal(make((struct past_words){ .measurement = "rm_tor_pair",
				  .region = "lab",
				  .tor = "tor1" },
			     &q, &why),
	    0);
	assert_int_equal(past_question_influxql(&q, "r\"aw", text), 0);
	assert_non_null(strstr(text, "SELECT \"region\",\"aggregator\",\"src_tor\","));
	assert_non_null(strstr(text, " FROM \"r\\\"aw\".\"rm_tor_pair\" WHERE time >= "
				     "1769857200000000000 AND time < "
				     "1769860800000000000 AND \"region\" = 'lab' AND "
				     "(\"src_tor\" = 'tor1' OR \"dst_tor\" = 'tor1') "
				     "ORDER BY time ASC LIMIT 11"));
}

static void
every_measurement_of_the_schema_makes_a_statement(void **state)
{
	char text[PAST_STATEMENT_BYTES];

	for (const struct history_measurement *m = history_measurements;
	     m->name != NULL; m++) {
		struct past_question q;
		struct rm_why why;

		assert_int_equal(
		    make((struct past_words){ .measurement = m->name }, &q, &why), 0);
		assert_int_equal(past_question_influxql(&q, "", text), 0);
		assert_non_null(strstr(text, "LIMIT 11"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_times_it_is_the_last_hour),
		cmocka_unit_test(times_are_rfc_3339_in_utc),
		cmocka_unit_test(what_is_no_name_or_no_measurement_is_refused),
		cmocka_unit_test(influxql_names_columns_and_quotes_what_it_was_given),
		cmocka_unit_test(every_measurement_of_the_schema_makes_a_statement),
	};

	return cmocka_run_group_tests_name("past_question", tests, NULL, NULL);
}
