#include "tor-aggregator/uplink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/fabric/incident.h"
#include "tor-aggregator/history_points.h"

struct sink { /* takes what it may, remembers the last */
	int room;
	unsigned taken;
	uint64_t seqs[64];
	uint8_t *last;
	size_t last_len;
};

static int
take(void *arg, enum wire_lane lane, uint64_t seq, const uint8_t *data, size_t len)
{
	struct sink *sink = arg;

	if (sink->room == 0)
		return -EAGAIN;
	sink->room--;
	sink->seqs[sink->taken++] = seq;
	free(sink->last);
	/* The queue's bytes are aligned like any from malloc. */
	sink->last = malloc(len);
	sink->last_len = len;
	memcpy(sink->last, data, len);
	return 0;
}

static struct uplink *
open_uplink(struct sink *sink, size_t bytes)
{
	const struct uplink_options options = { .aggregator = "agg",
		.region = "lab",
		.incarnation = 5,
		.summary_bytes = bytes,
		.incident_bytes = bytes };
	const struct uplink_sink out = { take, sink };
	struct uplink *uplink = NULL;

	assert_int_equal(uplink_new(&options, &out, &uplink), 0);
	return uplink;
}

static void
put(struct uplink *uplink, int count)
{
	const struct wire_summary summary = { .tor = "t1",
		.start_wall_ns = 1,
		.end_wall_ns = 2,
		.taken = 10,
		.windowed = 10 };

	for (int i = 0; i < count; i++)
		uplink_summary(uplink, &summary);
}

static void
conserves(const struct uplink *uplink, enum wire_lane lane)
{
	const struct uplink_counts *counts = uplink_counts(uplink, lane);

	assert_int_equal(counts->in, counts->delivered + uplink_spooled(uplink, lane) +
					 counts->dropped_full + counts->dropped_write);
}

