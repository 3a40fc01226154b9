#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "intake_fixture.h"
#include "rackmesh/net/server.h"

static void
a_session_that_stops_pinging_is_closed(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	/* A link without any ping is of an older aggregator: it is not closed. */
	loopback_run(f->loop, 900 * RM_NS_PER_MS);
	assert_false(f->agg.closed);
	assert_true(f->agg.pings >= 1);
	send_ping(&f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(f->gone, 1);
	assert_int_equal(intake_counts(f->intake)->silent, 1);
}

static void
a_session_outlives_a_stall_of_the_analyzer(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	send_ping(&f->agg);
	settle(f);
	usleep(900 * 1000); /* the stall, which is longer than a peer may be silent */
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	assert_false(f->agg.closed);
	assert_int_equal(intake_counts(f->intake)->silent, 0);
	LOOPBACK_WAIT(f->loop, f->agg.closed); /* the silence after the stall counts */
}

static void
an_aggregator_reports_that_it_moves_to_another_analyzer(void **state)
{
	const struct wire_tor_standing stays = { .tor = "t1" };
	const struct wire_standing some = { .tors = &stays, .tor_count = 1 };
	const struct wire_standing none = { .now_ns = 1 };
	struct fixture *f = *state;
	struct wire_bytes bytes;

	hello(f, &f->agg);
	send_bytes(&f->agg, wire_write_standing(f->agg.writer, &some, &bytes), &bytes);
	settle(f);
	assert_int_equal(f->left, 0);
	send_bytes(&f->agg, wire_write_standing(f->agg.writer, &none, &bytes), &bytes);
	settle(f);
	assert_int_equal(f->left, 1);
	assert_int_equal(intake_counts(f->intake)->refused_messages, 0);
}

static void
keep_reconnect(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_WARNING && strstr(line, "reconnected") != NULL)
		snprintf(arg, 256, "%s", line);
}

/* Both addresses are in the log, since two aggregators may have the same name. */
static void
a_reconnecting_aggregator_replaces_its_older_session(void **state)
{
	struct fixture *f = *state;
	struct aggregator again = { .name = "agg1", .region = "lab" };
	struct aggregator other = { .name = "agg1", .region = "field" };
	char line[256] = "";

	again.writer = other.writer = wire_writer_new();
	hello(f, &f->agg);
	rm_log_set_sink(keep_reconnect, line);
	hello(f, &again);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_non_null(strstr(line, "agg1: reconnected from 127.0.0.1:"));
	assert_non_null(strstr(line, ", closed its older session from 127.0.0.1:"));
	assert_int_equal(f->gone, 0);
	/* An aggregator of the same name in another region is another aggregator. */
	hello(f, &other);
	assert_true(other.welcome);
	assert_false(again.closed);
	assert_non_null(intake_find(f->intake, "field", "agg1"));
	rm_link_free(again.link);
	rm_link_free(other.link);
	wire_writer_free(again.writer);
}

static void
refused_with(struct fixture *f, const char *sentence)
{
	hello(f, &f->agg);
	assert_false(f->agg.welcome);
	assert_string_equal(f->agg.refused, sentence);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
}

static void
an_unknown_peer_is_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;

	f->agg.name = "no name";
	refused_with(f, "the aggregator's name is not valid");
	f->agg.name = "agg1";
	f->agg.region = "";
	refused_with(f, "the region's name is not valid");
	f->agg.region = "lab";
	f->agg.newer = 2;
	refused_with(f, "versions more than one apart do not work together; upgrade "
			"the older side");
	f->agg.newer = 1;
	f->hello_reports = "the table of regions is full";
	refused_with(f, "the table of regions is full");
	f->hello_reports = NULL;
	hello(f, &f->agg);
	assert_true(f->agg.welcome);
	assert_int_equal(intake_counts(f->intake)->refused_hellos, 4);
}

static void
messages_before_a_hello_are_refused(void **state)
{
	struct fixture *f = *state;

	connect_to(f, &f->agg);
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(f->summaries, 0);
	assert_int_equal(intake_counts(f->intake)->refused_messages, 1);
}

