/* What the history commands print for answers of the analyzer. */
#include "ctl/history/history_rows.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/client/ctl.h"
#include "ctl/client/duration.h"
#include "ctl/history/history_init.h"
#include "ctl/history/history_paths.h"
#include "ctl/history/influx.h"
#include "ctl/history/past_incident.h"
#include "rackmesh/core/clock.h"
#include "tests/support/loopback.h"

#define NOW INT64_C(1767225600000000000)
#define MINUTE (60 * RM_NS_PER_S)

/* stands for the function in main.c */
int
ctl_usage(const char *format, ...)
{
	return CTL_USAGE;
}

/* What history_rows_print writes, as JSON that the caller frees. */
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

static const struct history_span hour = { NOW - 60 * MINUTE, NOW, MINUTE };

static void
put_time(char text[RM_WALL_TEXT], int64_t ns)
{
	rm_wall_format((rm_wall_t){ ns }, text);
}

static void
take_probes(struct history_rows *rows, int64_t when_ns, int sent, int lost)
{
	char when[RM_WALL_TEXT];
	json_t *answer;

	put_time(when, when_ns);
	answer = json_pack("{s:[s,s,s,s,s], s:[[s,i,i,n,n]]}", "columns", "time",
	    "sent", "no_reply", "rtt_p50_ns", "rtt_p99_ns", "rows", when, sent, lost);
	assert_non_null(answer);
	assert_int_equal(history_rows_take_probes(rows, answer), 0);
	json_decref(answer);
}

static void
take_incident(struct history_rows *rows, int64_t when_ns, const char *id,
    const char *state, const char *part)
{
	char when[RM_WALL_TEXT];
	json_t *answer;

	put_time(when, when_ns);
	answer = json_pack("{s:[s,s,s,s,s,s,s,s], s:[[s,s,s,s,s,n,s,s]]}", "columns",
	    "time", "id", "state", "kind", "part", "place", "tor", "sentence", "rows",
	    when, id, state, "rnic-down", part, "t1", "\033[2J");
	assert_non_null(answer);
	assert_int_equal(history_rows_take_incidents(rows, answer, INT64_MAX), 0);
	json_decref(answer);
}

static void
steps_and_incidents_of_the_subject_are_reported(void **state)
{
	const struct history_subject rnic = {
		.text = "h1/r0", .host = "h1", .device = "r0"
	};
	struct history_rows *rows = history_rows_new(&rnic, &hour);
	json_t *json;

	take_probes(rows, NOW - 10 * MINUTE, 20, 2);
	take_probes(rows, NOW - 5 * MINUTE, 5, 0);
	take_probes(rows, NOW - 5000 * MINUTE, 7, 0);
	take_incident(rows, NOW - 7 * MINUTE, "1", "opened", "h1/r0 or h2/r0");
	take_incident(rows, NOW - 7 * MINUTE, "2", "opened", "h11/r0");
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 2);
	assert_int_equal(number(json, "rows", 0, "sent"), 20);
	assert_int_equal(number(json, "rows", 0, "lost"), 2);
	assert_int_equal(number(json, "rows", 0, "rtt_p99_ns"), 0);
	assert_int_equal(number(json, "rows", 1, "sent"), 5);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 1);
	json_decref(json);
	history_rows_free(rows);
}

/* A dead RNIC in either rack loses probes of the pair. */
static void
incidents_of_both_racks_of_a_pair_are_reported(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		struct history_subject pair = { .text = "a pair" };
		struct history_rows *rows;
		json_t *json;

		strcpy(pair.tor, i == 0 ? "t1" : "t9");
		strcpy(pair.dst_tor, i == 0 ? "t9" : "t1");
		rows = history_rows_new(&pair, &hour);
		take_incident(rows, NOW - 7 * MINUTE, "1", "opened", "h1/r0");
		json = printed(rows, CTL_GOOD);
		assert_int_equal(
		    json_array_size(json_object_get(json, "incidents")), 1);
		json_decref(json);
		history_rows_free(rows);
		strcpy(pair.tor, "t8");
		strcpy(pair.dst_tor, "t2");
		rows = history_rows_new(&pair, &hour);
		take_incident(rows, NOW - 7 * MINUTE, "1", "opened", "h1/r0");
		json_decref(printed(rows, CTL_PROBLEM));
		history_rows_free(rows);
	}
}

