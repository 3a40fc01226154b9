#include "analyzer/history/history_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/sla/sla.h"
#include "history_sample.h"
#include "tests/support/lane_messages.h"

struct world {
	struct history_points *points;
	struct wire_writer *writer;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->points = history_points_new();
	world->writer = wire_writer_new();
	*state = world;
	return world->points == NULL || world->writer == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	history_points_free(world->points);
	wire_writer_free(world->writer);
	free(world);
	return 0;
}

static void
assert_schema(const struct history_text *text)
{
	struct rm_error error;

	if (history_schema_check(text->text, text->len, &error) < 0)
		fail_msg("%s", error.text);
}

static bool
has(const struct history_text *text, const char *expected)
{
	return memmem(text->text, text->len, expected, strlen(expected)) != NULL;
}

static void
a_summary_becomes_points_of_the_schema(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes = sample_summary(world->writer, 1);
	struct history_text text;

	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	assert_int_equal(text.points, SAMPLE_SUMMARY_POINTS);
	assert_int_equal(text.left_out, 0);
	assert_schema(&text);
	assert_true(has(&text, "rm_rack,region=lab,aggregator=agg,tor=t1 start_ns="));
	assert_true(
	    has(&text, ",brake_permille=1000i,hosts_slowed=0i 1767225601000000000\n"));
	assert_true(
	    has(&text, "rm_tor_pair,region=lab,aggregator=agg,src_tor=t1,dst_tor=t2,"
		       "dscp=26 sent=10i,ok=8i,no_reply=2i,"));
	assert_true(has(&text, ",flow_set=\"49153,49154\" 1767225601000000000\n"));
	assert_true(has(&text, ",rtt_max_ns=8990i,"));
	assert_true(has(&text, "rm_rnic,region=lab,aggregator=agg,tor=t1,host=h1,"
			       "device=r0,rnic=0c42:a103:0065:1234/1 "));
	/* Only paths with losses have a point; the nanosecond is the row's number,
	 * which keeps the times of points apart. */
	assert_false(has(&text, "s1@10.0.0.2"));
	assert_true(has(&text, ",path=\"t1@10.0.0.1 s2@10.0.0.2 t2@10.0.0.3\",samples="
			       "\"h1/r0>h9/r0:49153\" 1767225601000000001\n"));
}

static void
the_same_message_makes_the_same_points(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes = sample_summary(world->writer, 3);
	struct history_text text;
	char *first;
	size_t len;

	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	first = memcpy(malloc(text.len), text.text, text.len);
	len = text.len;
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	assert_int_equal(text.len, len);
	assert_memory_equal(text.text, first, len);
	free(first);
}

static void
incidents_of_racks_and_our_own_become_points_of_the_schema(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes = sample_incident(world->writer, 1, WIRE_UPDATED);
	struct rm_incident incident = sample_own_incident();
	struct history_text text;

	assert_int_equal(lane_message_points(world->points, WIRE_LANE_INCIDENT,
			     bytes.data, bytes.len, &text),
	    0);
	assert_int_equal(text.points, 1);
	assert_schema(&text);
	assert_true(has(&text, "rm_incident,region=lab,aggregator=agg,tor=t1,part_type="
			       "rnic,part=h1/r0\\ or\\ h2/r0,place=t1,state=updated "
			       "id=\"0000000000000077\","
			       "kind=\"rnic-down\",confidence=0.97,"));
	assert_false(has(&text, "severity="));
	assert_false(has(&text, "impact="));

	assert_int_equal(history_points_incident(world->points, "ana", "lab",
			     WIRE_OPENED, &incident, &text),
	    0);
	assert_int_equal(text.points, 1);
	assert_schema(&text);
	assert_true(has(&text, "rm_incident,region=lab,aggregator=ana,part_type=switch,"
			       "part=spine1,state=opened "));
	assert_true(has(&text, " 3000000000\n"));
	incident.resolved.ns = 4000000000;
	assert_int_equal(history_points_incident(world->points, "ana", "lab",
			     WIRE_RESOLVED, &incident, &text),
	    0);
	assert_true(has(&text, ",state=resolved "));
	assert_true(has(&text, " 4000000000\n"));
}