static void
connections_are_bounded(void **state)
{
	struct fixture *f = *state;
	int fds[2];

	for (int i = 0; i < 2; i++)
		fds[i] = loopback_connect(rm_listener_port(f->listener));
	LOOPBACK_WAIT(f->loop, intake_server(f->intake)->count == 2);
	connect_to(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(intake_server(f->intake)->refused, 1);
	close(fds[0]);
	close(fds[1]);
}

static void
a_drill_is_forwarded_and_its_answer_is_returned(void **state)
{
	struct fixture *f = *state;
	struct wire_drill drill = { .token = 8, .rnic = "h1/r0", .seconds = 1 };
	struct wire_drill_answer answer = {
		.token = 8, .status = 200, .json = { (const uint8_t *)"{}", 2 }
	};
	struct wire_bytes bytes;

	hello(f, &f->agg);
	assert_int_equal(intake_drill(f->intake, 999, &drill), -ENOTCONN);
	assert_int_equal(
	    intake_drill(f->intake, intake_find(f->intake, "lab", "agg1")->id, &drill),
	    0);
	LOOPBACK_WAIT(f->loop, f->agg.drills == 1);
	assert_int_equal(f->agg.drill_token, 8);
	send_bytes(&f->agg, wire_write_drilled(f->agg.writer, &answer, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, f->drilled == 1);
	assert_int_equal(f->drilled_token, 8);
}

static void
report_ending(struct aggregator *agg, const char *controller, uint64_t ends_s)
{
	const struct wire_ping ping = { 1, controller, ends_s };
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_ping_ending(agg->writer, &ping, &bytes), &bytes);
}

/* The aggregator reports the end of its controller's certificate; a name that is not
 * valid is ignored. */
static void
a_controllers_certificate_that_ends_is_reported(void **state)
{
	struct fixture *f = *state;
	const struct intake_info *info;

	hello(f, &f->agg);
	info = intake_get(f->intake, 0);
	report_ending(&f->agg, "c1", 1795147800);
	LOOPBACK_WAIT(f->loop, info->controller_ends_s == 1795147800);
	assert_string_equal(info->controller, "c1");
	assert_int_equal(info->ends_s, 0); /* no certificate */
	report_ending(&f->agg, "no name", 1795147800);
	LOOPBACK_WAIT(f->loop, info->controller_ends_s == 0);
	assert_string_equal(info->controller, "");
	report_ending(&f->agg, "c1", 7);
	LOOPBACK_WAIT(f->loop, info->controller_ends_s == 7);
	report_ending(&f->agg, "c1", UINT64_MAX);
	LOOPBACK_WAIT(f->loop, info->controller_ends_s == 0);
	report_ending(&f->agg, "c1", 7);
	LOOPBACK_WAIT(f->loop, info->controller_ends_s == 7);
	settle(f);
	assert_int_equal(info->controller_ends_s, 0);
}

static void
the_hello_has_the_summary_interval_of_the_aggregator(void **state)
{
	struct fixture *f = *state;

	f->agg.summary_interval_s = 1;
	hello(f, &f->agg);
	assert_int_equal(intake_get(f->intake, 0)->row_interval_ns, RM_NS_PER_S);
	f->agg.summary_interval_s = 3600;
	hello(f, &f->agg);
	assert_int_equal(
	    intake_find(f->intake, f->agg.region, f->agg.name)->row_interval_ns,
	    3600 * RM_NS_PER_S);
	assert_int_equal(intake_counts(f->intake)->refused_intervals, 0);
}

static void
an_aggregator_without_an_interval_counts_with_10_s(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	assert_int_equal(intake_get(f->intake, 0)->row_interval_ns, 10 * RM_NS_PER_S);
	assert_int_equal(intake_counts(f->intake)->refused_intervals, 0);
}

static void
an_interval_beyond_an_hour_is_counted_and_not_accepted(void **state)
{
	struct fixture *f = *state;

	f->agg.summary_interval_s = 3601;
	hello(f, &f->agg);
	assert_true(f->agg.welcome);
	assert_int_equal(intake_get(f->intake, 0)->row_interval_ns, 10 * RM_NS_PER_S);
	assert_int_equal(intake_counts(f->intake)->refused_intervals, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_that_stops_pinging_is_closed),
		TEST(a_session_outlives_a_stall_of_the_analyzer),
		TEST(an_aggregator_reports_that_it_moves_to_another_analyzer),
		TEST(the_hello_has_the_summary_interval_of_the_aggregator),
		TEST(an_aggregator_without_an_interval_counts_with_10_s),
		TEST(an_interval_beyond_an_hour_is_counted_and_not_accepted),
		TEST(a_reconnecting_aggregator_replaces_its_older_session),
		TEST(an_unknown_peer_is_refused_with_a_reason),
		TEST(messages_before_a_hello_are_refused),
		TEST(connections_are_bounded),
		TEST(a_drill_is_forwarded_and_its_answer_is_returned),
		TEST(a_controllers_certificate_that_ends_is_reported),
	};

	return cmocka_run_group_tests_name("intake_sessions", tests, NULL, NULL);
}