static void
the_name_of_a_host_finds_incidents_of_its_rnics(void **state)
{
	const struct history_subject host = { .text = "h2", .tor = "h2" };
	struct history_rows *rows = history_rows_new(&host, &hour);
	json_t *json;

	take_incident(rows, NOW - 9 * MINUTE, "1", "opened", "h1/r0 or h2/r0");
	take_incident(rows, NOW - 8 * MINUTE, "2", "opened", "h2/r1");
	take_incident(rows, NOW - 7 * MINUTE, "3", "opened", "h2");
	take_incident(rows, NOW - 6 * MINUTE, "4", "opened", "h22/r0");
	take_incident(rows, NOW - 5 * MINUTE, "5", "opened", "hh2/r0 or h1/r0");
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 3);
	json_decref(json);
	history_rows_free(rows);
}

static const char *
gap(const json_t *json, size_t i, const char *key)
{
	return json_string_value(
	    json_object_get(json_array_get(json_object_get(json, "gaps"), i), key));
}

/* Minutes without data must not look like minutes without losses. */
static void
a_time_without_data_is_reported(void **state)
{
	const struct history_subject all = {
		.text = "r1", .whole = false, .tor = "t1"
	};
	struct history_rows *rows = history_rows_new(&all, &hour);
	char at[RM_WALL_TEXT];
	json_t *json;

	take_probes(rows, NOW - 60 * MINUTE, 20, 0);
	take_probes(rows, NOW - 58 * MINUTE, 20, 0); /* one missing minute is no gap */
	take_probes(rows, NOW - 30 * MINUTE, 20, 0);
	take_probes(
	    rows, NOW - 2 * MINUTE, 20, 0); /* the last minute may still arrive */
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "gaps")), 2);
	put_time(at, NOW - 57 * MINUTE);
	assert_string_equal(gap(json, 0, "from"), at);
	put_time(at, NOW - 30 * MINUTE);
	assert_string_equal(gap(json, 0, "to"), at);
	put_time(at, NOW - 2 * MINUTE);
	assert_string_equal(gap(json, 1, "to"), at);
	json_decref(json);
	history_rows_free(rows);
	rows = history_rows_new(&all, &hour);
	take_probes(rows, NOW - 30 * MINUTE, 20, 0);
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "gaps")), 2);
	put_time(at, NOW - 60 * MINUTE);
	assert_string_equal(gap(json, 0, "from"), at);
	put_time(at, NOW);
	assert_string_equal(gap(json, 1, "to"), at);
	json_decref(json);
	history_rows_free(rows);
}

static void
paths_that_lost_most_come_first(void **state)
{
	json_t *answer = json_pack("{s:[s,s,s,s,s,s,s,s], s:[[s,i,i,i,i,i,i,s],"
				   "[s,i,i,i,i,i,i,s],[s,i,n,n,n,n,n,s],"
				   "[s,i,i,i,i,i,i,s],[s,i,i,i,i,i,i,s]]}",
	    "columns", "time", "sent", "lost_forward", "lost_reverse", "lost_unknown",
	    "arrived", "congested", "path", "rows", "2026-01-01T00:00:00Z", 100, 0, 0,
	    0, 100, 2, "a", "x", 100, 1, 2, 3, 94, 1, "b", "x", 50, "a", "x", 100, 4, 0,
	    0, 96, 3, "b", "x", 100, 0, 0, 0, 100, 5, "c");
	json_t *paths = history_paths(answer);

	assert_int_equal(json_array_size(paths), 3);
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(paths, 0), "arrived")),
	    190);
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(paths, 0), "congested")),
	    4);
	assert_string_equal(/* of those that lost nothing, the most marked first */
	    json_string_value(json_object_get(json_array_get(paths, 1), "path")), "c");
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(paths, 0), "path")), "b");
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(paths, 0), "sent")), 200);
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(paths, 0), "lost")), 10);
	assert_int_equal(
	    json_integer_value(json_object_get(json_array_get(paths, 2), "sent")), 150);
	json_decref(paths);
	json_object_clear(answer);
	assert_null(history_paths(answer));
	json_decref(answer);
}

