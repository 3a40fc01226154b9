#include "host-agent/prober.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/port_udp.h"
#include "host-agent/stamp.h"
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
hundred_results(struct probe_fixture *fixture)
{
	return fixture->count >= 100;
}

static bool
all_ended(struct probe_fixture *fixture)
{
	const struct prober_counts *counts = prober_counts(fixture->prober);

	return fixture->count == counts->sent + counts->send_failed;
}

static void
check_split(struct probe_fixture *fixture, const char *address)
{
	struct wire_target target = probe_fixture_target(address, 5000);

	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run(fixture, hundred_results);
	for (size_t i = 0; i < 100; i++) {
		const struct wire_result *r = &fixture->results[i];

		assert_int_equal(r->outcome, WIRE_OK);
		assert_int_equal(r->flags & ~WIRE_LATE_SEND,
		    WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL);
		assert_int_equal(r->stamp_source, WIRE_STAMP_KERNEL);
		assert_int_equal(r->dscp, 26);
		assert_int_equal(r->arrived_dscp, 26);
		assert_int_equal(r->arrived_ecn, 2);
		assert_int_equal(r->arrived_ttl, 255);
		assert_int_equal(r->responder_count, i + 1);
		assert_int_equal(r->src_port, 40001);
		assert_int_equal(r->size_bytes, 88);
		assert_in_range(r->round_trip_ns, 1, 200 * MS);
		assert_in_range(r->responder_delay_ns, 1, 200 * MS);
		assert_int_equal(r->rtt_ns + r->responder_delay_ns, r->round_trip_ns);
		if (i > 0)
			assert_int_equal(r->seq, fixture->results[i - 1].seq + 1);
	}
	assert_int_equal(port_counts(fixture->near)->stamps_unmatched, 0);
	assert_int_equal(port_counts(fixture->far)->stamps_resynced, 0);
}

static void
every_term_is_measured_over_ipv4(void **state)
{
	if (!probe_fixture_root())
		skip();
	check_split(*state, "127.0.0.2");
}

static void
every_term_is_measured_over_ipv6(void **state)
{
	if (!probe_fixture_root())
		skip();
	check_split(*state, "::1");
}

static void
flows_classes_and_sizes_occur_in_every_combination(void **state)
{
	static const uint16_t flows[] = { 40001, 40002, 40003 };
	static const uint16_t sizes[] = { 0, 1472 };
	static const uint8_t dscps[] = { 26, 0 };
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 2000);
	unsigned seen[3][2][2] = { 0 };

	if (!probe_fixture_root())
		skip();
	target.flows = flows;
	target.flow_count = 3;
	target.dscps = dscps;
	target.dscp_count = 2;
	target.sizes = sizes;
	target.size_count = 2;
	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run(fixture, hundred_results);
	for (size_t i = 0; i < 96; i++) {
		const struct wire_result *r = &fixture->results[i];

		assert_int_equal(r->outcome, WIRE_OK);
		seen[r->src_port - 40001][r->dscp == 0][r->size_bytes == 1472]++;
	}
	for (size_t i = 0; i < 12; i++)
		assert_in_range(((unsigned *)seen)[i], 7, 9);
}

static void
a_pair_gives_the_first_of_a_slow_target_its_split(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 600000);

	if (!probe_fixture_root())
		skip();
	target.paired = true;
	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(fixture->results[i].outcome, WIRE_OK);
		assert_int_equal(fixture->results[i].flags & WIRE_SPLIT,
		    i % 2 == 0 ? WIRE_SPLIT : 0);
		assert_int_not_equal(fixture->results[i].round_trip_ns, 0);
	}
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
	    FIXTURE_TIMEOUT_NS, FIXTURE_TIMEOUT_NS + 90 * MS);
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

/* A peer as in RFC 8762 alone: 44 bytes, no session id, its own numbers, NTP times. */
static void
plain_peer(int fd)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (uint8_t own = 0;; own++) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		struct stamp_answer answer = {
			.receive_timestamp = UINT64_C(0xe0000000) << 32,
			.timestamp = UINT64_C(0xe0000000) << 32 | 1,
			.ttl = 63,
		};
		struct stamp_probe read;

		if (recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from,
			&from_len) < STAMP_BASE_BYTES ||
		    stamp_read_probe(data, STAMP_BASE_BYTES, &read) < 0)
			_exit(1);
		stamp_write_reply(data, STAMP_BASE_BYTES, &read, &answer);
		memset(data, own, 4);
		data[12] = 0; /* Z */
		memset(data + 14, 0, 2);
		if (sendto(fd, data, STAMP_BASE_BYTES, 0, (struct sockaddr *)&from,
			from_len) < 0)
			_exit(1);
	}
}

static void
a_plain_peer_works_without_the_split(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 5000);
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_port = htons(FIXTURE_REFLECTOR_PORT) };
	pid_t pid;
	int fd;

	if (!probe_fixture_root())
		skip();
	memcpy(&own.sin_addr, target.address.bytes, 4);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		plain_peer(fd);
	}
	close(fd);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	probe_fixture_end_apart(pid);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(fixture->results[i].outcome, WIRE_OK);
		assert_int_equal(fixture->results[i].flags & ~WIRE_LATE_SEND, 0);
		assert_in_range(fixture->results[i].round_trip_ns, 1, 200 * MS);
		assert_int_equal(fixture->results[i].arrived_ttl, 63);
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
		TEST(every_term_is_measured_over_ipv4),
		TEST(every_term_is_measured_over_ipv6),
		TEST(flows_classes_and_sizes_occur_in_every_combination),
		TEST(a_pair_gives_the_first_of_a_slow_target_its_split),
		TEST(silence_is_no_reply_and_not_later_than_the_timeout),
		TEST(what_cannot_be_sent_is_told_at_once),
		TEST(a_stall_of_ours_is_never_no_reply),
		TEST(a_reply_read_after_a_stall_was_in_time_by_its_stamp),
		TEST(a_plain_peer_works_without_the_split),
		TEST(a_reply_after_the_deadline_is_late_by_its_stamp),
		TEST(a_queue_of_ours_that_overran_is_self_loss),
	};

	return cmocka_run_group_tests_name("prober", tests, probe_fixture_enter, NULL);
}
