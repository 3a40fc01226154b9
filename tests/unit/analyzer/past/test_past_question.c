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
make(struct past_parameters given, struct past_question *ret, struct rm_error *error)
{
	given.limit = 10;
	return past_question_make(&given, now, ret, error);
}

static void
a_query_without_times_is_of_the_last_hour(void **state)
{
	struct past_question q;
	struct rm_error error;

	assert_int_equal(
	    make((struct past_parameters){ .measurement = "rm_sla" }, &q, &error), 0);
	assert_true(q.to.ns == now.ns);
	assert_true(now.ns - q.from.ns == 3600 * RM_NS_PER_S);
}

static void
invalid_names_and_unknown_measurements_are_refused(void **state)
{
	const struct past_parameters bad[] = {
		{ .measurement = "rm_sla", .filter[PAST_REGION] = "a' OR 'a'='a" },
		{ .measurement = "rm_rack", .filter[PAST_TOR] = "tor\"1" },
		{ .measurement = "rm_rack", .filter[PAST_TOR] = "" },
		{ .measurement = "rm_sla",
		    .filter[PAST_TOR] = "tor1" }, /* rm_sla has no tag tor */
		{ .measurement = "rm_tor_pair", .filter[PAST_HOST] = "h1" },
		{ .measurement = "rm_rnic", .filter[PAST_RNIC] = "mlx5_0" },
		{ .measurement = "rm_sla", .columns = "sent,\"lost\"" },
		{ .measurement = "rm_incident", .step_s = 60 },
		{ .measurement = "rm_sla", .columns = "region", .step_s = 60 },
		{ .measurement = "rm_sla",
		    .by = "region" }, /* every tag is kept: nothing to merge */
		{ .measurement = "rm_sla", .by = "tor", .step_s = 60 },
		{ .measurement = "rm_sla", .by = "sent", .step_s = 60 },
		{ .measurement = "rm_sla", .from = "now()" },
		{ .measurement = "rm_sla", .from = "2026-02-01T00:00:00Z" },
		{ .measurement = "rm_sla", .from = "2020-02-01T00:00:00Z" },
		{ .measurement = "rm_sla",
		    .from = "2026-01-30T12:00:00Z",
		    .step_s = 1 },
	};
	struct past_question q;
	struct rm_error error;

	assert_int_equal(
	    make((struct past_parameters){ .measurement = "rm_self" }, &q, &error),
	    -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(make(bad[i], &q, &error), -EINVAL);
}

static void
influxql_names_columns_and_quotes_its_parameters(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_tor_pair",
				  .filter[PAST_REGION] = "lab",
				  .filter[PAST_TOR] = "tor1" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "r\"aw", text), 0);
	assert_non_null(strstr(text, "SELECT \"region\",\"aggregator\",\"src_tor\","));
	assert_non_null(strstr(text, " FROM \"r\\\"aw\".\"rm_tor_pair\" WHERE time >= "
				     "1769857200000000000 AND time < "
				     "1769860800000000000 AND "
				     "(\"src_tor\" = 'tor1' OR \"dst_tor\" = 'tor1') "
				     "AND (\"region\" = 'lab') "
				     "ORDER BY time ASC LIMIT 11"));
}

static void
a_step_merges_counts_by_sums_and_times_by_the_largest(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_rnic",
				  .columns = "rtt_p99_ns,device,sent",
				  .filter[PAST_RNIC] = "0C42:a103:0065:aabc/1",
				  .step_s = 60 },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_string_equal(text,
	    "SELECT sum(\"sent\") AS \"sent\",max(\"rtt_p99_ns\") AS "
	    "\"rtt_p99_ns\" FROM \"rm_rnic\" WHERE time >= 1769857200000000000 AND "
	    "time < 1769860800000000000 AND (\"rnic\" = '0c42:a103:0065:aabc/1') "
	    "GROUP BY time(60s) fill(none) ORDER BY time ASC LIMIT 11");
}

static void
a_step_keeps_the_shortest_and_the_longest_path(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_tor_pair",
				  .columns = "hops_least,hops_most",
				  .step_s = 60 },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(text,
	    "SELECT min(\"hops_least\") AS \"hops_least\",max(\"hops_most\") AS "
	    "\"hops_most\" FROM "));
}