/* The path lost 1 of 2 probes in the one row that is stored, and the pair 1 of 1000. */
static void
losses_of_a_path_are_a_share_of_all_probes_of_the_pair(void **state)
{
	json_t *paths = json_pack("[{s:s, s:i, s:i, s:i, s:i}]", "path", "a", "sent", 2,
	    "lost", 1, "arrived", 1, "congested", 1);
	char printed[512] = "";
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO);

	assert_non_null(file);
	fflush(stdout);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	assert_int_equal(history_paths_print(paths, 1000), 0);
	fflush(stdout);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	close(out);
	rewind(file);
	assert_true(fread(printed, 1, sizeof(printed) - 1, file) > 0);
	fclose(file);
	assert_non_null(strstr(printed, "% OF PAIR"));
	assert_non_null(strstr(printed, " 0.1000 "));
	assert_null(strstr(printed, "50.0"));
	json_decref(paths);
}

static void
paths_of_an_older_analyzer_have_no_marks(void **state)
{
	json_t *answer = json_pack("{s:[s,s,s,s,s,s], s:[[s,i,i,i,i,s]]}", "columns",
	    "time", "sent", "lost_forward", "lost_reverse", "lost_unknown", "path",
	    "rows", "2026-01-01T00:00:00Z", 100, 1, 2, 3, "a");
	json_t *paths = history_paths(answer);
	const json_t *path = json_array_get(paths, 0);

	assert_int_equal(json_array_size(paths), 1);
	assert_int_equal(json_integer_value(json_object_get(path, "lost")), 6);
	assert_int_equal(json_integer_value(json_object_get(path, "arrived")), 0);
	json_decref(paths);
	json_decref(answer);
}

static const char *
member(const json_t *json, size_t i, const char *key)
{
	return json_string_value(json_object_get(
	    json_array_get(json_object_get(json, "incidents"), i), key));
}

static void
incidents_of_before_are_shown_only_if_they_were_still_open(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	json_t *json;

	take_incident(rows, NOW - 200 * MINUTE, "1", "opened", "h1/r0");
	take_incident(rows, NOW - 180 * MINUTE, "2", "opened", "h2/r0");
	take_incident(rows, NOW - 170 * MINUTE, "2", "updated", "h2/r0");
	take_incident(rows, NOW - 160 * MINUTE, "1", "resolved", "h1/r0");
	take_incident(rows, NOW - 30 * MINUTE, "2", "resolved", "h2/r0");
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 2);
	assert_string_equal(member(json, 0, "id"), "2");
	assert_string_equal(member(json, 0, "state"), "updated");
	assert_string_equal(member(json, 1, "state"), "resolved");
	json_decref(json);
	history_rows_free(rows);
}

static void
take_between_racks(struct history_rows *rows, int64_t when_ns, const char *id,
    const char *kind, const char *part_type, const char *part, const char *links)
{
	char when[RM_WALL_TEXT];
	json_t *answer;

	put_time(when, when_ns);
	answer = json_pack("{s:[s,s,s,s,s,s,s], s:[[s,s,s,s?,s,s,s?]]}", "columns",
	    "time", "id", "state", "kind", "part_type", "part", "links", "rows", when,
	    id, strcmp(id, "1") == 0 ? "updated" : "opened", kind, part_type, part,
	    links);
	assert_non_null(answer);
	assert_int_equal(history_rows_take_incidents(rows, answer, INT64_MAX), 0);
	json_decref(answer);
}

/* The rows of a ToR: of an incident of several links of a switch, of which later only
 * two are left, and of switches. */
static json_t *
between_racks(const char *name, bool probes, size_t expected)
{
	struct history_subject tor = { .text = name };
	struct history_rows *rows;
	json_t *json;

	strcpy(tor.tor, name);
	rows = history_rows_new(&tor, &hour);
	if (probes)
		take_probes(rows, NOW - 10 * MINUTE, 20, 2);
	take_between_racks(rows, NOW - 9 * MINUTE, "1", "links-down", "link", "s1--t1",
	    "s1--t1, s1->t2, s1--t3");
	take_between_racks(rows, NOW - 8 * MINUTE, "1", "links-down", "link", "s1--t1",
	    "s1--t1, s1--t3");
	take_between_racks(rows, NOW - 7 * MINUTE, "2", NULL, "switch", "s2", NULL);
	take_between_racks(rows, NOW - 6 * MINUTE, "3", "links-lossy", "switch", "s3",
	    "s3--t7, s3--t8, s3--t9");
	take_between_racks(
	    rows, NOW - 5 * MINUTE, "4", "link-down", "link", "s4--t9", NULL);
	json = printed(rows, expected > 0 || probes ? CTL_GOOD : CTL_PROBLEM);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), expected);
	history_rows_free(rows);
	return json;
}

