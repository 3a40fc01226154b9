#include "analyzer/intake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/base/link.h"
#include "rackmesh/base/listener.h"
#include "rackmesh/base/log.h"
#include "tests/support/loopback.h"

struct aggregator { /* played */
	struct rm_link *link;
	struct wire_writer *writer;
	const char *name, *region;
	uint16_t newer; /* by so many versions */
	bool welcome, closed, mute;
	char refused[256];
	uint64_t acked[WIRE_LANE_INCIDENT + 1]; /* the last number, by lane */
	uint64_t acked_incarnation;
	unsigned acks, pings, drills;
	uint64_t drill_token;
	uint64_t incarnation; /* of its lanes */
};

struct fixture {
	struct rm_loop *loop;
	struct intake *intake;
	struct rm_listener *listener;
	struct aggregator agg;
	/* What stands behind the intake. */
	uint64_t tickets;
	int take_says, incident_says;
	const char *hello_says;
	unsigned hellos, gone, heard, summaries, incidents, drilled;
	uint64_t drilled_token;
};

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

/* ---- behind the intake ------------------------------------------------------------
 */

static const char *
on_hello(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->hellos++;
	return f->hello_says;
}

static void
on_gone(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->gone++;
}

static void
on_heard(const struct intake_info *session, void *arg)
{
	struct fixture *f = arg;

	f->heard++;
}

static int
take(enum wire_lane lane, const uint8_t *data, size_t len, uint64_t *ticket, void *arg)
{
	struct fixture *f = arg;

	if (f->take_says < 0)
		return f->take_says;
	*ticket = ++f->tickets;
	return 0;
}

static void
on_summary(const struct wire_summary_view *view, void *arg)
{
	struct fixture *f = arg;

	f->summaries++;
}

static int
on_incident(const struct wire_incident *incident, void *arg)
{
	struct fixture *f = arg;

	f->incidents += f->incident_says == 0;
	return f->incident_says;
}

static void
on_drilled(const struct intake_info *session, const struct wire_drill_answer *answer,
    void *arg)
{
	struct fixture *f = arg;

	f->drilled++;
	f->drilled_token = answer->token;
}

static void
start(struct fixture *f)
{
	const struct intake_options options = { "an1", 77, 2, 600 * RM_NS_PER_MS };
	const struct intake_callbacks callbacks = { on_hello, on_gone, on_heard, take,
		on_summary, on_incident, on_drilled, f };
	struct rm_address address = loopback_address(0);

	f->tickets = 0;
	assert_int_equal(intake_new(f->loop, &options, &callbacks, &f->intake), 0);
	assert_int_equal(
	    rm_listener_new(f->loop, &address, intake_accept, f->intake, &f->listener),
	    0);
}

static void
stop(struct fixture *f)
{
	rm_listener_free(f->listener);
	intake_free(f->intake);
	f->listener = NULL;
	f->intake = NULL;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	rm_log_set_sink(quiet, NULL);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	f->agg =
	    (struct aggregator){ .name = "agg1", .region = "lab", .incarnation = 5 };
	f->agg.writer = wire_writer_new();
	start(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_link_free(f->agg.link);
	wire_writer_free(f->agg.writer);
	stop(f);
	rm_loop_free(f->loop);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

/* ---- the aggregator ----------------------------------------------------------------
 */

static int
agg_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct aggregator *agg = arg;
	struct wire_welcome welcome;
	struct wire_drill drill;
	struct wire_ack ack;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		assert_int_equal(wire_open_welcome(&welcome, data, len), 0);
		snprintf(agg->refused, sizeof(agg->refused), "%s", welcome.refused);
		agg->welcome = welcome.refused[0] == '\0';
		break;
	case WIRE_ACK:
		assert_int_equal(wire_open_ack(&ack, data, len), 0);
		assert_true(ack.seq >= agg->acked[ack.lane]);
		agg->acked[ack.lane] = ack.seq;
		agg->acked_incarnation = ack.incarnation;
		agg->acks++;
		break;
	case WIRE_PING:
		agg->pings++;
		break;
	case WIRE_DRILL:
		assert_int_equal(wire_open_drill(&drill, data, len), 0);
		agg->drill_token = drill.token;
		agg->drills++;
		break;
	default:
		fail_msg("a message that an aggregator does not know");
	}
	return 0;
}

