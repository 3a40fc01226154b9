#include "host-agent/probe/prober.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/udp/port_udp.h"
#include "tests/unit/host-agent/probe_fixture.h"

#define MS RM_NS_PER_MS

static void
probe(struct probe_fixture *fixture, const struct wire_target *target)
{
	assert_int_equal(prober_set_targets(fixture->prober, target, 1), 0);
}

static void
stop(struct probe_fixture *fixture)
{
	assert_int_equal(prober_set_targets(fixture->prober, NULL, 0), 0);
}

static bool
ten_results(struct probe_fixture *fixture)
{
	return fixture->count >= 10;
}

static bool
ten_skipped(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->skipped >= 10;
}

static bool
all_ended(struct probe_fixture *fixture)
{
	const struct prober_counts *counts = prober_counts(fixture->prober);

	return fixture->count == counts->due - counts->skipped;
}

static void
a_missing_reply_is_reported_at_the_timeout(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.9", 5000);
	rm_mono_t ended;

	if (!probe_fixture_root())
		skip();
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	ended = rm_mono_now();
	assert_true(rm_mono_since(ended, fixture->sent[9]) >= FIXTURE_TIMEOUT_NS);
	if (probe_fixture_ran(fixture, fixture->sent[9], ended))
		assert_true(rm_mono_since(ended, fixture->sent[9]) <=
			    FIXTURE_TIMEOUT_NS + 300 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	for (size_t i = 0; i < fixture->count; i++) {
		enum wire_outcome outcome = fixture->results[i].outcome;
		rm_mono_t sent = fixture->sent[i];

		/* A stall that began when the queue was to be read is a cause of
		 * WIRE_SELF_LOSS too. */
		if (outcome == WIRE_SELF_LOSS)
			assert_false(probe_fixture_ran(fixture, sent,
			    rm_mono_add(sent, FIXTURE_TIMEOUT_NS + 50 * MS)));
		else
			assert_true(
			    outcome == WIRE_NO_REPLY || outcome == WIRE_SENT_LATE);
	}
}

static void
a_probe_that_cannot_be_sent_is_reported_at_once(void **state)
{
	static const uint16_t sizes[] = { 3000 };
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 5000);

	if (!probe_fixture_root())
		skip();
	target.sizes = sizes;
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	assert_int_equal(
	    probe_fixture_outcomes(fixture, WIRE_SEND_FAILED), fixture->count);
	assert_int_equal(prober_counts(fixture->prober)->send_failed, fixture->count);
}

/* The limit on sockets is the agent's: a skipped flow is no evidence against the
 * RNIC. */
static void
a_flow_that_gets_no_socket_is_skipped(void **state)
{
	static const uint16_t flows[] = { 40001, 40002 };
	struct prober_options prober = { .timeout_ns = FIXTURE_TIMEOUT_NS };
	struct port_udp_options options = { .device = "lo", .max_flows = 1 };
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 5000);

	if (!probe_fixture_root())
		skip();
	prober_free(fixture->prober);
	fixture->prober = NULL;
	port_free(fixture->near);
	options.addresses[0] = probe_fixture_address("127.0.0.1", 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &fixture->near), 0);
	assert_int_equal(prober_new(fixture->loop, fixture->near, &prober,
			     probe_fixture_on_result, fixture, &fixture->prober),
	    0);
	target.flows = flows;
	target.flow_count = 2;
	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	probe_fixture_expect(fixture, WIRE_OK);
	assert_true(prober_counts(fixture->prober)->skipped > 0);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
}

static void
a_flow_whose_port_is_in_use_is_skipped(void **state)
{
	struct sockaddr_in taken = { .sin_family = AF_INET, .sin_port = htons(40001) };
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 5000);
	int fd;

	if (!probe_fixture_root())
		skip();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&taken, sizeof(taken)), 0);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_skipped);
	close(fd);
	assert_int_equal(fixture->count, 0);
	assert_int_equal(prober_counts(fixture->prober)->send_failed, 0);
}

/* Blocks the prober's own loop, as a stopped process would. */
static void
stall(int64_t ns)
{
	struct timespec wait = { .tv_sec = ns / RM_NS_PER_S,
		.tv_nsec = ns % RM_NS_PER_S };

	nanosleep(&wait, NULL);
}

static bool
ten_sent(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->sent >= 10;
}

static void
a_stall_of_the_agent_is_never_reported_as_no_reply(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.9", 2000);
	size_t sent, ended;

	if (!probe_fixture_root())
		skip();
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_sent);
	sent = prober_counts(fixture->prober)->sent;
	/* No probe is lost if nothing else delays the process. */
	ended = fixture->count;
	stall(400 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	assert_int_equal(fixture->count, sent);
	for (size_t i = ended; i < fixture->count; i++)
		assert_int_equal(fixture->results[i].outcome, WIRE_SELF_LOSS);
}

/* ---- a stopped reflector ---- */

/* The reflector is a
 * process of its own, and answers only when the host schedules it. Some tests of its
 * replies therefore need several tries, each with a longer time-out. */

#define TRIES 20

static bool
is_held_back(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->sent >= 5;
}

