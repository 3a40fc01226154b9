/* What was, from files of line protocol. */
#include "ctl/history/history_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <unistd.h>

#include "ctl/client/ctl.h"
#include "ctl/history/history_source.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/file.h"

#define NOW INT64_C(1767225600000000000)
#define MINUTE (60 * RM_NS_PER_S)

/* usage is in main.c */
int
ctl_usage(const char *format, ...)
{
	return CTL_USAGE;
}

static void
put_file(const char *folder, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(rm_file_replace(path, (const uint8_t *)text, strlen(text)), 0);
}

/* What print writes, as JSON; the caller's. */
static json_t *
printed(struct history_rows *rows, int expected)
{
	int out = dup(STDOUT_FILENO), status;
	FILE *file = tmpfile();
	json_t *json;

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	status = history_rows_print(rows, true);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	assert_int_equal(status, expected);
	rewind(file);
	json = json_loadf(file, 0, NULL);
	fclose(file);
	assert_non_null(json);
	return json;
}

static long long
number(const json_t *json, const char *list, size_t i, const char *key)
{
	return json_integer_value(
	    json_object_get(json_array_get(json_object_get(json, list), i), key));
}

static void
points_of_files_are_counted_once(void **state)
{
	const struct history_subject rnic = {
		.text = "h1/r0", .host = "h1", .device = "r0"
	};
	char folder[] = "/tmp/rm-ctl-history-XXXXXX", command[64], text[2048];
	struct history_rows *rows;
	json_t *json;

	assert_non_null(mkdtemp(folder));
	snprintf(text, sizeof(text),
	    "rm_rnic,host=h1,device=r0 sent=10i,no_reply=1i,rtt_p99_ns=7i %lld\n"
	    "rm_rnic,host=h1,device=r0 sent=10i,no_reply=1i,rtt_p99_ns=7i %lld\n"
	    "rm_rnic,host=h1,device=r1 sent=99i,no_reply=1i %lld\n"
	    "no point at all\n"
	    "rm_rnic,host=h1,device=r0 sent=5i,no_reply=0i,rtt_p99_ns=9i %lld\n"
	    "rm_rnic,host=h1,device=r0 sent=5i,no_re",
	    (long long)(NOW - 10 * MINUTE), (long long)(NOW - 10 * MINUTE),
	    (long long)(NOW - 10 * MINUTE), (long long)(NOW - 5 * MINUTE));
	put_file(folder, "rackmesh.lp", text);
	snprintf(text, sizeof(text),
	    "rm_rnic,host=h1,device=r0 sent=1i,no_reply=0i %lld\n"
	    "rm_rnic,host=h1,device=r0 sent=77i,no_reply=0i %lld\n",
	    (long long)(NOW - 20 * MINUTE), (long long)(NOW - 20000 * MINUTE));
	put_file(folder, "rackmesh.lp.1", text);
	snprintf(text, sizeof(text),
	    "rm_incident,part=h1/r0\\ or\\ h2/r0,tor=t1 id=\"1\",state=\"opened\","
	    "kind=\"rnic-down\",sentence=\"dead\" %lld\n"
	    "rm_incident,part=h11/r0,tor=t1 id=\"2\",state=\"opened\" %lld\n",
	    (long long)(NOW - 7 * MINUTE), (long long)(NOW - 7 * MINUTE));
	put_file(folder, "incidents.lp", text);

	rows = history_rows_new(&rnic, NOW, 60 * MINUTE);
	assert_int_equal(history_from_files(folder, &rnic, rows), 0);
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 3);
	assert_int_equal(number(json, "rows", 0, "sent"), 1);
	assert_int_equal(number(json, "rows", 1, "sent"), 10);
	assert_int_equal(number(json, "rows", 1, "lost"), 1);
	assert_int_equal(number(json, "rows", 2, "rtt_p99_ns"), 9);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 1);
	json_decref(json);
	history_rows_free(rows);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void