static void
the_past_of_a_rack_has_the_incidents_of_its_links_and_of_switches(void **state)
{
	json_t *json = between_racks("t2", true, 3);

	assert_string_equal(member(json, 0, "id"), "1");
	assert_string_equal(member(json, 1, "id"), "1");
	assert_string_equal(member(json, 2, "id"), "2");
	json_decref(json);
	json = between_racks("t7", true, 2);
	assert_string_equal(member(json, 0, "id"), "2");
	assert_string_equal(member(json, 1, "id"), "3");
	json_decref(json);
	json_decref(between_racks("t4", true, 1));
	/* The name is that of a switch, not of a rack. */
	json = between_racks("s3", false, 1);
	assert_string_equal(member(json, 0, "id"), "3");
	json_decref(json);
}

/* An incident that began on one link keeps its part when the switch dies; a list of
 * links that is not complete is not written. */
static void
an_incident_of_one_link_that_is_now_of_its_switch_concerns_every_rack(void **state)
{
	static const char *const kinds[] = { "switch-down", "switch-lossy",
		"links-down" };
	const struct history_subject tor = { .text = "t9", .tor = "t9" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct history_rows *rows = history_rows_new(&tor, &hour);
		json_t *json;

		take_probes(rows, NOW - 10 * MINUTE, 20, 2);
		take_between_racks(rows, NOW - 9 * MINUTE, "1", "links-down", "link",
		    "s1--t1", "s1--t1, s1--t2, s1--t3");
		take_between_racks(
		    rows, NOW - 8 * MINUTE, "1", kinds[i], "link", "s1--t1", NULL);
		json = printed(rows, CTL_GOOD);
		assert_int_equal(
		    json_array_size(json_object_get(json, "incidents")), 1);
		assert_string_equal(member(json, 0, "kind"), kinds[i]);
		json_decref(json);
		history_rows_free(rows);
	}
}

static void
regions_of_a_name_are_found_once_each(void **state)
{
	json_t *answer = json_pack("{s:[s,s,s], s:[[s,i,s],[s,i,s],[s,i,s],[s,i,n]]}",
	    "columns", "time", "sent", "region", "rows", "x", 1, "north", "x", 1, "lab",
	    "x", 1, "north", "x", 1);
	struct history_regions regions;

	assert_non_null(answer);
	history_regions_read(answer, &regions);
	assert_int_equal(regions.count, 2);
	assert_string_equal(regions.names[0], "north");
	assert_string_equal(regions.names[1], "lab");
	json_decref(answer);
	/* An older analyzer does not know ?by=. */
	answer = json_pack(
	    "{s:[s,s], s:[[s,i]]}", "columns", "time", "sent", "rows", "x", 1);
	history_regions_read(answer, &regions);
	assert_int_equal(regions.count, 0);
	json_decref(answer);
	history_regions_read(NULL, &regions);
	assert_int_equal(regions.count, 0);
}

/* An answer of VictoriaMetrics, which stores no strings. */
static void
take_without_id(
    struct history_rows *rows, int64_t when_ns, int64_t opened_ns, const char *state)
{
	char when[RM_WALL_TEXT];
	json_t *answer;

	put_time(when, when_ns);
	answer = json_pack("{s:[s,s,s,s,s,s,s], s:[[s,n,s,n,s,I,n]]}", "columns",
	    "time", "id", "state", "kind", "part", "opened_ns", "sentence", "rows",
	    when, state, "h1/r0--t1", (json_int_t)opened_ns);
	assert_non_null(answer);
	assert_int_equal(history_rows_take_incidents(rows, answer, INT64_MAX), 0);
	json_decref(answer);
}

static void
openings_without_ids_are_distinguished_by_part_and_time(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	json_t *json;

	take_without_id(rows, NOW - 200 * MINUTE, NOW - 200 * MINUTE, "opened");
	take_without_id(rows, NOW - 180 * MINUTE, NOW - 180 * MINUTE, "opened");
	take_without_id(rows, NOW - 170 * MINUTE, NOW - 180 * MINUTE, "resolved");
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 1);
	assert_string_equal(member(json, 0, "state"), "opened");
	json_decref(json);
	history_rows_free(rows);
}

