/* The lanes over real sockets, to analyzers that acknowledge, do not acknowledge,
 * refuse, become silent, or close the link. */
#include "tor-aggregator/analyzer/analyzer_link.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/plan/peer_versions.h"

#define MAX_SEEN 4096

struct analyzer { /* a simulated analyzer */
	struct rm_loop *loop;
	struct rm_listener *listener;
	struct rm_link *link;
	struct wire_writer *writer;
	const char *refuses; /* the error that it sends; NULL: it accepts */
	bool mute, acks;
	uint64_t cut_after; /* closes the link after so many messages; 0: never */
	unsigned hellos, pings, answers, farewells;
	char ending[RM_NAME_BYTES];
	uint64_t ends_s;
	uint64_t got, seqs[MAX_SEEN]; /* numbers of summaries */
	unsigned incidents,
	    before_incidents; /* summaries that came before the first incident */
	uint64_t incarnation;
};

struct world {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct report_spool *reports;
	struct analyzer_link *link;
	struct analyzer analyzers[2];
	unsigned welcomes, drills;
	char folder[64];
};

static void
analyzer_send(struct analyzer *analyzer, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	rm_link_send(analyzer->link, bytes->data, bytes->len);
}

static void
analyzer_ack(struct analyzer *analyzer, enum wire_lane lane, uint64_t seq)
{
	const struct wire_ack ack = { lane, analyzer->incarnation, seq };
	struct wire_bytes bytes = { 0 };

	analyzer_send(analyzer, wire_write_ack(analyzer->writer, &ack, &bytes), &bytes);
}

static void
analyzer_ping(struct analyzer *analyzer)
{
	struct wire_bytes bytes = { 0 };

	analyzer_send(analyzer, wire_write_ping(analyzer->writer, 1, &bytes), &bytes);
}

static int
take_ping(struct analyzer *analyzer, const uint8_t *data, size_t len)
{
	struct wire_ping ping;

	assert_int_equal(wire_open_ping_ending(&ping, data, len), 0);
	snprintf(analyzer->ending, sizeof(analyzer->ending), "%s", ping.ending);
	analyzer->ends_s = ping.ends_s;
	return 0;
}

static int
take_summary(struct analyzer *analyzer, const uint8_t *data, size_t len)
{
	struct wire_summary_view view;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	analyzer->incarnation = view.summary.head.incarnation;
	assert_true(analyzer->got < MAX_SEEN);
	analyzer->seqs[analyzer->got++] = view.summary.head.seq;
	if (analyzer->got == analyzer->cut_after) {
		analyzer->cut_after = 0;
		return -ECONNRESET;
	}
	if (analyzer->acks)
		analyzer_ack(analyzer, WIRE_LANE_SUMMARY, view.summary.head.seq);
	return 0;
}

static void
take_hello(struct analyzer *analyzer, const uint8_t *data, size_t len)
{
	const struct wire_welcome welcome = { .version = 1,
		.id = "a1",
		.refused = analyzer->refuses == NULL ? "" : analyzer->refuses };
	struct wire_hello_view hello;
	struct wire_bytes bytes = { 0 };
	struct wire_tor_state tor;

	assert_int_equal(wire_open_hello(&hello, data, len), 0);
	assert_int_equal(hello.hello.role, WIRE_ROLE_AGGREGATOR);
	assert_string_equal(hello.hello.id, "agg");
	assert_int_equal(hello.hello.tor_count, 1);
	assert_int_equal(hello.hello.summary_interval_s, 60);
	wire_hello_tor(&hello, 0, &tor);
	assert_string_equal(tor.tor, "t1");
	analyzer->hellos++;
	if (!analyzer->mute)
		analyzer_send(analyzer,
		    wire_write_welcome(analyzer->writer, &welcome, &bytes), &bytes);
}

static int
analyzer_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct analyzer *analyzer = arg;

	switch (wire_kind_of(data, len)) {
	case WIRE_HELLO:
		take_hello(analyzer, data, len);
		return 0;
	case WIRE_SUMMARY:
		return take_summary(analyzer, data, len);
	case WIRE_INCIDENT:
		if (analyzer->incidents++ == 0)
			analyzer->before_incidents = (unsigned)analyzer->got;
		return 0;
	case WIRE_PING:
		analyzer->pings++;
		return take_ping(analyzer, data, len);
	case WIRE_DRILL_ANSWER:
		analyzer->answers++;
		return 0;
	case WIRE_STANDING:
		analyzer->farewells++;
		return 0;
	default:
		fail_msg("an analyzer gets no such frame");
		return -EPROTO;
	}
}

