#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/intake/intake_lanes.h"
#include "intake_fixture.h"

static void
a_message_is_acknowledged_when_it_is_durable_and_not_before(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_summary(&f->agg, 1);
	send_summary(&f->agg, 2);
	send_incident(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->summaries == 2 && f->incidents == 1);
	settle(f);
	assert_int_equal(f->agg.acks, 0);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acks == 1);
	assert_int_equal(f->agg.acked[WIRE_LANE_SUMMARY], 1);
	assert_int_equal(f->agg.acked[WIRE_LANE_INCIDENT], 0);
	intake_durable(f->intake, WIRE_LANE_INCIDENT, 3);
	LOOPBACK_WAIT(f->loop, f->agg.acks == 2);
	assert_int_equal(f->agg.acked[WIRE_LANE_INCIDENT], 1);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 3);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2);
	assert_int_equal(f->agg.acked_incarnation, 5);
}

static void
messages_that_become_durable_together_get_one_acknowledgement(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	for (uint64_t seq = 1; seq <= 100; seq++)
		send_summary(&f->agg, seq);
	LOOPBACK_WAIT(f->loop, f->summaries == 100);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 100);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 100);
	assert_int_equal(f->agg.acks, 1);
}

static void
a_repeated_message_is_acknowledged_and_not_applied(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->summaries == 1);
	/* The link breaks before the acknowledgement. */
	hello(f, &f->agg);
	send_summary(&f->agg, 1);
	settle(f);
	assert_int_equal(f->summaries, 1);
	assert_int_equal(f->agg.acks, 0);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acks == 2);
	assert_int_equal(f->summaries, 1);
	assert_int_equal(f->tickets, 1);
	assert_int_equal(intake_counts(f->intake)->repeated, 2);
}

static void
a_gap_is_counted_and_not_waited_for(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_summary(&f->agg, 10);
	send_summary(&f->agg, 15);
	LOOPBACK_WAIT(f->loop, f->summaries == 2);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 2);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 15);
	assert_int_equal(intake_counts(f->intake)->missing, 4);
}

static void
messages_of_an_older_incarnation_still_count(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->agg.incarnation = 9;
	send_summary(&f->agg, 100);
	f->agg.incarnation = 5;
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->summaries == 2);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acks == 1);
	assert_int_equal(f->agg.acked_incarnation, 9);
	f->agg.acked[WIRE_LANE_SUMMARY] = 0;
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 2);
	LOOPBACK_WAIT(f->loop, f->agg.acks == 2);
	assert_int_equal(f->agg.acked_incarnation, 5);
	assert_int_equal(f->agg.acked[WIRE_LANE_SUMMARY], 1);
}

static void
after_a_restart_of_the_analyzer_all_messages_are_accepted_again(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_incident(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->incidents == 1);
	stop(f);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	start(f);
	hello(f, &f->agg);
	send_incident(&f->agg, 1);
	send_incident(&f->agg, 2);
	LOOPBACK_WAIT(f->loop, f->incidents == 3);
	intake_durable(f->intake, WIRE_LANE_INCIDENT, 2);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_INCIDENT] == 2);
}

static void
an_aggregator_reports_for_its_own_tors_only(void **state)
{
	struct fixture *f = *state;
	const char *name = f->agg.name;

	hello(f, &f->agg);
	send_summary_of(&f->agg, 1, "tor9");
	f->agg.name = "agg2";
	send_summary(&f->agg, 2);
	f->agg.name = name;
	/* The lane is acknowledged nevertheless. */
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2);
	assert_int_equal(f->summaries, 0);
	assert_int_equal(f->tickets, 0);
	assert_int_equal(intake_counts(f->intake)->foreign, 2);
	/* But a message is never acknowledged before all earlier ones. */
	send_summary(&f->agg, 3);
	send_summary_of(&f->agg, 4, "tor9");
	settle(f);
	assert_int_equal(f->agg.acked[WIRE_LANE_SUMMARY], 2);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 4);
}

static void
a_message_without_room_waits_and_none_is_dropped(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->take_status = -ENOBUFS;
	for (uint64_t seq = 1; seq <= 50; seq++)
		send_summary(&f->agg, seq);
	LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->held == 1);
	assert_true(intake_get(f->intake, 0)->is_held);
	/* Longer than the time after which a silent link is closed. */
	send_ping(&f->agg);
	loopback_run(f->loop, 900 * RM_NS_PER_MS);
	assert_false(f->agg.closed);
	assert_int_equal(f->summaries, 0);
	assert_int_equal(f->agg.acks, 0);
	f->take_status = 0;
	LOOPBACK_WAIT(f->loop, f->summaries == 50);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 50);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 50);
	assert_int_equal(intake_counts(f->intake)->missing, 0);
	assert_false(intake_get(f->intake, 0)->is_held);
}