/* Sends probes to a stopped reflector. The caller must kill the returned process. */
static pid_t
hold_back(struct probe_fixture *fixture)
{
	struct wire_target target = probe_fixture_target("127.0.0.3", 5000);
	pid_t pid = probe_fixture_reflect_apart(fixture);

	kill(pid, SIGSTOP);
	probe(fixture, &target);
	probe_fixture_run(fixture, is_held_back);
	return pid;
}

/* Each try uses a new prober. */
static void
try_again(void **state)
{
	probe_fixture_teardown(state);
	assert_int_equal(probe_fixture_setup(state), 0);
}

/* Returns the number of replies in time. */
static size_t
read_after_a_stall(struct probe_fixture *fixture)
{
	pid_t pid = hold_back(fixture);
	size_t ended = fixture->count, in_time = 0;

	kill(pid, SIGCONT);
	stall(400 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	for (size_t i = ended; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->outcome == WIRE_SELF_LOSS) /* no reply came at all */
			continue;
		assert_int_equal(r->outcome,
		    r->round_trip_ns <= FIXTURE_TIMEOUT_NS ? WIRE_OK : WIRE_LATE_REPLY);
		/* Count only replies known to have waited in the prober's queue
		 * until they were read. */
		in_time += r->outcome == WIRE_OK &&
			   (!(r->flags & WIRE_SPLIT) || r->prober_delay_ns >= 200 * MS);
	}
	return in_time;
}

static void
a_reply_read_after_a_stall_was_in_time_by_its_stamp(void **state)
{
	int tries = 0;

	if (!probe_fixture_root())
		skip();
	while (read_after_a_stall(*state) == 0) {
		assert_true(++tries < TRIES);
		try_again(state);
	}
}

/* True: all replies were late. */
static bool
late_after_the_deadline(struct probe_fixture *fixture, int64_t patience_ns)
{
	pid_t pid = hold_back(fixture);
	size_t ended = fixture->count, late = 0;

	stall(FIXTURE_TIMEOUT_NS + 50 * MS);
	kill(pid, SIGCONT);
	stall(patience_ns);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	for (size_t i = ended; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		late += r->outcome == WIRE_LATE_REPLY;
		/* WIRE_SELF_LOSS: no reply came within the time-out. */
		if (r->outcome != WIRE_SELF_LOSS)
			assert_int_equal(r->outcome,
			    r->round_trip_ns <= FIXTURE_TIMEOUT_NS ? WIRE_OK
								   : WIRE_LATE_REPLY);
	}
	return late > 0 && late == fixture->count - ended;
}

static void
a_reply_after_the_deadline_is_late_by_its_stamp(void **state)
{
	int tries = 0;

	if (!probe_fixture_root())
		skip();
	while (!late_after_the_deadline(*state, (1 + tries) * 50 * MS)) {
		assert_true(++tries < TRIES);
		try_again(state);
	}
}

static bool
fifty_sent(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->sent >= 50;
}

/* True: the queue took some packets and dropped others, and the reflector was quick. */
static bool
overruns(struct probe_fixture *fixture)
{
	static const uint16_t sizes[] = { 1400 };
	struct prober_options options = { .timeout_ns = FIXTURE_TIMEOUT_NS };
	struct wire_target target = probe_fixture_target("127.0.0.3", 1000);
	pid_t pid;

	prober_free(fixture->prober);
	port_free(fixture->near);
	fixture->near = probe_fixture_port(fixture, "127.0.0.1", NULL, 0, 8192);
	assert_int_equal(prober_new(fixture->loop, fixture->near, &options,
			     probe_fixture_on_result, fixture, &fixture->prober),
	    0);
	target.sizes = sizes;
	pid = probe_fixture_reflect_apart(fixture);
	kill(pid, SIGSTOP);
	probe(fixture, &target);
	probe_fixture_run(fixture, fifty_sent);
	kill(pid, SIGCONT);
	stall(50 * MS); /* too short to count as a stall of the loop */
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	return port_counts(fixture->near)->overruns > 0 &&
	       probe_fixture_outcomes(fixture, WIRE_SELF_LOSS) > 0 &&
	       probe_fixture_outcomes(fixture, WIRE_OK) > 0 &&
	       probe_fixture_outcomes(fixture, WIRE_NO_REPLY) == 0;
}

static void
an_overrun_of_the_agents_queue_is_self_loss(void **state)
{
	int tries = 0;

	if (!probe_fixture_root())
		skip();
	while (!overruns(*state)) {
		assert_true(++tries < TRIES);
		try_again(state);
	}
}

#define TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, probe_fixture_setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_missing_reply_is_reported_at_the_timeout),
		TEST(a_probe_that_cannot_be_sent_is_reported_at_once),
		TEST(a_flow_that_gets_no_socket_is_skipped),
		TEST(a_flow_whose_port_is_in_use_is_skipped),
		TEST(a_stall_of_the_agent_is_never_reported_as_no_reply),
		TEST(a_reply_read_after_a_stall_was_in_time_by_its_stamp),
		TEST(a_reply_after_the_deadline_is_late_by_its_stamp),
		TEST(an_overrun_of_the_agents_queue_is_self_loss),
	};

	return probe_fixture_main(cmocka_run_group_tests_name(
	    "prober_loss", tests, probe_fixture_enter, NULL));
}
