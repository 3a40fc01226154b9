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

#include "tests/unit/analyzer/analyzer_fixture.h"

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

static json_int_t
number_of(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

static json_t *
rack_of(const struct answer *answer, size_t i)
{
	json_t *rack = json_array_get(json_object_get(answer->json, "racks"), i);

	assert_non_null(rack);
	return rack;
}

/* The aggregator reports two racks; the RNIC of tor2 is dead. */
static void
report_of_two_racks(struct fixture *f)
{
	hello(f);
	send_summary(f, "tor1", 1);
	send_summary(f, "tor2", 2);
	send_incident(f, "tor2", 0x42, WIRE_OPENED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2 &&
				   f->agg.acked[WIRE_LANE_INCIDENT] == 1);
}

static void
health_shows_regions_and_racks_the_worst_first(void **state)
{
	struct fixture *f = *state;
	struct answer answer;
	json_t *region;

	report_of_two_racks(f);
	get(f, "/v1/health", &answer);
	assert_int_equal(answer.status, 200);
	assert_string_equal(text_of(answer.json, "trouble"), "");
	region = json_array_get(json_object_get(answer.json, "regions"), 0);
	assert_string_equal(text_of(region, "region"), "lab");
	assert_string_equal(text_of(region, "state"), "bad");
	assert_int_equal(number_of(region, "racks"), 2);
	assert_int_equal(number_of(region, "ok"), 1);
	assert_int_equal(number_of(region, "bad"), 1);
	assert_int_equal(number_of(region, "rnics"), 8);
	assert_int_equal(number_of(region, "incidents_open"), 1);
	assert_string_equal(text_of(rack_of(&answer, 0), "tor"), "tor2");
	assert_string_equal(text_of(rack_of(&answer, 0), "state"), "bad");
	assert_int_equal(number_of(rack_of(&answer, 0), "incidents_open"), 1);
	assert_int_equal(
	    number_of(
		json_object_get(rack_of(&answer, 0), "incidents_by_part"), "rnic"),
	    1);
	assert_string_equal(text_of(rack_of(&answer, 1), "state"), "ok");
	assert_string_equal(text_of(rack_of(&answer, 1), "aggregator"), "agg1");
	assert_int_equal(number_of(rack_of(&answer, 1), "loss_ppm"), 100000);
	answer_clear(&answer);
	get(f, "/v1/racks?region=field", &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "racks")), 0);
	answer_clear(&answer);
}

static void
incidents_are_followed_by_their_number(void **state)
{
	struct fixture *f = *state;
	struct answer answer;
	char path[64];
	json_t *list;

	report_of_two_racks(f);
	get(f, "/v1/incidents?open=1", &answer);
	list = json_object_get(answer.json, "incidents");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(text_of(json_array_get(list, 0), "id"), "0000000000000042");
	snprintf(path, sizeof(path), "/v1/incidents?since=%d",
	    (int)number_of(answer.json, "changes"));
	answer_clear(&answer);
	get(f, path, &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "incidents")), 0);
	answer_clear(&answer);
	send_incident(f, "tor2", 0x42, WIRE_RESOLVED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_INCIDENT] == 2);
	get(f, path, &answer);
	list = json_object_get(answer.json, "incidents");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(text_of(json_array_get(list, 0), "state"), "resolved");
	answer_clear(&answer);
	get(f, "/v1/incidents?since=0&limit=1", &answer);
	assert_int_equal(number_of(answer.json, "changes"), 2);
	answer_clear(&answer);
	get(f, "/v1/incidents?limit=none", &answer);
	assert_int_equal(answer.status, 400);
	answer_clear(&answer);
}