static void
with_too_many_incidents_the_oldest_are_left_out(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	char id[16];
	json_t *json;

	for (int i = 1; i <= HISTORY_INCIDENTS + 2; i++) {
		snprintf(id, sizeof(id), "%d", i);
		take_incident(
		    rows, NOW - 59 * MINUTE + i * RM_NS_PER_MS, id, "opened", "h1/r0");
	}
	json = printed(rows, CTL_GOOD);
	assert_int_equal(
	    json_array_size(json_object_get(json, "incidents")), HISTORY_INCIDENTS);
	assert_string_equal(member(json, HISTORY_INCIDENTS - 1, "id"), id);
	assert_string_equal(member(json, HISTORY_INCIDENTS - 1, "sentence"), "?[2J");
	assert_int_equal(
	    json_integer_value(json_object_get(json, "incidents_left_out")), 2);
	json_decref(json);
	history_rows_free(rows);
}

/* An incident from long before is found by its end, or is still open. Incidents of the
 * day before are found by their openings. */
static void
an_incident_opened_days_before_is_found_by_its_end(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	json_t *json, *answer;

	answer = json_pack("{s:[s,s,s,s,s], s:[[s,s,s,s,I],[s,s,s,s,I],[s,s,s,s,I]]}",
	    "columns", "id", "state", "part", "tor", "opened_ns", "rows", "1",
	    "resolved", "h1/r0", "t1", (json_int_t)(NOW - 3000 * MINUTE), "2",
	    "resolved", "h2/r0", "t1", (json_int_t)(NOW - 100 * MINUTE), "3",
	    "resolved", "h3/r0", "t2", (json_int_t)(NOW - 3000 * MINUTE));
	for (int i = 0; i < 2; i++)
		assert_int_equal(history_rows_take_older(rows, answer), 0);
	json_decref(answer);
	answer = json_object();
	assert_int_equal(history_rows_take_older(rows, answer), -EBADMSG);
	json_decref(answer);
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 1);
	assert_string_equal(member(json, 0, "id"), "1");
	assert_string_equal(member(json, 0, "state"), "opened");
	json_decref(json);
	history_rows_free(rows);
}

static const char *
text_at(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

/* In rows of a region the column of losses is "lost", in those of a rack "no_reply". */
static void
of_a_whole_region_all_incidents_are_reported(void **state)
{
	const struct history_subject region = { .text = "lab", .whole = true };
	struct history_rows *rows = history_rows_new(&region, &hour);
	json_t *json, *answer;

	answer = json_pack("{s:[s,s,s,s,s], s:[[s,i,i,n,n]]}", "columns", "time",
	    "sent", "lost", "rtt_p50_ns", "rtt_p99_ns", "rows",
	    "2025-12-31T23:57:00.000Z", 6, 2);
	assert_int_equal(history_rows_take_probes(rows, answer), 0);
	json_decref(answer);
	take_incident(rows, NOW - 7 * MINUTE, "1", "opened", "h1/r0");
	take_incident(rows, NOW - 6 * MINUTE, "2", "opened", "spine1--tor2");
	json = printed(rows, CTL_GOOD);
	assert_int_equal(number(json, "rows", 0, "lost"), 2);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 2);
	json_decref(json);
	history_rows_free(rows);
}

/* The incident has the form in which the analyzer shows incidents that it still knows.
 */
static void
of_an_incident_in_the_history_the_last_state_is_shown(void **state)
{
	const json_int_t opened_ns = INT64_C(1767225421000000000);
	json_t *incident,
	    *answer =
		json_pack("{s:[s,s,s,s,s,s,s], s:[[s,s,s,s,I,s,n],[s,s,s,s,I,s,s]]}",
		    "columns", "time", "id", "state", "kind", "opened_ns", "aggregator",
		    "evidence", "rows", "2025-12-31T23:57:01.000Z", "2a", "opened",
		    "rnic-down", opened_ns, "agg", "2025-12-31T23:58:00.000Z", "2a",
		    "resolved", "rnic-lossy", opened_ns, "agg",
		    "{\"evidence\":{\"observed\":\"it \\u001b[2J\"}}");

	assert_non_null(answer);
	incident = past_incident_read(answer);
	json_decref(answer);
	assert_non_null(incident);
	assert_string_equal(text_at(incident, "state"), "resolved");
	assert_string_equal(text_at(incident, "kind"), "rnic-lossy");
	assert_true(json_is_null(json_object_get(incident, "began")));
	assert_string_equal(text_at(incident, "opened"), "2025-12-31T23:57:01.000Z");
	assert_string_equal(text_at(incident, "resolved"), "2025-12-31T23:58:00.000Z");
	assert_string_equal(
	    text_at(json_object_get(incident, "evidence"), "observed"), "it ?[2J");
	json_decref(incident);
	answer = json_pack("{s:[], s:[]}", "columns", "rows");
	assert_null(past_incident_read(answer));
	json_decref(answer);
}