of_too_many_incidents_the_oldest_are_left_out(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, NOW, 60 * MINUTE);
	struct history_incident incident = { .state = "opened",
		.kind = "rnic-down",
		.part = "h1/r0",
		.place = "",
		.tor = "t1",
		.sentence = "\033[2J" };
	const json_t *list, *last;
	char id[16];
	json_t *json;

	incident.id = id;
	/* A database says the newest first. */
	for (int i = HISTORY_INCIDENTS + 2; i > 0; i--) {
		snprintf(id, sizeof(id), "%d", i);
		incident.when_ns = NOW - 59 * MINUTE + i;
		assert_int_equal(history_rows_incident(rows, &incident), 0);
	}
	json = printed(rows, CTL_GOOD);
	list = json_object_get(json, "incidents");
	assert_int_equal(json_array_size(list), HISTORY_INCIDENTS);
	last = json_array_get(list, HISTORY_INCIDENTS - 1);
	snprintf(id, sizeof(id), "%d", HISTORY_INCIDENTS + 2);
	assert_string_equal(json_string_value(json_object_get(last, "id")), id);
	assert_string_equal(
	    json_string_value(json_object_get(last, "sentence")), "?[2J");
	assert_int_equal(
	    json_integer_value(json_object_get(json, "incidents_left_out")), 2);
	json_decref(json);
	history_rows_free(rows);
}

static void
of_what_nothing_is_known_is_bad_news(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, NOW, 60 * MINUTE);
	json_t *json = printed(rows, CTL_BAD_NEWS);

	json_decref(json);
	assert_true(history_from_files("/nonexistent", &tor, rows) < 0);
	history_rows_free(rows);
}

static void
parts_hold_whole_names(void **state)
{
	assert_true(history_part_holds("h1/r0", "h1/r0"));
	assert_true(history_part_holds("h1/r0 or h2/r0", "h2/r0"));
	assert_true(history_part_holds("spine1--tor-2", "tor-2"));
	assert_true(history_part_holds("tor1->tor2", "tor1"));
	assert_false(history_part_holds("tor-12", "tor-1"));
	assert_false(history_part_holds("h11/r0", "h1/r0"));
	assert_false(history_part_holds("tor-1-2", "tor-1"));
	assert_false(history_part_holds("tor1", ""));
}

static void
durations_are_read_as_the_database_writes_them(void **state)
{
	assert_true(history_duration_ns("14d") == 14 * 86400 * RM_NS_PER_S);
	assert_true(history_duration_ns("336h0m0s") == history_duration_ns("2w"));
	assert_int_equal(history_duration_ns("5"), -1);
	assert_int_equal(history_duration_ns(""), -1);
	assert_int_equal(history_duration_ns("-5m"), -1);
	assert_int_equal(history_duration_ns("99999999d"), -1);
	assert_int_equal(history_duration_ns("5y"), -1);
}

static void
long_times_are_cut_into_few_buckets(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	static const long long minutes[] = { 1, 60, 1440, 20160, 1440 * 3650 };

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		struct history_rows *rows =
		    history_rows_new(&tor, NOW, minutes[i] * MINUTE);
		json_t *json;

		history_rows_add(rows, NOW, 1, 0, 0, 0);
		history_rows_add(rows, NOW - minutes[i] * MINUTE, 2, 0, 0, 0);
		history_rows_add(rows, NOW - minutes[i] * MINUTE * 3, 4, 0, 0, 0);
		json = printed(rows, CTL_GOOD);
		assert_int_equal(number(json, "rows", 0, "sent"), 2);
		assert_int_equal(number(json, "rows", 1, "sent"), 1);
		json_decref(json);
		history_rows_free(rows);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_of_files_are_counted_once),
		cmocka_unit_test(of_too_many_incidents_the_oldest_are_left_out),
		cmocka_unit_test(of_what_nothing_is_known_is_bad_news),
		cmocka_unit_test(parts_hold_whole_names),
		cmocka_unit_test(durations_are_read_as_the_database_writes_them),
		cmocka_unit_test(long_times_are_cut_into_few_buckets),
	};

	return cmocka_run_group_tests_name("ctl_history", tests, NULL, NULL);
}
