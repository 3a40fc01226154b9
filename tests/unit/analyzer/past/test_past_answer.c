#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyzer/past/past_answer.h"
#include "analyzer/past/past_rows.h"

#define SLA(seconds, region, sent)                                              \
	"rm_sla,region=" region ",aggregator=an1,scope=rack,dscp=26 sent=" sent \
	"i,lost=1i " seconds "000000000\n"

static const char *const names[] = { "incidents.lp", "incidents.lp.1" };
static char folder[64];

/* Writes a file whose modification time is `when`. */
static void
write_at(const char *name, const char *text, time_t when)
{
	const struct timespec times[2] = { { when, 0 }, { when, 0 } };
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void
put(const char *name, const char *text)
{
	write_at(name, text, 1769864400); /* 13:00 */
}

static int
make_folder(void **state)
{
	strcpy(folder, "/tmp/test_past_answer.XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
remove_folder(void **state)
{
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

/* A question for rm_sla from 12:00 to 13:00. */
static struct past_question
question(const char *region, size_t limit, uint64_t step_s)
{
	const struct past_parameters given = { .measurement = "rm_sla",
		.from = "2026-01-31T12:00:00Z",
		.to = "2026-01-31T13:00:00Z",
		.filter[PAST_REGION] = region,
		.limit = limit,
		.step_s = step_s };
	struct past_question q;
	struct rm_error error;

	assert_int_equal(past_question_make(&given, (rm_wall_t){ 0 }, &q, &error), 0);
	return q;
}

static json_t *
read_files(const char *region, size_t limit, uint64_t step_s)
{
	struct past_question q = question(region, limit, step_s);
	struct rm_error error = { 0 };
	char *text = NULL;
	json_t *json;

	assert_int_equal(past_answer_files(&q, folder, &text, &error), 0);
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	free(text);
	return json;
}

static json_int_t
sent_of(const json_t *json, size_t row)
{
	const json_t *columns = json_object_get(json, "columns"), *name;
	size_t i;

	json_array_foreach (columns, i, name)
		if (strcmp(json_string_value(name), "sent") == 0)
			return json_integer_value(json_array_get(
			    json_array_get(json_object_get(json, "rows"), row), i));
	fail();
	return 0;
}

static size_t
count_of(const json_t *json)
{
	return json_array_size(json_object_get(json, "rows"));
}

static void
rows_of_files_come_by_time_each_once_and_torn_lines_not_at_all(void **state)
{
	json_t *json;

	put("incidents.lp.1", SLA("1769860799", "lab", "1") /* before 12:00 */
	    SLA("1769860920", "lab", "3") "garbage\n" SLA("1769860800", "lab", "2"));
	put("incidents.lp", SLA("1769860920", "lab", "3") /* same time again */
	    SLA("1769860860", "field", "9")
		SLA("1769864400", "lab", "4") /* not before 13:00 */
	    "rm_sla,region=lab,aggregator=an1 sent=5i 17698609");
	json = read_files("lab", 10, 0);
	assert_int_equal(count_of(json), 2);
	assert_int_equal(sent_of(json, 0), 2);
	assert_int_equal(sent_of(json, 1), 3);
	assert_false(json_is_true(json_object_get(json, "truncated")));
	assert_string_equal(json_string_value(json_array_get(
				json_array_get(json_object_get(json, "rows"), 0), 0)),
	    "2026-01-31T12:00:00.000Z");
	json_decref(json);
	json = read_files(NULL, 10, 0);
	assert_int_equal(count_of(json), 3);
	json_decref(json);
}

static void
more_rows_than_asked_for_are_reported(void **state)
{
	json_t *json;

	put("incidents.lp",
	    SLA("1769860800", "lab", "2") SLA("1769860860", "lab", "3"));
	json = read_files("lab", 1, 0);
	assert_int_equal(count_of(json), 1);
	assert_int_equal(sent_of(json, 0), 2);
	assert_true(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
}

static void
rows_of_a_step_are_merged_and_a_repeated_line_counts_once(void **state)
{
	json_t *json;

	put("incidents.lp", SLA("1769860800", "lab", "2") SLA("1769860860", "lab", "3")
				SLA("1769860860", "lab", "3") SLA("1769860860", "field",
				    "9") SLA("1769861520", "lab", "5"));
	json = read_files("lab", 10, 600);
	assert_int_equal(count_of(json), 2);
	assert_int_equal(sent_of(json, 0), 5);
	assert_int_equal(sent_of(json, 1), 5);
	assert_string_equal(json_string_value(json_array_get(
				json_array_get(json_object_get(json, "rows"), 1), 0)),
	    "2026-01-31T12:10:00.000Z");
	json_decref(json);
	json = read_files("lab", 1, 600);
	assert_int_equal(count_of(json), 1);
	assert_true(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
}

static void
files_last_written_before_that_time_are_not_read(void **state)
{
	json_t *json;

	write_at("incidents.lp.1", SLA("1769860800", "lab", "2"), 1769850000);
	put("incidents.lp", SLA("1769860860", "lab", "3"));
	json = read_files("lab", 10, 0);
	assert_int_equal(count_of(json), 1);
	assert_int_equal(sent_of(json, 0), 3);
	json_decref(json);
}

/* Renames the file after the reader has opened incidents.lp.1, which is a FIFO. */
static void *
rotate(void *arg)
{
	char path[2][128];
	const char line[] = SLA("1769860800", "lab", "1");
	int fd;

	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, names[i]);
	fd = open(path[1], O_WRONLY | O_CLOEXEC);
	assert_int_equal(rename(path[0], path[1]), 0);
	put("incidents.lp", SLA("1769860920", "lab", "3"));
	assert_int_equal(write(fd, line, sizeof(line) - 1), sizeof(line) - 1);
	close(fd);
	return NULL;
}

static void
files_that_rotate_while_they_are_read_are_all_read(void **state)
{
	pthread_t thread;
	char path[128];
	json_t *json;

	put("incidents.lp", SLA("1769860860", "lab", "2"));
	snprintf(path, sizeof(path), "%s/%s", folder, names[1]);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&thread, NULL, rotate, NULL), 0);
	json = read_files("lab", 10, 0);
	pthread_join(thread, NULL);
	assert_in_range(count_of(json), 2, 3);
	assert_int_equal(sent_of(json, 0), 1);
	assert_int_equal(sent_of(json, 1), 2);
	json_decref(json);
}

static void
a_folder_without_files_holds_nothing(void **state)
{
	json_t *json = read_files("lab", 10, 0);

	assert_int_equal(count_of(json), 0);
	json_decref(json);
}

#define COLUMNS                                                                     \
	"\"time\",\"region\",\"aggregator\",\"scope\",\"dscp\",\"sent\",\"lost\","  \
	"\"invalid\",\"not_sent\",\"racks_available\",\"racks_unavailable\","       \
	"\"racks_unknown\",\"rtt_p50_ns\",\"rtt_p95_ns\",\"rtt_p99_ns\",\"rtt_max_" \
	"ns\""
#define ANSWER(values)                                                               \
	"{\"results\":[{\"series\":[{\"name\":\"rm_sla\",\"columns\":[" COLUMNS "]," \
	"\"values\":[" values "]}]}]}"
#define REST "\"lab\",\"an1\",\"rack\",\"26\",7,1,0,0,2,0,0,null,null,null,null]"

static int
read_influx(const char *body, json_t **ret, struct rm_error *error)
{
	struct past_question q = question("lab", 10, 0);
	char *text = NULL;
	int r = past_answer_influx(&q, body, strlen(body), &text, error);

	if (r == 0)
		*ret = json_loads(text, 0, NULL);
	free(text);
	return r;
}

static void
rows_of_influxdb_are_those_of_files(void **state)
{
	struct rm_error error = { 0 };
	json_t *json = NULL;

	assert_int_equal(
	    read_influx(ANSWER("[1769860800000000000," REST), &json, &error), 0);
	assert_int_equal(count_of(json), 1);
	assert_int_equal(sent_of(json, 0), 7);
	assert_string_equal(json_string_value(json_array_get(
				json_array_get(json_object_get(json, "rows"), 0), 0)),
	    "2026-01-31T12:00:00.000Z");
	json_decref(json);
	assert_int_equal(read_influx("{\"results\":[{}]}", &json, &error), 0);
	assert_int_equal(count_of(json), 0);
	assert_false(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
	assert_int_equal(
	    read_influx("{\"results\":[{\"partial\":true}]}", &json, &error), 0);
	assert_true(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
}

static void
malformed_answers_are_refused_with_the_databases_error(void **state)
{
	const char *const bad[] = { "", "[]", "{}", "{\"results\":[]}",
		"{\"results\":[{\"series\":[{}]}]}", ANSWER("[1,2]"), ANSWER("7"),
		ANSWER("[\"today\"," REST), ANSWER("[[1]," REST),
		"{\"results\":[{\"error\":\"database not found\"}]}" };
	struct rm_error error = { 0 };
	json_t *json = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_influx(bad[i], &json, &error), -EBADMSG);
	assert_string_equal(error.text, "it says: database not found");
}

#define SERIES(name, region, values, times)           \
	"{\"metric\":{\"__name__\":\"" name           \
	"\",\"db\":\"rackmesh\",\"region\":\"" region \
	"\",\"scope\":\"rack\"},\"values\":[" values "],\"timestamps\":[" times "]}\n"

static int
read_victoria(const char *body, uint64_t step_s, json_t **ret, struct rm_error *error)
{
	struct past_question q = question("lab", 10, step_s);
	char *text = NULL;
	int r = past_answer_victoria(&q, body, strlen(body), &text, error);

	if (r == 0)
		*ret = json_loads(text, 0, NULL);
	free(text);
	return r;
}

static void
series_of_victoriametrics_become_rows_again(void **state)
{
	static const char body[] =
	    SERIES("rm_sla_sent", "lab", "3,2", "1769860860000,1769860800000")
		SERIES("rm_sla_lost", "lab", "1", "1769860860000")
		    SERIES("rm_sla_sent", "lab2", "7", "1769860860000")
			SERIES("rm_sla_rack_sent", "lab", "9", "1769860860000") SERIES(
			    "rm_sla_rtt_p99_ns", "lab", "2.5e3", "1769860860000");
	struct rm_error error = { 0 };
	json_t *json = NULL, *row;

	assert_int_equal(read_victoria(body, 0, &json, &error), 0);
	assert_int_equal(count_of(json), 3);
	assert_int_equal(sent_of(json, 0), 2);
	assert_true(
	    sent_of(json, 1) + sent_of(json, 2) == 10); /* the two of equal time */
	row = json_array_get(json_object_get(json, "rows"), 0);
	assert_string_equal(json_string_value(json_array_get(row, 1)), "lab");
	assert_string_equal(json_string_value(json_array_get(row, 3)), "rack");
	assert_true(json_is_null(json_array_get(row, 6))); /* column lost */
	json_decref(json);
	assert_int_equal(read_victoria(body, 600, &json, &error), 0);
	assert_int_equal(count_of(json), 1);
	assert_int_equal(sent_of(json, 0), 12);
	json_decref(json);
	assert_int_equal(read_victoria("", 0, &json, &error), 0);
	assert_int_equal(count_of(json), 0);
	json_decref(json);
}

/* A series of `count` samples with value 1, a millisecond apart. The caller frees it.
 */
static char *
long_series(const char *scope, size_t count)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	fprintf(out,
	    "{\"metric\":{\"__name__\":\"rm_sla_sent\",\"scope\":\"%s\"},\"values\":[1",
	    scope);
	for (size_t i = 1; i < count; i++)
		fprintf(out, ",1");
	fprintf(out, "],\"timestamps\":[");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%zu", i > 0 ? "," : "", 1769860800000 + i);
	fprintf(out, "]}\n");
	assert_int_equal(fclose(out), 0);
	return text;
}

static void
all_series_together_are_bounded_unless_they_are_merged(void **state)
{
	char *series[2] = { long_series("rack", PAST_ROWS - 1),
		long_series("fabric", 2) };
	struct rm_error error = { 0 };
	json_t *json = NULL;
	char *body = NULL;

	assert_true(asprintf(&body, "%s%s", series[0], series[1]) > 0);
	assert_int_equal(read_victoria(body, 0, &json, &error), -EMSGSIZE);
	assert_string_equal(error.text, "that is too much: ask for less time");
	assert_int_equal(read_victoria(body, 600, &json, &error), 0);
	assert_int_equal(count_of(json), 1);
	assert_int_equal(sent_of(json, 0), PAST_ROWS + 1);
	json_decref(json);
	free(body);
	free(series[0]);
	free(series[1]);
}

static void
an_answer_that_is_not_an_export_is_refused(void **state)
{
	const char *const bad[] = { "garbage", "[]", "{}\n",
		SERIES("rm_sla_sent", "lab", "3", "1,2"),
		SERIES("rm_sla_sent", "lab", "3", "\"1\""),
		SERIES("rm_sla_sent", "lab", "3", "9223372036854775807") };
	struct rm_error error = { 0 };
	json_t *json = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_victoria(bad[i], 0, &json, &error), -EBADMSG);
}

static void
a_field_that_is_only_read_to_find_tags_is_not_shown(void **state)
{
	static const char influx[] =
	    "{\"results\":[{\"series\":[{\"columns\":[\"time\",\"region\",\"sent\"],"
	    "\"values\":[[1769860800000000000,\"lab\",7]]}]}]}";
	static const char victoria[] =
	    SERIES("rm_sla_sent", "lab", "3", "1769860800000");
	const struct past_parameters given = { .measurement = "rm_sla",
		.from = "2026-01-31T12:00:00Z",
		.to = "2026-01-31T13:00:00Z",
		.columns = "region",
		.limit = 10 };
	struct past_question q;
	struct rm_error error = { 0 };

	assert_int_equal(past_question_make(&given, (rm_wall_t){ 0 }, &q, &error), 0);
	for (int i = 0; i < 2; i++) {
		char *text = NULL;

		assert_int_equal(i == 0 ? past_answer_influx(
					      &q, influx, strlen(influx), &text, &error)
					: past_answer_victoria(&q, victoria,
					      strlen(victoria), &text, &error),
		    0);
		assert_non_null(
		    strstr(text, "\"columns\":[\"time\",\"region\"],\"rows\":"
				 "[[\"2026-01-31T12:00:00.000Z\",\"lab\"]]"));
		free(text);
	}
}

/* The same for files, InfluxDB and VictoriaMetrics. */
static void
rows_of_a_step_are_one_for_each_name_of_a_tag(void **state)
{
	static const char influx[] =
	    "{\"results\":[{\"series\":["
	    "{\"tags\":{\"region\":\"lab\"},\"columns\":[\"time\",\"sent\"],"
	    "\"values\":[[1769860800000000000,5],[1769861400000000000,5]]},"
	    "{\"tags\":{\"region\":\"field\"},\"columns\":[\"time\",\"sent\"],"
	    "\"values\":[[1769860800000000000,9]]}]}]}";
	static const char victoria[] = SERIES(
	    "rm_sla_sent", "lab", "2,3,5", "1769860800000,1769860860000,1769861520000")
	    SERIES("rm_sla_sent", "field", "9", "1769860860000");
	const struct past_parameters given = { .measurement = "rm_sla",
		.from = "2026-01-31T12:00:00Z",
		.to = "2026-01-31T13:00:00Z",
		.columns = "sent",
		.by = "region",
		.step_s = 600 };
	struct past_question q;
	struct rm_error error = { 0 };

	put("incidents.lp",
	    SLA("1769860800", "lab", "2") SLA("1769860860", "lab", "3")
		SLA("1769860860", "field", "9") SLA("1769861520", "lab", "5"));
	assert_int_equal(past_question_make(&given, (rm_wall_t){ 0 }, &q, &error), 0);
	for (int i = 0; i < 3; i++) {
		char *text = NULL;

		assert_int_equal(i == 0   ? past_answer_files(&q, folder, &text, &error)
				 : i == 1 ? past_answer_influx(&q, influx,
						strlen(influx), &text, &error)
					  : past_answer_victoria(&q, victoria,
						strlen(victoria), &text, &error),
		    0);
		assert_non_null(
		    strstr(text, "\"columns\":[\"time\",\"region\",\"sent\"],\"rows\":["
				 "[\"2026-01-31T12:00:00.000Z\",\"field\",9],"
				 "[\"2026-01-31T12:00:00.000Z\",\"lab\",5],"
				 "[\"2026-01-31T12:10:00.000Z\",\"lab\",5]],"
				 "\"truncated\":false"));
		free(text);
	}
}

/* One step for each second of an hour, with more tag names than an answer may have. */
static void
names_of_a_tag_are_bounded(void **state)
{
	const struct past_parameters given = { .measurement = "rm_sla",
		.from = "2026-01-31T12:00:00Z",
		.to = "2026-01-31T13:00:00Z",
		.by = "region",
		.step_s = 1 };
	struct past_question q;
	struct rm_error error = { 0 };
	char *text = NULL, lines[32 * 128];
	size_t len = 0;

	for (int i = 0; i < 32; i++)
		len += (size_t)snprintf(lines + len, sizeof(lines) - len,
		    "rm_sla,region=r%d,aggregator=an1,scope=rack,dscp=26 sent=1i "
		    "1769860800000000000\n",
		    i);
	put("incidents.lp", lines);
	assert_int_equal(past_question_make(&given, (rm_wall_t){ 0 }, &q, &error), 0);
	assert_int_equal(past_answer_files(&q, folder, &text, &error), 0);
	assert_non_null(strstr(text, "\"truncated\":true"));
	free(text);
}

/* InfluxDB sends one name after the other, each with all its steps. */
static void
rows_for_many_names_end_at_a_time_and_not_at_a_name(void **state)
{
	enum { NAMES = 100, STEPS = 600, KEPT = STEPS / 2 };
	const struct past_parameters given = { .measurement = "rm_sla",
		.from = "2026-01-31T12:00:00Z",
		.to = "2026-01-31T12:10:00Z",
		.columns = "sent",
		.by = "region",
		.limit = PAST_ROWS,
		.step_s = 1 };
	struct past_question q;
	struct rm_error error = { 0 };
	char *text = NULL, *body = NULL, last[80];
	size_t len;
	FILE *out = open_memstream(&body, &len);
	json_t *json;

	fprintf(out, "{\"results\":[{\"series\":[");
	for (int i = 0; i < NAMES; i++) {
		fprintf(out,
		    "%s{\"tags\":{\"region\":\"r%d\"},\"columns\":[\"time\",\"sent\"],"
		    "\"values\":[[1769860800000000000,1]",
		    i > 0 ? "," : "", i);
		for (int k = 1; k < STEPS; k++)
			fprintf(out, ",[%d000000000,1]", 1769860800 + k);
		fprintf(out, "]}");
	}
	fprintf(out, "]}]}");
	assert_int_equal(fclose(out), 0);
	assert_int_equal(past_question_make(&given, (rm_wall_t){ 0 }, &q, &error), 0);
	assert_int_equal(past_answer_influx(&q, body, len, &text, &error), 0);
	json = json_loads(text, 0, NULL);
	assert_true(json_is_true(json_object_get(json, "truncated")));
	assert_int_equal(count_of(json), NAMES * KEPT);
	snprintf(last, sizeof(last), "2026-01-31T12:%02d:%02d.000Z", (KEPT - 1) / 60,
	    (KEPT - 1) % 60);
	assert_string_equal(
	    json_string_value(json_array_get(
		json_array_get(json_object_get(json, "rows"), NAMES * KEPT - 1), 0)),
	    last);
	json_decref(json);
	free(text);
	free(body);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_of_files_come_by_time_each_once_and_torn_lines_not_at_all),
		TEST(more_rows_than_asked_for_are_reported),
		TEST(rows_of_a_step_are_one_for_each_name_of_a_tag),
		TEST(names_of_a_tag_are_bounded),
		TEST(rows_for_many_names_end_at_a_time_and_not_at_a_name),
		TEST(rows_of_a_step_are_merged_and_a_repeated_line_counts_once),
		TEST(files_last_written_before_that_time_are_not_read),
		TEST(files_that_rotate_while_they_are_read_are_all_read),
		TEST(a_folder_without_files_holds_nothing),
		TEST(rows_of_influxdb_are_those_of_files),
		TEST(malformed_answers_are_refused_with_the_databases_error),
		TEST(series_of_victoriametrics_become_rows_again),
		TEST(a_field_that_is_only_read_to_find_tags_is_not_shown),
		TEST(all_series_together_are_bounded_unless_they_are_merged),
		TEST(an_answer_that_is_not_an_export_is_refused),
	};

	return cmocka_run_group_tests_name("past_answer", tests, NULL, NULL);
}