static void
analyzer_closed(struct rm_link *link, int reason, void *arg)
{
	struct analyzer *analyzer = arg;

	rm_link_free(link);
	analyzer->link = NULL;
}

static int
analyzer_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { analyzer_frame,
		analyzer_closed, NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	struct analyzer *analyzer = arg;

	rm_link_free(analyzer->link);
	return rm_link_new(
	    analyzer->loop, fd, &limits, &callbacks, analyzer, &analyzer->link);
}

static void
on_welcome(void *arg)
{
	struct world *world = arg;

	world->welcomes++;
}

static int
on_drill(const uint8_t *data, size_t len, void *arg)
{
	const struct wire_drill_answer answer = {
		.token = 1, .status = 200, .json = { (const uint8_t *)"{}", 2 }
	};
	struct wire_writer *writer = wire_writer_new();
	struct world *world = arg;
	struct wire_bytes bytes;

	world->drills++;
	assert_int_equal(wire_write_drilled(writer, &answer, &bytes), 0);
	assert_int_equal(analyzer_link_send(world->link, &bytes), 0);
	wire_writer_free(writer);
	return 0;
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct report_spool_options options = { .aggregator = "agg",
		.region = "lab",
		.summary_bytes = 8 << 20,
		.incident_bytes = 1 << 20 };
	struct rm_error error = { 0 };

	rm_log_set_level(RM_LOG_ERROR);
	*state = world;
	strcpy(world->folder, "/tmp/test_analyzer.XXXXXX");
	if (mkdtemp(world->folder) == NULL || rm_loop_new(&world->loop) < 0)
		return -1;
	options.folder = world->folder;
	for (int i = 0; i < 2; i++) {
		struct analyzer *analyzer = &world->analyzers[i];
		struct rm_address address = loopback_address(0);

		analyzer->loop = world->loop;
		analyzer->acks = true;
		analyzer->writer = wire_writer_new();
		if (rm_listener_new(world->loop, &address, analyzer_accept, analyzer,
			&analyzer->listener) < 0)
			return -1;
	}
	if (rm_worker_new(world->loop, 16, &world->worker) < 0)
		return -1;
	return report_spool_new(
	    world->loop, world->worker, &options, &world->reports, &error);
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	rm_worker_free(world->worker);
	analyzer_link_free(world->link);
	report_spool_free(world->reports);
	for (int i = 0; i < 2; i++) {
		rm_link_free(world->analyzers[i].link);
		rm_listener_free(world->analyzers[i].listener);
		wire_writer_free(world->analyzers[i].writer);
	}
	rm_loop_free(world->loop);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	free(world);
	return system(command) == 0 ? 0 : -1;
}

static void
dial(struct world *world, size_t count)
{
	static const char *const tors[] = { "t1" };
	static struct peer_versions versions;
	struct rm_endpoint endpoints[2];
	const struct analyzer_link_options options = { .analyzers = endpoints,
		.analyzer_count = count,
		.name = "agg",
		.region = "lab",
		.tors = tors,
		.tor_count = 1,
		.summary_interval_s = 60,
		.versions = &versions };
	const struct analyzer_link_callbacks callbacks = { on_welcome, on_drill,
		world };

	for (size_t i = 0; i < 2; i++)
		endpoints[i] =
		    loopback_endpoint(rm_listener_port(world->analyzers[i].listener));
	assert_int_equal(analyzer_link_new(world->loop, &options, &callbacks,
			     world->reports, &world->link),
	    0);
}

static void
put(struct world *world, int count)
{
	const struct wire_summary summary = {
		.tor = "t1", .start_wall_ns = 1, .end_wall_ns = 2
	};

	for (int i = 0; i < count; i++)
		report_spool_summary(world->reports, &summary);
}

static uint64_t
waiting(struct world *world)
{
	return report_spool_held(world->reports, WIRE_LANE_SUMMARY);
}

static void
acknowledged_messages_are_removed_from_the_lane(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	put(world, 50);
	dial(world, 2);
	LOOPBACK_WAIT(world->loop, waiting(world) == 0);
	put(world, 50);
	LOOPBACK_WAIT(world->loop, waiting(world) == 0);
	assert_int_equal(analyzer->got, 100);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(analyzer->seqs[i], i + 1);
	assert_int_equal(world->welcomes, 1);
	assert_true(analyzer_link_connected(world->link));
	assert_string_equal(analyzer_link_analyzer(world->link), "a1");
	assert_int_equal(world->analyzers[1].hellos, 0);
	assert_int_equal(
	    report_spool_counts(world->reports, WIRE_LANE_SUMMARY)->delivered, 100);
}