static void
severity_impact_services_and_links_are_fields(void **state)
{
	struct world *world = *state;
	const struct wire_incident reported = { .head = { "agg", "lab", 1, 1 },
		.tor = "t1",
		.part_type = "rnic",
		.part = "h1/r0",
		.place = "t1",
		.kind = "rnic-down",
		.state = WIRE_OPENED,
		.changed_wall_ns = 5,
		.sentence = "",
		.severity = "critical",
		.evidence_json = "{\"evidence\": {\"impact\": \"P0\", "
				 "\"services\": \"train-7\"}}" };
	struct rm_incident own = sample_own_incident();
	struct history_text text;

	assert_int_equal(
	    history_points_rack_incident(world->points, &reported, &text), 0);
	assert_schema(&text);
	assert_true(has(&text,
	    "severity=\"critical\",impact=\"P0\",services=\"train-7\",confidence="));
	assert_false(has(&text, "links="));

	own.severity = RM_SEVERITY_MAJOR;
	assert_int_equal(history_points_incident(
			     world->points, "ana", "lab", WIRE_OPENED, &own, &text),
	    0);
	assert_schema(&text);
	assert_true(has(&text, "severity=\"major\",impact=\"unknown\",services=\"\","));
	assert_false(has(&text, "links="));

	strcpy(own.verdict.evidence.links, "spine1--tor1, spine1->tor2");
	assert_int_equal(history_points_incident(
			     world->points, "ana", "lab", WIRE_UPDATED, &own, &text),
	    0);
	assert_schema(&text);
	assert_true(has(
	    &text, "services=\"\",links=\"spine1--tor1, spine1->tor2\",confidence="));
}

/* Whether the incident of this evidence has the field. */
static bool
has_links(struct world *world, const char *evidence_json)
{
	const struct wire_incident reported = { .head = { "agg", "lab", 1, 1 },
		.tor = "t1",
		.part_type = "switch",
		.part = "s1",
		.place = "",
		.kind = "links-down",
		.state = WIRE_OPENED,
		.changed_wall_ns = 5,
		.sentence = "",
		.evidence_json = evidence_json };
	struct history_text text;

	assert_int_equal(
	    history_points_rack_incident(world->points, &reported, &text), 0);
	assert_schema(&text);
	return has(&text, ",links=\"s1--t0, s1--t1");
}

/* A reader of the list assumes that the incident does not concern a rack that no link
 * names. */
static void
a_list_of_links_that_is_not_complete_is_left_out(void **state)
{
	struct world *world = *state;
	char json[16384] = "{\"evidence\": {\"links\": [\"s1--t0\"";

	assert_true(has_links(world, "{\"evidence\": {\"links\": [\"s1--t0\", "
				     "\"s1--t1\"], \"links_down\": 1, "
				     "\"links_lossy\": 1}}"));
	assert_false(has_links(world, "{\"evidence\": {\"links\": [\"s1--t0\", "
				      "\"s1--t1\"], \"links_down\": 2, "
				      "\"links_lossy\": 1}}"));
	assert_false(has_links(world, "{\"evidence\": {\"links\": [\"s1--t0\", "
				      "\"s1--t1\"], \"links_down\": "
				      "9223372036854775807, \"links_lossy\": 1}}"));
	assert_false(has_links(
	    world, "{\"evidence\": {\"links\": [\"s1--t0\", \"s1--t1\", 7]}}"));
	/* Another rack's evidence may have any length. */
	for (int i = 1; i < 1000; i++)
		sprintf(json + strlen(json), ", \"s1--t%d\"", i);
	strcat(json, "]}}");
	assert_false(has_links(world, json));
}

static void
marks_are_reported_only_where_they_are_known(void **state)
{
	struct world *world = *state;
	const struct wire_row rows[2] = { { .src_tor = "t1",
					      .dst_tor = "t2",
					      .flow_set = "all",
					      .arrived = 90,
					      .rewritten = 80,
					      .congested = 7,
					      .arrived_dscp = 8,
					      .hops_known = 90,
					      .hops = 276,
					      .hops_least = 3,
					      .hops_most = 5 },
		{ .src_tor = "t1", .dst_tor = "t3", .flow_set = "all" } };
	struct wire_summary summary = {
		.tor = "t1", .end_wall_ns = 5, .rows = rows, .row_count = 2
	};
	struct history_text text;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(world->writer, &summary, &bytes), 0);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	assert_schema(&text);
	assert_true(
	    has(&text, ",arrived=90i,rewritten=80i,congested=7i,arrived_dscp=8i,"
		       "hops_known=90i,hops=276i,hops_least=3i,hops_most=5i,"));
	assert_true(has(&text, "dst_tor=t3,dscp=0 sent="));
	assert_false(has(&text, "arrived=0i"));
	assert_false(has(&text, "hops_known=0i"));
}

