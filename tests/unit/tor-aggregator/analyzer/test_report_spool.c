#include "tor-aggregator/analyzer/report_spool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/loopback.h"

struct world {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct report_spool *reports;
	char folder[64];
	unsigned readies;
};

static void
on_ready(void *arg)
{
	struct world *world = arg;

	world->readies++;
}

static void
start(struct world *world, bool off, bool memory, size_t bytes)
{
	const struct report_spool_options options = { .aggregator = "agg",
		.region = "lab",
		.off = off,
		.folder = memory ? NULL : world->folder,
		.incarnation = 5,
		.summary_bytes = bytes,
		.incident_bytes = bytes };
	struct rm_error error = { 0 };

	assert_int_equal(rm_worker_new(world->loop, 16, &world->worker), 0);
	assert_int_equal(report_spool_new(world->loop, world->worker, &options,
			     &world->reports, &error),
	    0);
	report_spool_listen(world->reports, on_ready, world);
}

static void
stop(struct world *world)
{
	rm_worker_free(world->worker);
	report_spool_free(world->reports);
	world->worker = NULL;
	world->reports = NULL;
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	strcpy(world->folder, "/tmp/test_uplink.XXXXXX");
	*state = world;
	return mkdtemp(world->folder) == NULL ? -1 : rm_loop_new(&world->loop);
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	stop(world);
	rm_loop_free(world->loop);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	free(world);
	return system(command) == 0 ? 0 : -1;
}

static void
put(struct world *world, int count)
{
	const struct wire_summary summary = { .tor = "t1",
		.start_wall_ns = 1,
		.end_wall_ns = 2,
		.taken = 10,
		.windowed = 10 };

	for (int i = 0; i < count; i++)
		report_spool_summary(world->reports, &summary);
}

static void
conserves(struct world *world, enum wire_lane lane)
{
	uint64_t spooled = report_spool_held(world->reports, lane);
	const struct report_spool_counts *counts =
	    report_spool_counts(world->reports, lane);

	assert_int_equal(counts->in, counts->delivered + spooled +
					 counts->dropped_full + counts->dropped_write +
					 counts->dropped_off);
}

static bool
can_take(struct world *world, enum wire_lane lane, uint64_t seq)
{
	struct rm_spool_item item;

	return report_spool_take(world->reports, lane, seq, &item) == 0;
}

static void
only_messages_on_disk_are_sent(void **state)
{
	struct world *world = *state;
	struct rm_spool_item item;

	start(world, false, false, 1 << 20);
	put(world, 5);
	assert_int_equal(
	    report_spool_take(world->reports, WIRE_LANE_SUMMARY, 0, &item), -ENOENT);
	assert_int_equal(report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 1), 0);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_SUMMARY, 5));
	assert_true(world->readies > 0);
	for (uint64_t seq = 1; seq <= 5; seq++) {
		struct wire_summary_view view;

		assert_int_equal(
		    report_spool_take(world->reports, WIRE_LANE_SUMMARY, seq, &item),
		    0);
		assert_int_equal(item.seq, seq);
		assert_int_equal(wire_open_summary(&view, item.data, item.len), 0);
		assert_int_equal(view.summary.head.seq, seq);
		assert_int_equal(view.summary.head.incarnation, 5);
		assert_string_equal(view.summary.head.aggregator, "agg");
	}
	assert_int_equal(report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 2), 2);
	assert_int_equal(report_spool_held(world->reports, WIRE_LANE_SUMMARY), 3);
	assert_int_equal(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->delivered, 2);
	conserves(world, WIRE_LANE_SUMMARY);
}

static void
after_a_restart_lanes_continue_where_they_ended(void **state)
{
	struct world *world = *state;
	struct rm_spool_item item;

	start(world, false, false, 1 << 20);
	put(world, 9);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_SUMMARY, 9));
	report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 4);
	stop(world);
	start(world, false, false, 1 << 20);
	assert_int_equal(
	    report_spool_incarnation(world->reports, WIRE_LANE_SUMMARY), 5);
	assert_int_equal(report_spool_held(world->reports, WIRE_LANE_SUMMARY), 5);
	conserves(world, WIRE_LANE_SUMMARY);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_SUMMARY, 0));
	assert_int_equal(
	    report_spool_take(world->reports, WIRE_LANE_SUMMARY, 0, &item), 0);
	assert_int_equal(item.seq, 5);
	put(world, 1);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_SUMMARY, 10));
	report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 10);
	assert_int_equal(report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->in, 6);
	conserves(world, WIRE_LANE_SUMMARY);
}

static void
a_full_lane_drops_its_oldest_and_counts_them(void **state)
{
	struct world *world = *state;
	struct rm_spool_item item;

	start(world, false, true, 2000);
	put(world, 100);
	assert_true(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->dropped_full > 50);
	conserves(world, WIRE_LANE_SUMMARY);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_SUMMARY, 100));
	assert_int_equal(
	    report_spool_take(world->reports, WIRE_LANE_SUMMARY, 0, &item), 0);
	assert_true(item.seq > 50);
	/* Message 1 was dropped meanwhile: its acknowledgement changes nothing. */
	report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 1);
	assert_int_equal(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->delivered, 0);
	report_spool_acked(world->reports, WIRE_LANE_SUMMARY, 100);
	assert_int_equal(report_spool_held(world->reports, WIRE_LANE_SUMMARY), 0);
	conserves(world, WIRE_LANE_SUMMARY);
}

static void
without_an_analyzer_nothing_is_kept_and_that_is_counted(void **state)
{
	struct world *world = *state;

	start(world, true, false, 1 << 20);
	put(world, 7);
	assert_int_equal(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->dropped_off, 7);
	assert_true(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->bytes > 7 * 50);
	assert_null(report_spool_lane_counts(world->reports, WIRE_LANE_SUMMARY));
	conserves(world, WIRE_LANE_SUMMARY);
	assert_int_equal(
	    rmdir(world->folder), 0); /* rmdir fails unless the folder is empty */
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
	struct world *world = *state;
	struct rm_incident incident = some_incident();
	struct rm_spool_item item;
	struct wire_incident view;

	start(world, false, false, 1 << 20);
	report_spool_incident(world->reports, "t1", WIRE_OPENED, &incident);
	LOOPBACK_WAIT(world->loop, can_take(world, WIRE_LANE_INCIDENT, 1));
	assert_int_equal(
	    report_spool_take(world->reports, WIRE_LANE_INCIDENT, 1, &item), 0);
	assert_int_equal(wire_open_incident(&view, item.data, item.len), 0);
	assert_int_equal(view.head.incarnation, 5);
	assert_int_equal(view.head.seq, 1);
	assert_int_equal(view.incident_id, 77);
	assert_string_equal(view.part, "h1/r0");
	assert_string_equal(view.kind, "rnic-down");
	assert_int_equal(view.evidence_json[0], '{');
	conserves(world, WIRE_LANE_INCIDENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_messages_on_disk_are_sent),
		TEST(after_a_restart_lanes_continue_where_they_ended),
		TEST(a_full_lane_drops_its_oldest_and_counts_them),
		TEST(without_an_analyzer_nothing_is_kept_and_that_is_counted),
		TEST(the_longest_evidence_fits_into_an_incident),
	};

	return cmocka_run_group_tests_name("report_spool", tests, NULL, NULL);
}