static void
unacknowledged_messages_are_sent_again_in_order(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	analyzer->acks = false;
	analyzer->cut_after = 30;
	put(world, 40);
	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->hellos == 2 && analyzer->got == 70);
	for (uint64_t i = 0; i < 40; i++)
		assert_int_equal(analyzer->seqs[30 + i], i + 1);
	assert_int_equal(waiting(world), 40);
	analyzer_ack(analyzer, WIRE_LANE_SUMMARY, 25);
	LOOPBACK_WAIT(world->loop, waiting(world) == 15);
	rm_link_close(analyzer->link, -ECONNRESET);
	LOOPBACK_WAIT(world->loop, analyzer->hellos == 3 && analyzer->got == 85);
	assert_int_equal(analyzer->seqs[70], 26);
	assert_int_equal(world->welcomes, 3);
}

static void
no_more_than_a_window_is_in_flight(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	analyzer->acks = false;
	put(world, 1500);
	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->got == 1024);
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(analyzer->got, 1024);
	analyzer_ack(analyzer, WIRE_LANE_SUMMARY, 600);
	LOOPBACK_WAIT(world->loop, analyzer->got == 1500);
}

static void
an_ack_of_what_an_earlier_link_sent_counts(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	analyzer->acks = false;
	put(world, 1500);
	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->got == 1024);
	analyzer_ack(analyzer, WIRE_LANE_SUMMARY, 1400);
	LOOPBACK_WAIT(world->loop, waiting(world) == 100 && analyzer->got == 1124);
	assert_int_equal(analyzer->seqs[1024], 1401);
	/* An acknowledgement for another incarnation is ignored. */
	analyzer->incarnation++;
	analyzer_ack(analyzer, WIRE_LANE_SUMMARY, 1450);
	LOOPBACK_WAIT(world->loop, analyzer->hellos == 2);
	assert_int_equal(waiting(world), 100);
	assert_int_equal(analyzer_link_counts(world->link)->bad_frames, 1);
}

static void
messages_of_newer_analyzers_are_ignored(void **state)
{
	static const uint8_t newer[16] = { 12, 0, 0, 0, 4, 0, 0, 0, 'R', 'M', 'Z',
		'9' };
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->hellos == 1 && analyzer->link != NULL);
	assert_int_equal(rm_link_send(analyzer->link, newer, sizeof(newer)), 0);
	LOOPBACK_WAIT(world->loop, analyzer_link_counts(world->link)->bad_frames == 1);
	put(world, 10);
	LOOPBACK_WAIT(world->loop, analyzer->got == 10 && waiting(world) == 0);
	assert_int_equal(analyzer->hellos, 1);
}

/* The disk was read-only or restored from a backup, so messages are numbered from an
 * earlier number on. */
static void
an_ack_beyond_the_last_message_acknowledges_all(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];

	analyzer->acks = false;
	put(world, 10);
	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->got == 10);
	analyzer_ack(analyzer, WIRE_LANE_SUMMARY, 5000);
	LOOPBACK_WAIT(world->loop, waiting(world) == 0);
	analyzer->acks = true;
	put(world, 5);
	LOOPBACK_WAIT(world->loop, analyzer->got == 15 && waiting(world) == 0);
	assert_int_equal(analyzer->hellos, 1);
	assert_int_equal(analyzer_link_counts(world->link)->bad_frames, 0);
}

static void
incidents_pass_the_backlog(void **state)
{
	struct rm_incident incident = { .id = 7, .verdict.kind = RM_KIND_RNIC_DOWN };
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];
	struct rm_spool_item item;

	incident.verdict.part.type = RM_PART_RNIC;
	strcpy(incident.verdict.part.name, "h1/r0");
	put(world, 200);
	report_spool_incident(world->reports, "t1", WIRE_OPENED, &incident);
	LOOPBACK_WAIT(world->loop,
	    report_spool_take(world->reports, WIRE_LANE_INCIDENT, 1, &item) == 0);
	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer->got == 200);
	assert_int_equal(analyzer->incidents, 1);
	assert_int_equal(analyzer->before_incidents, 0);
}

static void
after_a_refusal_the_next_analyzer_is_tried(void **state)
{
	struct world *world = *state;

	world->analyzers[0].refuses = "not here";
	put(world, 3);
	dial(world, 2);
	LOOPBACK_WAIT(world->loop, world->analyzers[1].got == 3);
	assert_int_equal(world->analyzers[0].got, 0);
	assert_true(analyzer_link_counts(world->link)->refused >= 1);
	assert_int_equal(analyzer_link_counts(world->link)->bad_frames, 0);
}