static void
other_openings_of_a_part_are_counted_once_each(void **state)
{
	json_t *list,
	    *answer = json_pack("{s:[s,s,s], s:[[s,s,I],[s,s,I],[n,s,I],[n,s,I],"
				"[s,s,I],[s,s,I]]}",
		"columns", "id", "kind", "opened_ns", "rows", "1", "rnic-down",
		(json_int_t)1000000000, "1", "rnic-down", (json_int_t)2000000000, "",
		(json_int_t)3000000000, "", (json_int_t)3000000000, "2a", "rnic-down",
		(json_int_t)4000000000, "3", "rnic-down", (json_int_t)5000000000);

	assert_non_null(answer);
	list = past_incident_openings(answer, "2a");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(text_at(json_array_get(list, 0), "id"), "3");
	assert_string_equal(text_at(json_array_get(list, 2), "id"), "1");
	json_decref(list);
	json_decref(answer);
	answer = json_object();
	assert_null(past_incident_openings(answer, "2a"));
	json_decref(answer);
}

static void
a_subject_without_history_gives_exit_status_1(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	json_t *json = printed(rows, CTL_PROBLEM);

	json_decref(json);
	history_rows_free(rows);
}

static void
malformed_answers_are_refused(void **state)
{
	static const char *const bad[] = { "[]", "{}", "{\"columns\":[]}",
		"{\"columns\":[\"time\"],\"rows\":[[7]]}",
		"{\"columns\":[\"time\"],\"rows\":[[\"today\"]]}",
		"{\"columns\":[],\"rows\":[7]}" };
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *answer = json_loads(bad[i], 0, NULL);

		assert_true(history_rows_take_probes(rows, answer) < 0);
		assert_int_equal(
		    history_rows_take_incidents(rows, answer, NOW), -EBADMSG);
		json_decref(answer);
	}
	history_rows_free(rows);
}

#define STEPS(columns)                                                             \
	"{\"columns\":[\"time\"," columns                                          \
	"],\"truncated\":true,\"rows\":[[\"2025-12-31T"                            \
	"23:5%d:0%d.000Z\",5,0,null,null],[\"2025-12-31T23:57:00.000Z\",6,0,null," \
	"null]]}"
#define COLUMNS "\"sent\",\"no_reply\",\"rtt_p50_ns\",\"rtt_p99_ns\""

static int
take_steps(struct history_rows *rows, const char *format, int minute, int second)
{
	char text[512];
	json_t *answer;
	int r;

	snprintf(text, sizeof(text), format, minute, second);
	answer = json_loads(text, 0, NULL);
	assert_non_null(answer);
	r = history_rows_take_probes(rows, answer);
	json_decref(answer);
	return r;
}

static void
rows_that_are_no_steps_are_refused(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	json_t *json;

	/* The answer of an older analyzer, which has no steps. */
	assert_int_equal(take_steps(rows, STEPS(COLUMNS), 6, 5), -EPROTO);
	assert_int_equal(take_steps(rows, STEPS(COLUMNS), 7, 0), -EPROTO);
	assert_int_equal(
	    take_steps(rows, STEPS("\"dst_tor\"," COLUMNS), 6, 0), -EPROTO);
	assert_int_equal(take_steps(rows, STEPS(COLUMNS), 6, 0), 0);
	json = printed(rows, CTL_GOOD);
	assert_true(json_is_true(json_object_get(json, "truncated")));
	json_decref(json);
	history_rows_free(rows);
}

static void
incidents_that_come_again_are_reported_once(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	struct history_rows *rows = history_rows_new(&tor, &hour);
	const int64_t last = NOW - 10 * MINUTE;
	json_t *json, *answer;
	char when[RM_WALL_TEXT];

	put_time(when, last);
	for (int i = 0; i < 2; i++) {
		answer = json_pack("{s:[s,s,s,s], s:[[s,s,s,s]]}", "columns", "time",
		    "id", "state", "tor", "rows", when, "1", "opened", "t1");
		assert_int_equal(history_rows_take_incidents(
				     rows, answer, i == 0 ? last : INT64_MAX),
		    0);
		json_decref(answer);
	}
	json = printed(rows, CTL_GOOD);
	assert_int_equal(json_array_size(json_object_get(json, "incidents")), 1);
	json_decref(json);
	history_rows_free(rows);
}