static void
a_step_merges_rows_with_the_same_tag(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_sla_rack",
				  .columns = "sent,lost",
				  .by = "tor",
				  .step_s = 3600 },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "raw", text), 0);
	assert_string_equal(text,
	    "SELECT sum(\"sent\") AS \"sent\",sum(\"lost\") AS \"lost\" FROM "
	    "\"raw\".\"rm_sla_rack\" WHERE time >= 1769857200000000000 AND "
	    "time < 1769860800000000000 "
	    "GROUP BY time(3600s),\"tor\" fill(none) ORDER BY time ASC LIMIT 11");
}

static void
series_are_selected_by_either_tor(void **state)
{
	struct past_question q;
	char texts[2][PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_tor_pair",
				  .columns = "src_tor,sent,ok",
				  .filter[PAST_REGION] = "lab",
				  .filter[PAST_TOR] = "tor1" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_selectors(&q, "rack\"mesh", texts), 2);
	assert_string_equal(texts[0],
	    "{__name__=~\"rm_tor_pair_(sent|ok)\",db=\"rack\\\"mesh\",src_tor=\"tor1\","
	    "region=\"lab\"}");
	assert_string_equal(texts[1],
	    "{__name__=~\"rm_tor_pair_(sent|ok)\",db=\"rack\\\"mesh\",dst_tor=\"tor1\","
	    "region=\"lab\"}");
	q.filter[PAST_TOR][0] = '\0';
	assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
}

static void
a_query_of_tags_alone_reads_a_field_that_is_not_shown(void **state)
{
	const struct history_column *columns[PAST_COLUMNS];
	struct past_question q;
	char text[PAST_STATEMENT_BYTES], texts[2][PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_rnic",
				  .columns = "host,device" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_columns(&q, columns), 2);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(text, "SELECT \"host\",\"device\",\"sent\" FROM "));
	assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
	assert_string_equal(texts[0], "{__name__=~\"rm_rnic_(sent)\",db=\"rackmesh\"}");
	/* VictoriaMetrics stores no strings. */
	assert_int_equal(make((struct past_parameters){ .measurement = "rm_incident",
				  .columns = "id,state" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
	assert_non_null(strstr(texts[0], "{__name__=~\"rm_incident_(began_ns)\","));
}

static void
names_of_services_are_quoted(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES], texts[2][PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_sla_service",
				  .filter[PAST_SERVICE] = "a' OR \"b\\" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(
	    strstr(text, " AND (\"service\" = 'a\\' OR \"b\\\\') ORDER BY time"));
	assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
	assert_non_null(strstr(texts[0], ",service=\"a' OR \\\"b\\\\\"}"));
	assert_int_equal(make((struct past_parameters){ .measurement = "rm_sla_service",
				  .filter[PAST_SERVICE] = "a\nb" },
			     &q, &error),
	    -EINVAL);
	assert_int_equal(make((struct past_parameters){ .measurement = "rm_sla",
				  .filter[PAST_SCOPE] = "fabric" },
			     &q, &error),
	    0);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(text, " AND (\"scope\" = 'fabric')"));
	assert_null(past_question_text_filter(&q));
}

static void
incidents_are_found_by_part_kind_and_id(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_incident",
				  .filter[PAST_PART_TYPE] = "rnic",
				  .filter[PAST_PART] = "h1/r0 or h2/r0",
				  .filter[PAST_STATE] = "opened" },
			     &q, &error),
	    0);
	assert_null(past_question_text_filter(&q));
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(text,
	    " AND (\"part_type\" = 'rnic') AND (\"part\" = 'h1/r0 or h2/r0') AND "
	    "(\"state\" = 'opened')"));
	assert_int_equal(make((struct past_parameters){ .measurement = "rm_incident",
				  .filter[PAST_KIND] = "link-late",
				  .filter[PAST_ID] = "00000000deadbeef" },
			     &q, &error),
	    0);
	assert_string_equal(past_question_text_filter(&q), "kind");
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(
	    text, " AND (\"kind\" = 'link-late') AND (\"id\" = '00000000deadbeef')"));
	assert_int_equal(make((struct past_parameters){ .measurement = "rm_rack",
				  .filter[PAST_KIND] = "link-late" },
			     &q, &error),
	    -EINVAL);
}