static void
a_message_without_points_is_applied_and_acknowledged(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->take_status = -EBADMSG;
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
	assert_int_equal(f->summaries, 1);
	assert_int_equal(intake_counts(f->intake)->pointless, 1);
}

/* The aggregator's disk was read-only or restored from a backup, so it numbers from an
 * earlier number on. */
static void
a_restarted_aggregator_may_reuse_its_numbers(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	for (uint64_t seq = 1; seq <= 5; seq++)
		send_summary(&f->agg, seq);
	LOOPBACK_WAIT(f->loop, f->summaries == 5);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 3);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 3);
	f->agg.life++;
	hello(f, &f->agg);
	f->agg.acks = 0;
	send_summary(&f->agg, 2);
	LOOPBACK_WAIT(f->loop, f->summaries == 6);
	/* The analyzer has saved a message of the earlier process: this acknowledges
	 * nothing of the present one. */
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 5);
	settle(f);
	assert_int_equal(f->agg.acks, 0);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 6);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2);
	/* The same process over a new link: a repeated message is recognized. */
	hello(f, &f->agg);
	send_summary(&f->agg, 2);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2);
	assert_int_equal(f->summaries, 6);
	assert_int_equal(f->tickets, 6);
}

static void
many_restarts_with_unsaved_messages_leave_room(void **state)
{
	struct fixture *f = *state;

	for (unsigned life = 1; life <= 20; life++) {
		f->agg.life = life;
		hello(f, &f->agg);
		send_summary(&f->agg, 1);
		if (life <= INTAKE_INCARNATIONS)
			LOOPBACK_WAIT(f->loop, f->summaries == life);
		else
			LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->held ==
						   life - INTAKE_INCARNATIONS);
	}
	intake_durable(f->intake, WIRE_LANE_SUMMARY, INTAKE_INCARNATIONS);
	LOOPBACK_WAIT(f->loop, f->summaries == INTAKE_INCARNATIONS + 1);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, INTAKE_INCARNATIONS + 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
}

static void
send_ending(struct fixture *f, uint64_t seq, const char *tor, unsigned s)
{
	f->agg.summary_ends_ns = s * UINT64_C(1000000000);
	send_summary_of(&f->agg, seq, tor);
}

/* Sums must not count a summary twice; the numbers cannot show the repeat, because they
 * began anew. */
static void
a_summary_repeated_after_a_restart_is_recognized_by_its_time(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_ending(f, 1, "tor1", 1000);
	send_ending(f, 2, "tor1", 1001);
	send_ending(f, 3, "tor2", 1000);
	LOOPBACK_WAIT(f->loop, f->summaries == 3);
	f->agg.life++;
	hello(f, &f->agg);
	send_ending(f, 2, "tor1", 1001);
	send_ending(f, 3, "tor2", 1000);
	LOOPBACK_WAIT(f->loop, f->summaries == 5);
	assert_int_equal(f->repeats, 2);
	send_ending(f, 4, "tor1", 1002);
	send_ending(f, 5, "tor2", 1001);
	/* The aggregator's clock is set back: within one process the numbers decide. */
	send_ending(f, 6, "tor1", 900);
	LOOPBACK_WAIT(f->loop, f->summaries == 8);
	assert_int_equal(f->repeats, 2);
	/* After a restart, a summary that ends much earlier shows a clock that was set,
	 * not a repeat. */
	send_ending(f, 7, "tor1", 9000);
	LOOPBACK_WAIT(f->loop, f->summaries == 9);
	f->agg.life++;
	hello(f, &f->agg);
	send_ending(f, 8, "tor1", 1003);
	LOOPBACK_WAIT(f->loop, f->summaries == 10);
	assert_int_equal(f->repeats, 2);
}

static void
an_incident_without_room_is_sent_again(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->incident_reports = -ENOMEM;
	send_incident(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->held == 1);
	f->incident_reports = 0;
	LOOPBACK_WAIT(f->loop, f->incidents == 1);
	assert_int_equal(f->tickets, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_is_acknowledged_when_it_is_durable_and_not_before),
		TEST(messages_that_become_durable_together_get_one_acknowledgement),
		TEST(a_repeated_message_is_acknowledged_and_not_applied),
		TEST(a_gap_is_counted_and_not_waited_for),
		TEST(messages_of_an_older_incarnation_still_count),
		TEST(after_a_restart_of_the_analyzer_all_messages_are_accepted_again),
		TEST(an_aggregator_reports_for_its_own_tors_only),
		TEST(a_message_without_room_waits_and_none_is_dropped),
		TEST(a_message_without_points_is_applied_and_acknowledged),
		TEST(an_incident_without_room_is_sent_again),
		TEST(a_restarted_aggregator_may_reuse_its_numbers),
		TEST(many_restarts_with_unsaved_messages_leave_room),
		TEST(a_summary_repeated_after_a_restart_is_recognized_by_its_time),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
