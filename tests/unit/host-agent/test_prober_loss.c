#include "host-agent/prober.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/port_udp.h"
#include "probe_fixture.h"

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

	return fixture->count == counts->asked - counts->skipped;
}

static void
silence_is_no_reply_and_not_later_than_the_timeout(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.9", 5000);

	if (!probe_fixture_root())
		skip();
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	assert_in_range(rm_mono_since(rm_mono_now(), fixture->sent[9]),
	    FIXTURE_TIMEOUT_NS, FIXTURE_TIMEOUT_NS + 300 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_NO_REPLY) +
			     probe_fixture_outcomes(fixture, WIRE_SENT_LATE),
	    fixture->count);
}

static void
what_cannot_be_sent_is_told_at_once(void **state)
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

/* The RNIC could have sent it: no evidence against it. */
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
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_OK), fixture->count);
	assert_true(prober_counts(fixture->prober)->skipped > 0);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
}

static void
a_flow_whose_port_another_process_has_is_skipped(void **state)
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

/* Blocks our own loop, as a stopped process would. */
static void
stall(int64_t ns)
{
	struct timespec wait = { .tv_sec = ns / RM_NS_PER_S,
		.tv_nsec = ns % RM_NS_PER_S };

	nanosleep(&wait, NULL);
}

static void
a_stall_of_ours_is_never_no_reply(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.9", 2000);
	size_t before;

	if (!probe_fixture_root())
		skip();
	probe(fixture, &target);
	probe_fixture_run_for(fixture, 50 * MS);
	before = prober_counts(fixture->prober)->sent;
	assert_true(before > 0);
	stall(400 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	assert_int_equal(fixture->count, before);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_SELF_LOSS), before);
}

/* Probes that a stopped reflector holds back. */
static pid_t
hold_back(struct probe_fixture *fixture, uint32_t interval_us, int64_t ns)
{
	struct wire_target target = probe_fixture_target("127.0.0.3", interval_us);
	pid_t pid = probe_fixture_reflect_apart(fixture);

	kill(pid, SIGSTOP);
	probe(fixture, &target);
	probe_fixture_run_for(fixture, ns);
	assert_true(prober_counts(fixture->prober)->sent > 0);
	assert_int_equal(fixture->count, 0);
	return pid;
}

static void
a_reply_read_after_a_stall_was_in_time_by_its_stamp(void **state)
{
	struct probe_fixture *fixture = *state;
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	pid = hold_back(fixture, 5000, 50 * MS);
	kill(pid, SIGCONT);
	stall(400 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_OK), fixture->count);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		assert_in_range(r->round_trip_ns, 1, FIXTURE_TIMEOUT_NS);
		if (r->flags & WIRE_SPLIT)
			assert_in_range(r->prober_delay_ns, 200 * MS, 2 * RM_NS_PER_S);
	}
}

static void
a_reply_after_the_deadline_is_late_by_its_stamp(void **state)
{
	struct probe_fixture *fixture = *state;
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	pid = hold_back(fixture, 5000, 20 * MS);
	stall(FIXTURE_TIMEOUT_NS + 50 * MS);
	kill(pid, SIGCONT);
	stall(50 * MS);
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	assert_int_equal(
	    probe_fixture_outcomes(fixture, WIRE_LATE_REPLY), fixture->count);
}

static void
a_queue_of_ours_that_overran_is_self_loss(void **state)
{
	static const uint16_t sizes[] = { 1400 };
	struct probe_fixture *fixture = *state;
	struct prober_options options = { .timeout_ns = FIXTURE_TIMEOUT_NS };
	struct wire_target target = probe_fixture_target("127.0.0.3", 1000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
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
	probe_fixture_run_for(fixture, 50 * MS);
	kill(pid, SIGCONT);
	stall(50 * MS); /* too short to count as a stall of the loop */
	stop(fixture);
	probe_fixture_run(fixture, all_ended);
	probe_fixture_end_apart(pid);
	assert_true(port_counts(fixture->near)->overruns > 0);
	assert_true(probe_fixture_outcomes(fixture, WIRE_SELF_LOSS) > 0);
	assert_true(probe_fixture_outcomes(fixture, WIRE_OK) > 0);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_NO_REPLY), 0);
}

#define TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, probe_fixture_setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silence_is_no_reply_and_not_later_than_the_timeout),
		TEST(what_cannot_be_sent_is_told_at_once),
		TEST(a_flow_that_gets_no_socket_is_skipped),
		TEST(a_flow_whose_port_another_process_has_is_skipped),
		TEST(a_stall_of_ours_is_never_no_reply),
		TEST(a_reply_read_after_a_stall_was_in_time_by_its_stamp),
		TEST(a_reply_after_the_deadline_is_late_by_its_stamp),
		TEST(a_queue_of_ours_that_overran_is_self_loss),
	};

	return probe_fixture_main(cmocka_run_group_tests_name(
	    "prober_loss", tests, probe_fixture_enter, NULL));
}