/* Names of hosts and switches have up to 63 characters, and a part has up to six. */
static void
the_longest_part_is_found(void **state)
{
	char name[RM_NAME_BYTES], part[RM_PART_NAME_BYTES + 1],
	    text[PAST_STATEMENT_BYTES];
	struct past_parameters given = { .measurement = "rm_incident",
		.filter[PAST_PART] = part };
	struct past_question q;
	struct rm_error error;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(part, sizeof(part), "%s--%s or %s--%s or %s--%s", name, name, name,
	    name, name, name);
	assert_int_equal(make(given, &q, &error), 0);
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(strstr(text, part));
	memset(part, 'n', sizeof(part));
	part[RM_PART_NAME_BYTES] = '\0';
	assert_int_equal(make(given, &q, &error), -EINVAL);
}

/* Names must match whole, and a '.' in a name must match only itself. */
static void
a_viewer_of_some_regions_gets_rows_of_those(void **state)
{
	struct past_question q;
	char text[PAST_STATEMENT_BYTES], texts[2][PAST_STATEMENT_BYTES];
	struct rm_error error;

	assert_int_equal(make((struct past_parameters){ .measurement = "rm_sla",
				  .regions = "r1,a/b|.*,eu.west" },
			     &q, &error),
	    0);
	assert_string_equal(q.regions, "r1,eu.west");
	assert_int_equal(past_question_influxql(&q, "", text), 0);
	assert_non_null(
	    strstr(text, " AND \"region\" =~ /^(r1|eu\\.west)$/ ORDER BY time"));
	assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
	assert_non_null(
	    strstr(texts[0], ",db=\"rackmesh\",region=~\"r1|eu\\\\.west\"}"));
	assert_int_equal(
	    make((struct past_parameters){ .measurement = "rm_sla", .regions = "a/b" },
		&q, &error),
	    -EINVAL);
	/* A viewer of some regions may query every measurement. */
	for (const struct history_measurement *m = history_measurements;
	     m->name != NULL; m++)
		assert_int_equal(make((struct past_parameters){ .measurement = m->name,
					  .regions = "r1" },
				     &q, &error),
		    0);
}

static void
every_measurement_of_the_schema_makes_a_statement(void **state)
{
	char text[PAST_STATEMENT_BYTES], texts[2][PAST_STATEMENT_BYTES];
	size_t steps = 0;

	for (const struct history_measurement *m = history_measurements;
	     m->name != NULL; m++) {
		struct past_question q;
		struct rm_error error;

		assert_int_equal(
		    make(
			(struct past_parameters){ .measurement = m->name }, &q, &error),
		    0);
		assert_int_equal(past_question_influxql(&q, "", text), 0);
		assert_non_null(strstr(text, "LIMIT 11"));
		assert_int_equal(past_question_selectors(&q, "rackmesh", texts), 1);
		if (make(
			(struct past_parameters){ .measurement = m->name, .step_s = 1 },
			&q, &error) < 0)
			continue;
		assert_int_equal(past_question_influxql(&q, "", text), 0);
		steps++;
	}
	assert_int_equal(steps, 7); /* rm_incident has no steps */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_without_times_is_of_the_last_hour),
		cmocka_unit_test(invalid_names_and_unknown_measurements_are_refused),
		cmocka_unit_test(influxql_names_columns_and_quotes_its_parameters),
		cmocka_unit_test(a_step_merges_counts_by_sums_and_times_by_the_largest),
		cmocka_unit_test(a_step_keeps_the_shortest_and_the_longest_path),
		cmocka_unit_test(a_step_merges_rows_with_the_same_tag),
		cmocka_unit_test(series_are_selected_by_either_tor),
		cmocka_unit_test(a_query_of_tags_alone_reads_a_field_that_is_not_shown),
		cmocka_unit_test(names_of_services_are_quoted),
		cmocka_unit_test(incidents_are_found_by_part_kind_and_id),
		cmocka_unit_test(the_longest_part_is_found),
		cmocka_unit_test(a_viewer_of_some_regions_gets_rows_of_those),
		cmocka_unit_test(every_measurement_of_the_schema_makes_a_statement),
	};

	return cmocka_run_group_tests_name("past_question", tests, NULL, NULL);
}