static void
a_path_without_losses_is_stored_only_if_probes_arrived_with_other_marks(void **state)
{
	struct world *world = *state;
	const struct wire_path_row rows[] = {
		{ .dst_tor = "t2", .path = "s1", .sent = 100, .samples = "" },
		{ .dst_tor = "t2",
		    .path = "s2",
		    .sent = 100,
		    .samples = "",
		    .arrived = 90 },
		{ .dst_tor = "t2",
		    .path = "s3",
		    .sent = 100,
		    .samples = "",
		    .arrived = 90,
		    .congested = 7 },
		{ .dst_tor = "t2",
		    .path = "s4",
		    .sent = 100,
		    .samples = "",
		    .arrived = 90,
		    .rewritten = 8 },
		{ .dst_tor = "t2",
		    .path = "s5",
		    .sent = 100,
		    .samples = "",
		    .arrived = 90,
		    .not_ect = 9 },
		{ .dst_tor = "t2",
		    .path = "s6",
		    .sent = 100,
		    .lost_reverse = 1,
		    .samples = "" },
	};
	struct wire_summary summary = {
		.tor = "t1", .end_wall_ns = 5, .paths = rows, .path_count = 6
	};
	struct history_text text;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(world->writer, &summary, &bytes), 0);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	assert_schema(&text);
	assert_false(has(&text, "path=\"s1\""));
	assert_false(has(&text, "path=\"s2\""));
	assert_true(has(
	    &text, ",arrived=90i,rewritten=0i,congested=7i,not_ect=0i,path=\"s3\""));
	assert_true(has(
	    &text, ",arrived=90i,rewritten=8i,congested=0i,not_ect=0i,path=\"s4\""));
	assert_true(has(
	    &text, ",arrived=90i,rewritten=0i,congested=0i,not_ect=9i,path=\"s5\""));
	assert_true(has(&text, ",flows_dead=0i,path=\"s6\""));
}

/* A message with 100 paths without losses, with this number of changed marks each, or
 * (marks 0) as many as the number of the path; and a path with a loss. */
static void
many_marked_paths(struct world *world, uint64_t marks, struct history_text *text)
{
	char names[100][16];
	struct wire_path_row rows[101] = {
		[100] = { .dst_tor = "t2",
		    .path = "lossy",
		    .sent = 100,
		    .lost_forward = 1,
		    .samples = "" },
	};
	struct wire_summary summary = {
		.tor = "t1", .end_wall_ns = 5, .paths = rows, .path_count = 101
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof names[i], "s%zu", i);
		rows[i] = (struct wire_path_row){ .dst_tor = "t2",
			.path = names[i],
			.sent = 1000,
			.samples = "",
			.arrived = 1000,
			.congested = marks > 0 ? marks : i };
	}
	assert_int_equal(wire_write_summary(world->writer, &summary, &bytes), 0);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, text),
	    0);
	assert_schema(text);
	assert_true(has(text, ",path=\"lossy\""));
	/* rm_rack, and the path with a loss */
	assert_int_equal(text->points, 2 + HISTORY_MAX_MARKED_PATHS);
}

static void
of_many_marked_paths_those_with_the_most_marks_are_stored(void **state)
{
	struct world *world = *state;
	struct history_text text;

	many_marked_paths(world, 0, &text);
	assert_true(has(&text, ",path=\"s99\""));
	assert_true(has(&text, ",path=\"s68\""));
	assert_false(has(&text, ",path=\"s67\""));
	/* s0 has no marks */
	assert_int_equal(text.paths_left_out, 99 - HISTORY_MAX_MARKED_PATHS);

	many_marked_paths(world, 1, &text);
	assert_int_equal(text.paths_left_out, 100 - HISTORY_MAX_MARKED_PATHS);
	many_marked_paths(world, 1000, &text);
	assert_int_equal(text.paths_left_out, 100 - HISTORY_MAX_MARKED_PATHS);
}