static void
what_is_acknowledged_is_delivered_and_the_rest_is_spooled(void **state)
{
	struct sink sink = { .room = 2 };
	struct uplink *uplink = open_uplink(&sink, 1 << 20);

	put(uplink, 5);
	assert_int_equal(sink.taken, 2);
	assert_int_equal(uplink_spooled(uplink, WIRE_LANE_SUMMARY), 5);
	sink.room = 10;
	uplink_acked(uplink, WIRE_LANE_SUMMARY, 2);
	assert_int_equal(uplink_counts(uplink, WIRE_LANE_SUMMARY)->delivered, 2);
	assert_int_equal(sink.taken, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(sink.seqs[i], i + 1);
	conserves(uplink, WIRE_LANE_SUMMARY);
	uplink_free(uplink);
	free(sink.last);
}

static void
after_a_failure_everything_unacknowledged_goes_again(void **state)
{
	struct sink sink = { .room = 64 };
	struct uplink *uplink = open_uplink(&sink, 1 << 20);

	put(uplink, 3);
	uplink_acked(uplink, WIRE_LANE_SUMMARY, 1);
	uplink_failed(uplink, WIRE_LANE_SUMMARY);
	uplink_pump(uplink);
	assert_int_equal(sink.taken, 5);
	assert_int_equal(sink.seqs[3], 2);
	assert_int_equal(sink.seqs[4], 3);
	uplink_acked(uplink, WIRE_LANE_SUMMARY, 3);
	assert_int_equal(uplink_spooled(uplink, WIRE_LANE_SUMMARY), 0);
	conserves(uplink, WIRE_LANE_SUMMARY);
	uplink_free(uplink);
	free(sink.last);
}

static void
a_full_lane_drops_its_oldest_and_counts_them(void **state)
{
	struct sink sink = { .room = 1 };
	struct uplink *uplink = open_uplink(&sink, 2000);

	put(uplink, 100);
	assert_true(uplink_counts(uplink, WIRE_LANE_SUMMARY)->dropped_full > 50);
	conserves(uplink, WIRE_LANE_SUMMARY);
	/* What the sink had was dropped meanwhile: its word changes nothing. */
	uplink_acked(uplink, WIRE_LANE_SUMMARY, 1);
	assert_int_equal(uplink_counts(uplink, WIRE_LANE_SUMMARY)->delivered, 0);
	sink.room = 63;
	uplink_pump(uplink);
	uplink_acked(uplink, WIRE_LANE_SUMMARY, 100);
	assert_int_equal(uplink_spooled(uplink, WIRE_LANE_SUMMARY), 0);
	conserves(uplink, WIRE_LANE_SUMMARY);
	uplink_free(uplink);
	free(sink.last);
}

static struct rm_incident
some_incident(void)
{
	struct rm_incident incident = {
		.id = 77, .opened = { 3000000000 }, .changed = { 3000000000 }
	};
	struct rm_verdict *verdict = &incident.verdict;

	verdict->part.type = RM_PART_RNIC;
	strcpy(verdict->part.name, "h1/r0");
	strcpy(verdict->part.place, "t1");
	verdict->kind = RM_KIND_RNIC_DOWN;
	verdict->confidence = 0.97;
	verdict->evidence.window_start.ns = 2000000000;
	verdict->evidence.sample_count = RM_EVIDENCE_SAMPLES;
	for (size_t i = 0; i < RM_EVIDENCE_SAMPLES; i++) {
		struct rm_evidence_sample *sample = &verdict->evidence.samples[i];

		memset(sample->from, 'a', sizeof(sample->from) - 1);
		memset(sample->to, 'b', sizeof(sample->to) - 1);
		strcpy(sample->outcome, "no-reply");
	}
	verdict->evidence.ruled_out_count = RM_EVIDENCE_RULED_OUT;
	for (size_t i = 0; i < RM_EVIDENCE_RULED_OUT; i++)
		memset(verdict->evidence.ruled_out[i], 'c', RM_EVIDENCE_TEXT - 1);
	return incident;
}

static void
the_longest_evidence_fits_into_an_incident(void **state)
{
	struct sink sink = { .room = 9 };
	struct uplink *uplink = open_uplink(&sink, 1 << 20);
	struct rm_incident incident = some_incident();
	struct wire_incident view;

	uplink_incident(uplink, "t1", WIRE_OPENED, &incident);
	assert_int_equal(sink.taken, 1);
	assert_int_equal(wire_open_incident(&view, sink.last, sink.last_len), 0);
	assert_int_equal(view.head.incarnation, 5);
	assert_int_equal(view.head.seq, 1);
	assert_int_equal(view.incident_id, 77);
	assert_string_equal(view.part, "h1/r0");
	assert_string_equal(view.kind, "rnic-down");
	assert_int_equal(view.evidence_json[0], '{');
	conserves(uplink, WIRE_LANE_INCIDENT);
	uplink_free(uplink);
	free(sink.last);
}

static void
messages_become_points(void **state)
{
	struct sink sink = { .room = 9 };
	struct uplink *uplink = open_uplink(&sink, 1 << 20);
	struct rm_incident incident = some_incident();
	uint64_t points = 0;
	char *text = NULL;
	size_t len = 0;

	uplink_incident(uplink, "t1", WIRE_OPENED, &incident);
	assert_int_equal(
	    history_points(sink.last, sink.last_len, &text, &len, &points), 0);
	assert_int_equal(points, 1);
	assert_int_equal(text[len - 1], '\n');
	text[len - 1] = 0;
	assert_memory_equal(text, "rm_incident,", 12);
	assert_non_null(strstr(text, "part=h1/r0"));
	assert_non_null(strstr(text, " 3000000000"));
	free(text);
	put(uplink, 1);
	assert_int_equal(
	    history_points(sink.last, sink.last_len, &text, &len, &points), 0);
	assert_int_equal(points, 1);
	text[len - 1] = 0;
	assert_non_null(strstr(text, "rm_rack,region=lab,aggregator=agg,tor=t1 "));
	assert_non_null(strstr(text, "taken=10i"));
	free(text);
	sink.last[12] ^= 0xff;
	assert_true(history_points(sink.last, 5, &text, &len, &points) < 0);
	uplink_free(uplink);
	free(sink.last);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    what_is_acknowledged_is_delivered_and_the_rest_is_spooled),
		cmocka_unit_test(after_a_failure_everything_unacknowledged_goes_again),
		cmocka_unit_test(a_full_lane_drops_its_oldest_and_counts_them),
		cmocka_unit_test(the_longest_evidence_fits_into_an_incident),
		cmocka_unit_test(messages_become_points),
	};

	return cmocka_run_group_tests_name("uplink_lanes", tests, NULL, NULL);
}