static void
an_incident_is_explained_with_related_open_incidents(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	f->agg.part = "h9/r0";
	send_incident(f, "tor2", 0x43, WIRE_OPENED);
	send_incident(f, "tor1", 0x44, WIRE_OPENED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_INCIDENT] == 3);
	get(f, "/v1/incidents/0000000000000042", &answer);
	assert_int_equal(answer.status, 200);
	assert_string_equal(text_of(answer.json, "part"), "h1/r0");
	assert_int_equal(json_array_size(json_object_get(answer.json, "related")), 1);
	assert_string_equal(
	    text_of(json_array_get(json_object_get(answer.json, "related"), 0), "part"),
	    "h9/r0");
	answer_clear(&answer);
	get(f, "/v1/incidents/77", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
	get(f, "/v1/incidents/me", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
}

static void
an_open_incident_whose_aggregator_is_gone_is_marked(void **state)
{
	struct fixture *f = *state;
	struct answer answer;
	json_t *incident;

	report_of_two_racks(f);
	leave(f);
	get(f, "/v1/incidents/42", &answer);
	incident = answer.json;
	assert_string_equal(text_of(incident, "state"), "open");
	assert_true(json_is_true(json_object_get(incident, "source_silent")));
	answer_clear(&answer);
	get(f, "/v1/aggregators", &answer);
	assert_int_equal(
	    json_array_size(json_object_get(answer.json, "aggregators")), 0);
	answer_clear(&answer);
}

static void
a_drill_is_passed_on_to_the_aggregator_that_knows(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	get(f, "/v1/drill/h7/r0", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
	get(f, "/v1/drill/h1/r0?seconds=0", &answer);
	assert_int_equal(answer.status, 400);
	answer_clear(&answer);
	get(f, "/v1/drill/h1/r0?seconds=3", &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(number_of(answer.json, "asked"), 3);
	answer_clear(&answer);
	f->agg.leaves_when_drilled = true;
	get(f, "/v1/drill/h1/r0", &answer);
	assert_int_equal(answer.status, 503);
	answer_clear(&answer);
}

/* Hosts of two regions may have the same names; ids of RNICs are unique. */
static void
an_rnic_of_two_regions_is_drilled_only_in_the_chosen_one(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	leave(f);
	memset(f->agg.seq, 0, sizeof(f->agg.seq));
	memset(f->agg.acked, 0, sizeof(f->agg.acked));
	f->agg.region = "north";
	f->agg.third = "tor3";
	hello(f);
	send_summary(f, "tor3", (UINT64_C(1) << 32) + 1); /* the host is h1, too */
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
	get(f, "/v1/drill/h1/r0", &answer);
	assert_int_equal(answer.status, 400);
	assert_non_null(strstr(text_of(answer.json, "error"), "lab"));
	assert_non_null(strstr(text_of(answer.json, "error"), "north"));
	answer_clear(&answer);
	get(f, "/v1/drill/h1/r0?region=north", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	get(f, "/v1/drill/h1/r0?region=lab", &answer);
	assert_int_equal(answer.status, 503);
	answer_clear(&answer);
}

static void
the_mesh_of_a_rack_is_requested_from_its_aggregator(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	get(f, "/v1/mesh/tor9", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
	get(f, "/v1/mesh/tor1?period=day", &answer);
	assert_int_equal(answer.status, 400);
	answer_clear(&answer);
	get(f, "/v1/mesh/tor1?period=hour", &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(number_of(answer.json, "asked"), 3600);
	assert_string_equal(text_of(answer.json, "region"), "lab");
	answer_clear(&answer);
	f->agg.knows_no_mesh = true;
	get(f, "/v1/mesh/tor1", &answer);
	assert_int_equal(answer.status, 501);
	answer_clear(&answer);
	f->agg.leaves_when_drilled = true;
	get(f, "/v1/mesh/tor1", &answer);
	assert_int_equal(answer.status, 503);
	answer_clear(&answer);
}

static void
a_racks_counters_are_requested_from_its_aggregator(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	get(f, "/v1/counters/tor9", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
	get(f, "/v1/counters/tor2", &answer);
	assert_int_equal(answer.status, 200);
	assert_string_equal(text_of(answer.json, "region"), "lab");
	assert_string_equal(text_of(answer.json, "counted"), "tor2");
	assert_true(json_is_false(json_object_get(answer.json, "hosts_only")));
	answer_clear(&answer);
	get(f, "/v1/hosts/tor2", &answer);
	assert_int_equal(answer.status, 200);
	assert_string_equal(text_of(answer.json, "region"), "lab");
	assert_true(json_is_true(json_object_get(answer.json, "hosts_only")));
	answer_clear(&answer);
	f->agg.knows_no_counters = true;
	get(f, "/v1/counters/tor1", &answer);
	assert_int_equal(answer.status, 501);
	assert_non_null(strstr(text_of(answer.json, "error"), "counters"));
	answer_clear(&answer);
	f->agg.leaves_when_drilled = true;
	get(f, "/v1/counters/tor1", &answer);
	assert_int_equal(answer.status, 503);
	answer_clear(&answer);
}

static void
pairs_of_tors_are_reported_of_the_rows(void **state)
{
	struct fixture *f = *state;
	struct answer answer;
	static const char *const bad[] = { "/v1/mesh?worst=0", "/v1/mesh?worst=1001",
		"/v1/mesh?by=rtt", "/v1/mesh?worst=5&by=name" };
	const json_t *pairs;
	int from, to, sent, ok, lost;

	report_of_two_racks(f);
	get(f, "/v1/mesh?period=hour", &answer);
	assert_int_equal(answer.status, 200);
	assert_string_equal(text_of(answer.json, "period"), "hour");
	assert_string_equal(
	    text_of(json_array_get(json_object_get(answer.json, "tors"), 1), "tor"),
	    "tor2");
	pairs = json_object_get(answer.json, "pairs");
	assert_int_equal(json_array_size(pairs), 2);
	assert_int_equal(json_array_size(json_array_get(pairs, 0)),
	    json_array_size(json_object_get(answer.json, "columns")));
	assert_int_equal(json_unpack(json_array_get(pairs, 1), "[iiiii]", &from, &to,
			     &sent, &ok, &lost),
	    0);
	assert_int_equal(from, to);
	assert_int_equal(sent, 100);
	assert_int_equal(ok, 90);
	assert_int_equal(lost, 10);
	answer_clear(&answer);
	get(f, "/v1/mesh?worst=1", &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "pairs")), 1);
	assert_int_equal(json_array_size(json_object_get(answer.json, "tors")), 1);
	assert_int_equal(
	    json_integer_value(json_object_get(answer.json, "pairs_probed")), 2);
	assert_int_equal(
	    json_integer_value(json_object_get(answer.json, "pairs_losing")), 2);
	answer_clear(&answer);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		get(f, bad[i], &answer);
		assert_int_equal(answer.status, 400);
		answer_clear(&answer);
	}
	get(f, "/v1/mesh?region=elsewhere", &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "pairs")), 0);
	answer_clear(&answer);
	get(f, "/v1/mesh?period=day", &answer);
	assert_int_equal(answer.status, 400);
	answer_clear(&answer);
}

static bool
is_reported_by_readyz(struct fixture *f, const char *wanted)
{
	struct answer answer;
	bool found;

	get(f, "/readyz", &answer);
	assert_int_equal(answer.status, 200);
	found = strstr(text_of(answer.json, "reason"), wanted) != NULL;
	answer_clear(&answer);
	return found;
}

/* No process listens on the webhook's port. The regions are still judged, so /readyz
 * does not return 503. */
static void
readyz_names_a_receiver_that_does_not_accept_alerts(void **state)
{
	struct fixture *f = *state;
	char **urls = calloc(1, sizeof(*urls));

	urls[0] = strdup("http://127.0.0.1:1");
	f->config.alerts.alertmanagers = (struct rm_list){ urls, 1 };
	report_of_two_racks(f);
	LOOPBACK_WAIT(f->loop, is_reported_by_readyz(f,
				   "; alerts are not delivered: http://127.0.0.1:1/"));
}

static void
metrics_and_readiness_are_served(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	report_of_two_racks(f);
	get(f, "/readyz", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	get(f, "/metrics", &answer);
	assert_non_null(strstr(
	    answer.text, "rackmesh_analyzer_messages_total{lane=\"summary\"} 2\n"));
	assert_non_null(strstr(answer.text, "rackmesh_analyzer_incidents_open 1\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_analyzer_paths{region=\"lab\"} 0\n"));
	assert_non_null(strstr(
	    answer.text, "rackmesh_analyzer_path_judgements_total{region=\"lab\"} "));
	assert_non_null(strstr(answer.text,
	    "rackmesh_analyzer_alerts_withdrawn_total{region=\"lab\"} 0\n"));
	assert_non_null(strstr(answer.text,
	    "rackmesh_analyzer_incident_saves_failed_total{region=\"lab\"} 0\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_analyzer_watchdog_withheld_total 0\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_analyzer_notify_failed_total 0\n"));
	answer_clear(&answer);
	get(f, "/v1/sla", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	get(f, "/v1/aggregators", &answer);
	assert_string_equal(
	    text_of(
		json_array_get(json_object_get(answer.json, "aggregators"), 0), "name"),
	    "agg1");
	answer_clear(&answer);
}

static void
the_api_shows_the_summary_interval_of_aggregators(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	f->agg.summary_interval_s = 60;
	hello(f);
	get(f, "/metrics", &answer);
	assert_non_null(strstr(answer.text,
	    "rackmesh_analyzer_row_interval_seconds{region=\"lab\"} 60\n"));
	answer_clear(&answer);
	get(f, "/v1/aggregators", &answer);
	assert_int_equal(
	    number_of(json_array_get(json_object_get(answer.json, "aggregators"), 0),
		"summary_interval_s"),
	    60);
	answer_clear(&answer);
	/* The aggregator was restarted with another summary interval. */
	leave(f);
	f->agg.summary_interval_s = 20;
	hello(f);
	get(f, "/metrics", &answer);
	assert_non_null(strstr(answer.text,
	    "rackmesh_analyzer_row_interval_seconds{region=\"lab\"} 20\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_analyzer_row_intervals_refused_total 0\n"));
	answer_clear(&answer);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(health_shows_regions_and_racks_the_worst_first),
		TEST(incidents_are_followed_by_their_number),
		TEST(an_incident_is_explained_with_related_open_incidents),
		TEST(an_open_incident_whose_aggregator_is_gone_is_marked),
		TEST(a_drill_is_passed_on_to_the_aggregator_that_knows),
		TEST(an_rnic_of_two_regions_is_drilled_only_in_the_chosen_one),
		TEST(the_mesh_of_a_rack_is_requested_from_its_aggregator),
		TEST(a_racks_counters_are_requested_from_its_aggregator),
		TEST(pairs_of_tors_are_reported_of_the_rows),
		TEST(the_api_shows_the_summary_interval_of_aggregators),
		TEST(readyz_names_a_receiver_that_does_not_accept_alerts),
		TEST(metrics_and_readiness_are_served),
	};

	return cmocka_run_group_tests_name("analyzer_api", tests, NULL, NULL);
}