static void
agg_on_close(struct rm_link *link, int reason, void *arg)
{
	struct aggregator *agg = arg;

	rm_link_free(link);
	agg->link = NULL;
	agg->closed = true;
}

static void
connect_to(struct fixture *f, struct aggregator *agg)
{
	static const struct rm_link_callbacks callbacks = { agg_on_frame, agg_on_close,
		NULL };
	static const struct rm_link_limits limits = { 16 << 20, 64 << 20 };

	rm_link_free(agg->link);
	agg->welcome = agg->closed = false;
	memset(agg->acked, 0, sizeof(agg->acked));
	assert_int_equal(
	    rm_link_new(f->loop, loopback_connect(rm_listener_port(f->listener)),
		&limits, &callbacks, agg, &agg->link),
	    0);
}

static void
send_bytes(struct aggregator *agg, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(agg->link, bytes->data, bytes->len), 0);
}

static void
hello(struct fixture *f, struct aggregator *agg)
{
	const struct wire_tor_state tors[] = { { .tor = "tor1" }, { .tor = "tor2" } };
	const struct wire_hello message = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = (uint16_t)(WIRE_VERSION + agg->newer),
		.version_max = (uint16_t)(WIRE_VERSION + agg->newer),
		.region = agg->region,
		.id = agg->name,
		.incarnation = 3,
		.tors = tors,
		.tor_count = 2 };
	struct wire_bytes bytes;

	connect_to(f, agg);
	agg->refused[0] = '\0';
	send_bytes(agg, wire_write_hello(agg->writer, &message, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, agg->welcome || agg->refused[0] != '\0');
}

static struct wire_lane_head
head_of(const struct aggregator *agg, uint64_t seq)
{
	return (struct wire_lane_head){ agg->name, agg->region, agg->incarnation, seq };
}

static void
send_summary_of(struct aggregator *agg, uint64_t seq, const char *tor)
{
	const struct wire_summary summary = { .head = head_of(agg, seq), .tor = tor };
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_summary(agg->writer, &summary, &bytes), &bytes);
}

static void
send_summary(struct aggregator *agg, uint64_t seq)
{
	send_summary_of(agg, seq, "tor1");
}

static void
send_incident(struct aggregator *agg, uint64_t seq)
{
	const struct wire_incident incident = { .head = head_of(agg, seq),
		.incident_id = seq,
		.state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "rnic",
		.part = "h1/r0",
		.kind = "rnic-down" };
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_incident(agg->writer, &incident, &bytes), &bytes);
}

static void
send_ping(struct aggregator *agg)
{
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_ping(agg->writer, 1, &bytes), &bytes);
}

/* All that was sent before has been seen. */
static void
settle(struct fixture *f)
{
	unsigned heard = f->heard;

	send_ping(&f->agg);
	LOOPBACK_WAIT(f->loop, f->heard > heard);
	loopback_run(f->loop, 20 * RM_NS_PER_MS);
}

/* ---- tests ------------------------------------------------------------------------
 */

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
many_that_become_durable_together_are_acknowledged_at_once(void **state)
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
what_comes_again_is_acknowledged_again_and_not_applied(void **state)
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
after_a_restart_of_ours_everything_is_taken_anew(void **state)
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
an_aggregator_speaks_for_its_own_tors_only(void **state)
{
	struct fixture *f = *state;
	const char *name = f->agg.name;

	hello(f, &f->agg);
	send_summary_of(&f->agg, 1, "tor9");
	f->agg.name = "agg2";
	send_summary(&f->agg, 2);
	f->agg.name = name;
	/* Its lane goes on all the same. */
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 2);
	assert_int_equal(f->summaries, 0);
	assert_int_equal(f->tickets, 0);
	assert_int_equal(intake_counts(f->intake)->foreign, 2);
	/* But never before what came earlier. */
	send_summary(&f->agg, 3);
	send_summary_of(&f->agg, 4, "tor9");
	settle(f);
	assert_int_equal(f->agg.acked[WIRE_LANE_SUMMARY], 2);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 4);
}