static void
whole_buckets_do_not_exceed_four_hundred_days(void **state)
{
	const struct history_span span = history_span(NOW, 400 * 1440 * MINUTE);

	assert_true(span.to_ns - span.from_ns <= 400 * 1440 * MINUTE);
	assert_true(span.from_ns % span.bucket_ns == 0);
}

static void
names_are_matched_as_a_whole_within_parts(void **state)
{
	assert_true(history_part_holds("h1/r0", "h1/r0"));
	assert_true(history_part_holds("h1/r0 or h2/r0", "h2/r0"));
	assert_true(history_part_holds("spine1--tor-2", "tor-2"));
	assert_true(history_part_holds("tor1->tor2", "tor1"));
	assert_true(history_part_holds("s1--tor1, s1->tor2", "tor1"));
	assert_true(history_part_holds("s1--tor1, s1->tor2", "tor2"));
	assert_false(history_part_holds("tor-12", "tor-1"));
	assert_false(history_part_holds("h11/r0", "h1/r0"));
	assert_false(history_part_holds("tor-1-2", "tor-1"));
	assert_false(history_part_holds("tor1", ""));
}

static void
durations_in_the_database_notation_are_read(void **state)
{
	assert_true(duration_ns("14d") == 14 * 86400 * RM_NS_PER_S);
	assert_true(duration_ns("336h0m0s") == duration_ns("2w"));
	assert_int_equal(duration_ns("5"), -1);
	assert_int_equal(duration_ns(""), -1);
	assert_int_equal(duration_ns("-5m"), -1);
	assert_int_equal(duration_ns("99999999d"), -1);
	assert_int_equal(duration_ns("5y"), -1);
}

static void
long_times_are_cut_into_few_buckets(void **state)
{
	const struct history_subject tor = { .text = "t1", .tor = "t1" };
	static const long long minutes[] = { 1, 60, 1440, 20160, 1440 * 3650 };

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		const struct history_span span = history_span(NOW, minutes[i] * MINUTE);
		struct history_rows *rows = history_rows_new(&tor, &span);
		json_t *json;

		assert_true(span.from_ns <= NOW - minutes[i] * MINUTE);
		assert_true(span.from_ns % span.bucket_ns == 0);
		take_probes(rows, span.from_ns, 2, 0);
		take_probes(rows, NOW / span.bucket_ns * span.bucket_ns, 1, 0);
		take_probes(rows, span.from_ns - span.bucket_ns, 4, 0);
		json = printed(rows, CTL_GOOD);
		assert_int_equal(number(json, "rows", 0, "sent"), 2);
		assert_int_equal(number(json, "rows", 1, "sent"), 1);
		json_decref(json);
		history_rows_free(rows);
	}
}

/* Starts a process that sends this answer to every request. */
static pid_t
play_server(int *port, const char *status, const char *body)
{
	int listener = loopback_listen(port), fd;
	pid_t pid = fork();
	char text[4096];

	assert_true(pid >= 0);
	if (pid > 0) {
		close(listener);
		return pid;
	}
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		const ssize_t n = read(fd, text, sizeof(text) - 1);

		snprintf(text, sizeof(text),
		    "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: "
		    "close\r\n\r\n%s",
		    status, strlen(body), body);
		if (n < 0 || write(fd, text, strlen(text)) < 0)
			break;
		close(fd);
	}
	_exit(1);
}

static int
init_at(const char *http_status, const char *body)
{
	struct influx_place place = { .database = "rackmesh" };
	char url[64];
	int port, status;
	pid_t pid = play_server(&port, http_status, body);

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	place.url = url;
	status = history_init(&place, "14d", "400d");
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return status;
}

static void
only_victoriametrics_needs_no_database(void **state)
{
	assert_int_equal(init_at("200 OK", "{\"status\":\"success\",\"data\":{"
					   "\"version\":\"2.24.0\"}}"),
	    CTL_GOOD);
	assert_int_equal(
	    init_at("200 OK", "<html>Please log in</html>"), CTL_NO_ANSWER);
	assert_int_equal(init_at("301 Moved Permanently", ""), CTL_NO_ANSWER);
	assert_int_equal(init_at("401 Unauthorized", ""), CTL_NO_ANSWER);
}