static void
a_minute_becomes_a_point_of_the_schema(void **state)
{
	struct world *world = *state;
	struct sla_minute minute = { .region = "lab",
		.dscp = 26,
		.scope = "fabric",
		.service = "",
		.start = { 60000000000 },
		.sent = 1000,
		.lost = 1,
		.racks_available = 3,
		.rtt_ns = { 1, 2, 3, 4 } };
	struct history_text text;

	assert_int_equal(history_points_sla(world->points, "ana", &minute, &text), 0);
	assert_schema(&text);
	assert_true(has(&text, "rm_sla,region=lab,aggregator=ana,scope=fabric,dscp=26 "
			       "sent=1000i,lost=1i,"));
	assert_true(has(&text, ",rtt_max_ns=4i 60000000000\n"));
	minute.rtt_ns[WIRE_MAX] = 0; /* no probe was answered */
	assert_int_equal(history_points_sla(world->points, "ana", &minute, &text), 0);
	assert_false(has(&text, "rtt"));
	minute.scope = "service";
	minute.service = "pod, one";
	assert_int_equal(history_points_sla(world->points, "ana", &minute, &text), 0);
	assert_schema(&text);
	assert_true(has(&text, "rm_sla_service,region=lab,aggregator=ana,"
			       "service=pod\\,\\ one,dscp=26 sent=1000i,"));
}

static void
racks_of_a_minute_are_points_of_their_own(void **state)
{
	struct world *world = *state;
	const struct sla_rack_minute racks[] = { { "t1", SLA_UNAVAILABLE, 100, 7 },
		{ "t2", SLA_UNKNOWN, 0, 0 } };
	struct sla_minute minute = { .region = "lab",
		.dscp = 26,
		.scope = "rack",
		.service = "",
		.start = { 60000000000 },
		.racks = racks,
		.rack_count = 2 };
	struct history_text text;

	assert_int_equal(
	    history_points_sla_racks(world->points, "ana", &minute, &text), 0);
	assert_int_equal(text.points, 2);
	assert_schema(&text);
	assert_true(has(&text,
	    "rm_sla_rack,region=lab,aggregator=ana,scope=rack,dscp=26,tor=t1 sent=100i,"
	    "lost=7i,available=0i,unavailable=1i,unknown=0i 60000000000\n"));
	assert_true(has(&text, ",tor=t2 sent=0i,lost=0i,available=0i,unavailable=0i,"
			       "unknown=1i 60000000000\n"));
}

static void
a_row_that_cannot_be_a_point_loses_no_other(void **state)
{
	struct world *world = *state;
	const struct wire_row rows[2] = { { .src_tor = "t\n1", .dst_tor = "t2" },
		{ .src_tor = "t1", .dst_tor = "t2" } };
	struct wire_summary summary = {
		.tor = "t1", .end_wall_ns = 5, .rows = rows, .row_count = 2
	};
	struct history_text text;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(world->writer, &summary, &bytes), 0);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    0);
	assert_int_equal(text.points, 2);
	assert_int_equal(text.left_out, 1);
	assert_schema(&text);
}

static void
a_message_without_points_is_refused(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes = sample_incident(world->writer, 1, WIRE_OPENED);
	const struct wire_summary unfit = { .tor = "t\n1", .end_wall_ns = 5 };
	struct history_text text;

	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    -EBADMSG);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_BATCH, bytes.data,
			     bytes.len, &text),
	    -EBADMSG);
	assert_int_equal(lane_message_points(
			     world->points, WIRE_LANE_INCIDENT, bytes.data, 5, &text),
	    -EBADMSG);
	assert_int_equal(wire_write_summary(world->writer, &unfit, &bytes), 0);
	assert_int_equal(lane_message_points(world->points, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &text),
	    -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_summary_becomes_points_of_the_schema),
		TEST(the_same_message_makes_the_same_points),
		TEST(incidents_of_racks_and_our_own_become_points_of_the_schema),
		TEST(severity_impact_services_and_links_are_fields),
		TEST(a_list_of_links_that_is_not_complete_is_left_out),
		TEST(a_minute_becomes_a_point_of_the_schema),
		TEST(racks_of_a_minute_are_points_of_their_own),
		TEST(marks_are_reported_only_where_they_are_known),
		TEST(
		    a_path_without_losses_is_stored_only_if_probes_arrived_with_other_marks),
		TEST(of_many_marked_paths_those_with_the_most_marks_are_stored),
		TEST(a_row_that_cannot_be_a_point_loses_no_other),
		TEST(a_message_without_points_is_refused),
	};

	return cmocka_run_group_tests_name("history_points", tests, NULL, NULL);
}