static void
what_cannot_be_taken_now_waits_and_nothing_is_dropped(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->take_says = -ENOBUFS;
	for (uint64_t seq = 1; seq <= 50; seq++)
		send_summary(&f->agg, seq);
	LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->held == 1);
	assert_true(intake_get(f->intake, 0)->is_held);
	/* Longer than a silent one would be borne. */
	send_ping(&f->agg);
	loopback_run(f->loop, 900 * RM_NS_PER_MS);
	assert_false(f->agg.closed);
	assert_int_equal(f->summaries, 0);
	assert_int_equal(f->agg.acks, 0);
	f->take_says = 0;
	LOOPBACK_WAIT(f->loop, f->summaries == 50);
	intake_durable(f->intake, WIRE_LANE_SUMMARY, 50);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 50);
	assert_int_equal(intake_counts(f->intake)->missing, 0);
	assert_false(intake_get(f->intake, 0)->is_held);
}

static void
what_makes_no_points_is_applied_and_passed_over(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->take_says = -EBADMSG;
	send_summary(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == 1);
	assert_int_equal(f->summaries, 1);
	assert_int_equal(intake_counts(f->intake)->pointless, 1);
}

static void
an_incident_that_finds_no_room_comes_again(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	f->incident_says = -ENOMEM;
	send_incident(&f->agg, 1);
	LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->held == 1);
	f->incident_says = 0;
	LOOPBACK_WAIT(f->loop, f->incidents == 1);
	assert_int_equal(f->tickets, 1);
}

static void
who_pings_and_then_is_silent_is_dropped(void **state)
{
	struct fixture *f = *state;

	hello(f, &f->agg);
	/* One that never pinged is of an older make. */
	loopback_run(f->loop, 900 * RM_NS_PER_MS);
	assert_false(f->agg.closed);
	assert_true(f->agg.pings >= 1);
	send_ping(&f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(f->gone, 1);
	assert_int_equal(intake_counts(f->intake)->silent, 1);
}

static void
who_connects_anew_replaces_its_older_session(void **state)
{
	struct fixture *f = *state;
	struct aggregator again = { .name = "agg1", .region = "lab" };
	struct aggregator other = { .name = "agg1", .region = "field" };

	again.writer = other.writer = wire_writer_new();
	hello(f, &f->agg);
	hello(f, &again);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(f->gone, 0);
	/* The same name in another region is somebody else. */
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
a_stranger_is_refused_with_a_reason(void **state)
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
	f->hello_says = "no room for one more region";
	refused_with(f, "no room for one more region");
	f->hello_says = NULL;
	hello(f, &f->agg);
	assert_true(f->agg.welcome);
	assert_int_equal(intake_counts(f->intake)->refused_hellos, 4);
}

static void
nobody_is_listened_to_before_a_hello(void **state)
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
	LOOPBACK_WAIT(f->loop, intake_counts(f->intake)->sessions == 2);
	connect_to(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_int_equal(intake_counts(f->intake)->refused_connections, 1);
	close(fds[0]);
	close(fds[1]);
}

static void
a_drill_goes_down_and_its_answer_comes_back(void **state)
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_is_acknowledged_when_it_is_durable_and_not_before),
		TEST(many_that_become_durable_together_are_acknowledged_at_once),
		TEST(what_comes_again_is_acknowledged_again_and_not_applied),
		TEST(a_gap_is_counted_and_not_waited_for),
		TEST(messages_of_an_older_incarnation_still_count),
		TEST(after_a_restart_of_ours_everything_is_taken_anew),
		TEST(an_aggregator_speaks_for_its_own_tors_only),
		TEST(what_cannot_be_taken_now_waits_and_nothing_is_dropped),
		TEST(what_makes_no_points_is_applied_and_passed_over),
		TEST(an_incident_that_finds_no_room_comes_again),
		TEST(who_pings_and_then_is_silent_is_dropped),
		TEST(who_connects_anew_replaces_its_older_session),
		TEST(a_stranger_is_refused_with_a_reason),
		TEST(nobody_is_listened_to_before_a_hello),
		TEST(connections_are_bounded),
		TEST(a_drill_goes_down_and_its_answer_comes_back),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