/* Starts a process that answers like an analyzer whose incidents have no links. */
static pid_t
play_older_analyzer(int *port)
{
	int listener = loopback_listen(port), fd;
	pid_t pid = fork();
	char text[4096], when[RM_WALL_TEXT], rows[256];

	assert_true(pid >= 0);
	if (pid > 0) {
		close(listener);
		return pid;
	}
	put_time(when, rm_wall_now().ns - MINUTE);
	snprintf(rows, sizeof(rows),
	    "{\"columns\":[\"time\",\"id\",\"state\",\"tor\",\"part\"],"
	    "\"rows\":[[\"%s\",\"1\",\"opened\",\"t1\",\"h1/r0\"]]}",
	    when);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		const char *status = "200 OK", *body = rows;
		const ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, "/v1/incidents") != NULL)
			body = "{\"incidents\":[]}";
		else if (strstr(text, "rm_tor_pair") != NULL)
			body = "{\"columns\":[\"time\"," COLUMNS "],\"rows\":[]}";
		else if (strstr(text, "links") != NULL) {
			status = "400 Bad Request";
			body = "{\"error\":\"rm_incident has no column links\"}";
		}
		snprintf(text, sizeof(text),
		    "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: "
		    "close\r\n\r\n%s",
		    status, strlen(body), body);
		if (write(fd, text, strlen(text)) < 0)
			break;
		close(fd);
	}
	_exit(1);
}

static void
incidents_of_an_older_analyzer_are_reported_without_links(void **state)
{
	char name[] = "t1", address[32];
	char *argv[] = { name };
	struct ctl ctl = { .analyzer = address, .argc = 1, .argv = argv };
	int port, status;
	pid_t pid = play_older_analyzer(&port);

	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	status = ctl_history(&ctl);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(status, CTL_GOOD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    incidents_of_an_older_analyzer_are_reported_without_links),
		cmocka_unit_test(only_victoriametrics_needs_no_database),
		cmocka_unit_test(a_time_without_data_is_reported),
		cmocka_unit_test(paths_that_lost_most_come_first),
		cmocka_unit_test(
		    losses_of_a_path_are_a_share_of_all_probes_of_the_pair),
		cmocka_unit_test(paths_of_an_older_analyzer_have_no_marks),
		cmocka_unit_test(steps_and_incidents_of_the_subject_are_reported),
		cmocka_unit_test(incidents_of_both_racks_of_a_pair_are_reported),
		cmocka_unit_test(the_name_of_a_host_finds_incidents_of_its_rnics),
		cmocka_unit_test(
		    incidents_of_before_are_shown_only_if_they_were_still_open),
		cmocka_unit_test(
		    openings_without_ids_are_distinguished_by_part_and_time),
		cmocka_unit_test(
		    the_past_of_a_rack_has_the_incidents_of_its_links_and_of_switches),
		cmocka_unit_test(
		    an_incident_of_one_link_that_is_now_of_its_switch_concerns_every_rack),
		cmocka_unit_test(regions_of_a_name_are_found_once_each),
		cmocka_unit_test(with_too_many_incidents_the_oldest_are_left_out),
		cmocka_unit_test(a_subject_without_history_gives_exit_status_1),
		cmocka_unit_test(malformed_answers_are_refused),
		cmocka_unit_test(of_a_whole_region_all_incidents_are_reported),
		cmocka_unit_test(an_incident_opened_days_before_is_found_by_its_end),
		cmocka_unit_test(of_an_incident_in_the_history_the_last_state_is_shown),
		cmocka_unit_test(other_openings_of_a_part_are_counted_once_each),
		cmocka_unit_test(rows_that_are_no_steps_are_refused),
		cmocka_unit_test(incidents_that_come_again_are_reported_once),
		cmocka_unit_test(whole_buckets_do_not_exceed_four_hundred_days),
		cmocka_unit_test(names_are_matched_as_a_whole_within_parts),
		cmocka_unit_test(durations_in_the_database_notation_are_read),
		cmocka_unit_test(long_times_are_cut_into_few_buckets),
	};

	return cmocka_run_group_tests_name("ctl_history", tests, NULL, NULL);
}