static void
a_silent_analyzer_is_disconnected(void **state)
{
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];
	rm_mono_t now;

	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer_link_connected(world->link));
	now = rm_mono_now();
	/* An analyzer that never sends a ping may stay silent. */
	analyzer_link_tick(world->link, "c1", 0, rm_mono_add(now, 60 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, analyzer->pings == 1);
	assert_string_equal(analyzer->ending, "");
	analyzer_link_tick(
	    world->link, "c1", 1795147800, rm_mono_add(now, 61 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, analyzer->pings == 2);
	assert_string_equal(analyzer->ending, "c1");
	assert_int_equal(analyzer->ends_s, 1795147800);
	analyzer_ping(analyzer);
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	now = rm_mono_now();
	analyzer_link_tick(world->link, "", 0, rm_mono_add(now, 2 * RM_NS_PER_S));
	analyzer_link_stalled(world->link, rm_mono_add(now, 2 * RM_NS_PER_S));
	analyzer_link_tick(world->link, "", 0, rm_mono_add(now, 4 * RM_NS_PER_S));
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(analyzer->hellos, 1);
	analyzer_link_tick(world->link, "", 0, rm_mono_add(now, 6 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, analyzer->hellos == 2);
	assert_int_equal(analyzer_link_counts(world->link)->silent, 1);
}

static void
an_analyzer_that_never_answers_the_hello_is_disconnected(void **state)
{
	struct world *world = *state;

	world->analyzers[0].mute = true;
	dial(world, 2);
	LOOPBACK_WAIT(world->loop, world->analyzers[0].hellos == 1);
	analyzer_link_tick(
	    world->link, "", 0, rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, analyzer_link_connected(world->link));
	assert_int_equal(world->analyzers[1].hellos, 1);
}

static void
a_drill_is_handed_over_and_answered(void **state)
{
	const struct wire_drill drill = {
		.token = 1, .rnic = "h1/r0", .seconds = 1, .limit = 1
	};
	struct world *world = *state;
	struct analyzer *analyzer = &world->analyzers[0];
	struct wire_bytes bytes = { 0 };

	dial(world, 1);
	LOOPBACK_WAIT(world->loop, analyzer_link_connected(world->link));
	analyzer_send(
	    analyzer, wire_write_drill(analyzer->writer, &drill, &bytes), &bytes);
	LOOPBACK_WAIT(world->loop, analyzer->answers == 1);
	assert_int_equal(world->drills, 1);
}

/* Runs the loop, and the ticks of the link. */
#define WAIT_TICKING(world, condition)                                          \
	do {                                                                    \
		rm_mono_t until = rm_mono_add(rm_mono_now(), 60 * RM_NS_PER_S); \
		while (!(condition)) {                                          \
			analyzer_link_tick(world->link, "", 0, rm_mono_now());  \
			loopback_run(world->loop, 10 * RM_NS_PER_MS);           \
			assert_true(rm_mono_now().ns < until.ns);               \
		}                                                               \
	} while (0)

static void
the_link_returns_to_an_earlier_analyzer_that_welcomes_it(void **state)
{
	struct world *world = *state;
	struct analyzer *first = &world->analyzers[0], *second = &world->analyzers[1];

	first->refuses = "not now";
	dial(world, 2);
	WAIT_TICKING(world, second->hellos == 1 && first->hellos >= 3);
	assert_int_equal(second->farewells, 0);
	assert_non_null(second->link);
	first->refuses = NULL;
	WAIT_TICKING(world, second->link == NULL);
	assert_int_equal(second->farewells, 1);
	WAIT_TICKING(world, analyzer_link_connected(world->link));
	assert_non_null(first->link);
	assert_int_equal(second->hellos, 1);
	assert_int_equal(analyzer_link_counts(world->link)->returned, 1);
	/* The link stays with this analyzer. */
	analyzer_link_tick(world->link, "", 0, rm_mono_now());
	loopback_run(world->loop, 100 * RM_NS_PER_MS);
	assert_true(analyzer_link_connected(world->link));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(acknowledged_messages_are_removed_from_the_lane),
		TEST(the_link_returns_to_an_earlier_analyzer_that_welcomes_it),
		TEST(unacknowledged_messages_are_sent_again_in_order),
		TEST(no_more_than_a_window_is_in_flight),
		TEST(an_ack_of_what_an_earlier_link_sent_counts),
		TEST(messages_of_newer_analyzers_are_ignored),
		TEST(an_ack_beyond_the_last_message_acknowledges_all),
		TEST(incidents_pass_the_backlog),
		TEST(after_a_refusal_the_next_analyzer_is_tried),
		TEST(a_silent_analyzer_is_disconnected),
		TEST(an_analyzer_that_never_answers_the_hello_is_disconnected),
		TEST(a_drill_is_handed_over_and_answered),
	};

	return cmocka_run_group_tests_name("analyzer_link", tests, NULL, NULL);
}
