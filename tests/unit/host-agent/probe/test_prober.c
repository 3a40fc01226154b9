#include "host-agent/probe/prober.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "tests/unit/host-agent/probe_fixture.h"

#define MS RM_NS_PER_MS
#define FAST_US 5000

static void
probe(struct probe_fixture *fixture, const struct wire_target *target)
{
	assert_int_equal(prober_set_targets(fixture->prober, target, 1), 0);
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
ten_ok(struct probe_fixture *fixture)
{
	return probe_fixture_outcomes(fixture, WIRE_OK) >= 10;
}

static bool
hundred_ok(struct probe_fixture *fixture)
{
	return probe_fixture_outcomes(fixture, WIRE_OK) >= 100;
}

static bool
all_ended(struct probe_fixture *fixture)
{
	const struct prober_counts *counts = prober_counts(fixture->prober);

	return fixture->count == counts->due - counts->skipped;
}

static uint32_t
first_seq(const struct probe_fixture *fixture)
{
	uint32_t first = fixture->results[0].seq;

	for (size_t i = 1; i < fixture->count; i++)
		if ((int32_t)(fixture->results[i].seq - first) < 0)
			first = fixture->results[i].seq;
	return first;
}

/* The reply's send time is sent with the next reply. The split is known only if the
 * reflector read the kernel's send stamp, and the prober the next reply, by then. */
static bool
could_be_split(const struct probe_fixture *fixture, size_t i)
{
	rm_mono_t sent = fixture->sent[i];

	return probe_fixture_ran(fixture, rm_mono_add(sent, -FAST_US * RM_NS_PER_US),
	    rm_mono_add(sent, 2 * FAST_US * RM_NS_PER_US));
}

static bool
hundred_could_be_split(struct probe_fixture *fixture)
{
	size_t could = 0;

	for (size_t i = 0; i < fixture->count && could < 100; i++)
		could += could_be_split(fixture, i);
	return could == 100;
}

static void
check_split(struct probe_fixture *fixture, const char *address)
{
	struct wire_target target = probe_fixture_target(address, FAST_US);
	unsigned split = 0, could = 0;
	uint32_t first;

	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run_if_quick(fixture, hundred_could_be_split);
	first = first_seq(fixture);
	probe_fixture_expect(fixture, WIRE_OK);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->outcome != WIRE_OK)
			continue;
		assert_int_equal(r->dscp, 26);
		assert_int_equal(r->arrived_dscp, 26);
		assert_int_equal(r->arrived_ecn, 2);
		assert_int_equal(r->arrived_ttl, 255);
		assert_int_equal(r->responder_count, r->seq - first + 1);
		assert_int_equal(r->src_port, 40001);
		assert_int_equal(r->size_bytes, 88);
		assert_in_range(r->round_trip_ns, 1, 200 * MS);
		could += could_be_split(fixture, i);
		if ((r->flags & ~WIRE_LATE_SEND) !=
		    (WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL))
			continue;
		assert_int_equal(r->stamp_source, WIRE_STAMP_KERNEL);
		assert_in_range(r->responder_delay_ns, 1, 200 * MS);
		assert_int_equal(r->rtt_ns + r->responder_delay_ns, r->round_trip_ns);
		split += could_be_split(fixture, i);
	}
	/* The kernel may miss some stamps: up to 5 %. */
	assert_true(split >= could - (could + 19) / 20);
	assert_int_equal(port_counts(fixture->near)->stamps_unmatched, 0);
	assert_int_equal(port_counts(fixture->far)->stamps_resynced, 0);
}

static void
all_three_delays_are_measured_over_ipv4(void **state)
{
	if (!probe_fixture_root())
		skip();
	check_split(*state, "127.0.0.2");
}

static void
all_three_delays_are_measured_over_ipv6(void **state)
{
	if (!probe_fixture_root())
		skip();
	check_split(*state, "::1");
}

/* Counts how many of the first 96 probes sent have ended. They end in another order. */
static size_t
first_96_ended(const struct probe_fixture *fixture)
{
	uint32_t first = first_seq(fixture);
	size_t ended = 0;

	for (size_t i = 0; i < fixture->count; i++)
		ended += fixture->results[i].seq - first < 96;
	return ended;
}

static bool
first_96_results(struct probe_fixture *fixture)
{
	return fixture->count >= 96 && first_96_ended(fixture) == 96;
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
	probe_fixture_run(fixture, first_96_results);
	probe_fixture_expect(fixture, WIRE_OK);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->seq - first_seq(fixture) >= 96)
			continue;
		seen[r->src_port - 40001][r->dscp == 0][r->size_bytes == 1472]++;
	}
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(((unsigned *)seen)[i], 8);
}

/* True: result i is the first of a pair that was sent together, and has all its
 * times. The second of the pair ends right after it, before the next pair. */
static bool
is_pair(const struct probe_fixture *fixture, size_t i)
{
	rm_mono_t first = fixture->sent[i], second = fixture->sent[i + 1];

	if (!probe_fixture_ran(fixture, first, rm_mono_add(second, 5 * MS)))
		return false;
	return rm_mono_since(second, first) >= 5 * MS &&
	       rm_mono_since(second, first) <= 15 * MS;
}

static bool
five_pairs(struct probe_fixture *fixture)
{
	size_t pairs = 0;

	for (size_t i = 0; i + 1 < fixture->count; i++)
		pairs += is_pair(fixture, i);
	return pairs >= 5;
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
	probe_fixture_run_if_quick(fixture, five_pairs);
	probe_fixture_expect(fixture, WIRE_OK);
	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->results[i].outcome == WIRE_OK)
			assert_int_not_equal(fixture->results[i].round_trip_ns, 0);
	for (size_t i = 0; i + 1 < fixture->count; i++) {
		const struct wire_result *pair = &fixture->results[i];

		if (!is_pair(fixture, i))
			continue;
		assert_int_equal(pair[1].seq, pair[0].seq + 1);
		assert_true(pair[0].flags & WIRE_SPLIT);
		assert_false(pair[1].flags & WIRE_SPLIT);
	}
}

static bool
two_hundred_ms_later(struct probe_fixture *fixture)
{
	return all_ended(fixture) && rm_mono_since(rm_mono_now(),
					 fixture->sent[fixture->count - 1]) > 200 * MS;
}

static void
a_paused_prober_sends_nothing_and_skips_nothing(void **state)
{
	struct probe_fixture *fixture = *state;
	const struct prober_counts *counts;
	struct wire_target target = probe_fixture_target("127.0.0.2", 5000);
	uint64_t sent, skipped;
	int64_t stalled_ns;

	if (!probe_fixture_root())
		skip();
	counts = prober_counts(fixture->prober);
	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_results);
	prober_pause(fixture->prober, true);
	sent = counts->sent;
	probe_fixture_run(fixture, two_hundred_ms_later);
	assert_int_equal(counts->sent, sent);
	assert_int_equal(fixture->count, sent);
	skipped = counts->skipped;
	stalled_ns = fixture->stalled_ns;
	prober_pause(fixture->prober, false);
	probe_fixture_run(fixture, hundred_results);
	stalled_ns = fixture->stalled_ns - stalled_ns;
	assert_true(counts->skipped - skipped <
		    10 + (uint64_t)stalled_ns / (FAST_US * RM_NS_PER_US));
}

static bool
focused(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->sent >= 20;
}

static void
focus_raises_the_rate_of_a_slow_target_at_once(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.2", 60000000);

	if (!probe_fixture_root())
		skip();
	probe_fixture_reflect(fixture);
	probe(fixture, &target);
	prober_focus(fixture->prober, target.dst, 5000, 10000);
	/* Without focus this would take 20 minutes. */
	probe_fixture_run(fixture, focused);
}

/* A peer that implements RFC 8762 only: 44 bytes, no session id, its own sequence
 * numbers, NTP times. */
static void
plain_peer(int fd)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (uint8_t own = 0;; own++) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		struct probe_answer answer = {
			.receive_timestamp = UINT64_C(0xe0000000) << 32,
			.timestamp = UINT64_C(0xe0000000) << 32 | 1,
			.ttl = 63,
		};
		struct probe_ask read;

		if (recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from,
			&from_len) < STAMP_BASE_BYTES ||
		    stamp_format.read_probe(data, STAMP_BASE_BYTES, &read) < 0)
			_exit(1);
		stamp_format.write_reply(data, STAMP_BASE_BYTES, &read, &answer);
		memset(data, own, 4);
		data[12] = 0; /* clears the Z bit: NTP time format */
		memset(data + 14, 0, 2);
		if (sendto(fd, data, STAMP_BASE_BYTES, 0, (struct sockaddr *)&from,
			from_len) < 0)
			_exit(1);
	}
}

/* A TWAMP-Light peer (RFC 5357): it treats what follows the first 14 bytes of a
 * probe as padding, and appends that padding unchanged to the 41 bytes of its reply. */
static void
shifting_peer(int fd)
{
	uint8_t data[STAMP_MAX_BYTES], reply[STAMP_MAX_BYTES];

	for (;;) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		ssize_t len = recvfrom(fd, data, sizeof(data) - 27, 0,
		    (struct sockaddr *)&from, &from_len);

		if (len < 14)
			_exit(1);
		memset(reply, 0, 41);
		memcpy(reply, data, 4);
		reply[4] = reply[16] = 0xe0; /* NTP time format */
		memcpy(reply + 24, data, 14);
		reply[40] = 63;
		memcpy(reply + 41, data + 14, (size_t)len - 14);
		if (sendto(fd, reply, (size_t)len + 27, 0, (struct sockaddr *)&from,
			from_len) < 0)
			_exit(1);
	}
}

/* A reflector behind a network that duplicates probes, so each probe gets two
 * replies. If the probe's number is odd, both arrive; if it is even, only the second
 * one arrives. The first reply has T3 at 5 s and T4 1 us later. */
static void
doubled_peer(int fd)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (;;) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		struct probe_answer first = { .receive_timestamp = UINT64_C(5) << 32 },
				    second = { .receive_timestamp =
						   UINT64_C(5) << 32 | 9000,
					    .follow_up_timestamp =
						UINT64_C(5) << 32 | 1000 };
		struct probe_ask read;
		ssize_t len = recvfrom(
		    fd, data, sizeof(data), 0, (struct sockaddr *)&from, &from_len);

		if (len < 0 || stamp_format.read_probe(data, (size_t)len, &read) < 0)
			_exit(1);
		second.follow_up_seq = read.seq;
		stamp_format.write_reply(data, (size_t)len, &read, &first);
		if (read.seq % 2 == 1 && sendto(fd, data, (size_t)len, 0,
					     (struct sockaddr *)&from, from_len) < 0)
			_exit(1);
		/* Overwrites the reply's fields and leaves the rest. */
		stamp_format.write_reply(data, (size_t)len, &read, &second);
		if (sendto(fd, data, (size_t)len, 0, (struct sockaddr *)&from,
			from_len) < 0)
			_exit(1);
	}
}

/* If the prober itself did not run during the time-out of a probe, it reports neither a
 * loss nor a late reply. This time-out is longer than the time for which a busy machine
 * stops a process. */
#define PATIENT_TIMEOUT_NS (600 * RM_NS_PER_MS)

static void
use_patient_timeout(struct probe_fixture *fixture)
{
	const struct prober_options options = { .timeout_ns = PATIENT_TIMEOUT_NS };

	prober_free(fixture->prober);
	fixture->prober = NULL;
	assert_int_equal(prober_new(fixture->loop, fixture->near, &options,
			     probe_fixture_on_result, fixture, &fixture->prober),
	    0);
}

/* This peer answers each probe after two time-outs, with these times. */
static void
answer_late(int fd, const struct probe_answer *answer)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (;;) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		struct probe_ask read;
		ssize_t len = recvfrom(
		    fd, data, sizeof(data), 0, (struct sockaddr *)&from, &from_len);

		if (len < 0 || stamp_format.read_probe(data, (size_t)len, &read) < 0)
			_exit(1);
		usleep(2 * PATIENT_TIMEOUT_NS / 1000);
		stamp_format.write_reply(data, (size_t)len, &read, answer);
		if (sendto(fd, data, (size_t)len, 0, (struct sockaddr *)&from,
			from_len) < 0)
			_exit(1);
	}
}

/* The network delays this peer's probes: its replies contain no time spent in the
 * responder. */
static void
late_peer(int fd)
{
	answer_late(fd, &(struct probe_answer){ .receive_timestamp = UINT64_C(5) << 32,
			    .timestamp = UINT64_C(5) << 32 | 1 });
}

/* This peer's replies say that the responder held the probe for the whole time. */
static void
slow_peer(int fd)
{
	answer_late(fd, &(struct probe_answer){ .receive_timestamp = UINT64_C(5) << 32,
			    .timestamp = UINT64_C(15) << 32 });
}

static pid_t
peer_at(const struct wire_target *target, void (*peer)(int fd))
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_port = htons(FIXTURE_REFLECTOR_PORT) };
	pid_t pid;
	int fd;

	memcpy(&own.sin_addr, target->address.bytes, 4);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		peer(fd);
	}
	close(fd);
	return pid;
}

static size_t
overdue_results(const struct probe_fixture *fixture)
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->results[i].outcome == WIRE_OVERDUE;
	return count;
}

static bool
two_are_overdue(struct probe_fixture *fixture)
{
	return overdue_results(fixture) >= 2;
}

static bool
three_came_too_late(struct probe_fixture *fixture)
{
	return prober_counts(fixture->prober)->unknown_replies >= 3;
}

static void
a_reply_to_a_probe_that_was_given_up_is_reported_once(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 1000000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	use_patient_timeout(fixture);
	pid = peer_at(&target, late_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, two_are_overdue);
	probe_fixture_end_apart(pid);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *late = &fixture->results[i];
		size_t lost = 0, reported = 0;

		if (late->outcome != WIRE_OVERDUE)
			continue;
		for (size_t k = 0; k < fixture->count; k++) {
			const struct wire_result *r = &fixture->results[k];

			reported += r->seq == late->seq && r->outcome == WIRE_OVERDUE;
			lost += r->seq == late->seq && r->outcome == WIRE_NO_REPLY &&
				fixture->sent[k].ns == fixture->sent[i].ns;
		}
		assert_int_equal(lost, 1);
		assert_int_equal(reported, 1);
		assert_true(late->round_trip_ns > PATIENT_TIMEOUT_NS);
		assert_int_equal(late->stamp_source, WIRE_STAMP_KERNEL);
	}
}

static void
a_delay_inside_the_responder_is_not_overdue(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 1000000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	use_patient_timeout(fixture);
	pid = peer_at(&target, slow_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, three_came_too_late);
	probe_fixture_end_apart(pid);
	assert_int_equal(overdue_results(fixture), 0);
}

static void
a_duplicated_probe_never_mixes_the_times_of_two_replies(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 5000);
	unsigned split = 0, could = 0;
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	pid = peer_at(&target, doubled_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, hundred_ok);
	probe_fixture_end_apart(pid);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_INVALID), 0);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->outcome != WIRE_OK)
			continue;
		could += r->seq % 2 == 1 && probe_fixture_judges(fixture, i);
		if (!(r->flags & WIRE_SPLIT))
			continue;
		assert_int_equal(r->seq % 2, 1);
		assert_int_equal(r->responder_delay_ns, 1000);
		split++;
	}
	/* The kernel may miss some stamps: up to 20 %. */
	assert_true(split >= could - could / 5);
}

static void
a_plain_peer_works_without_the_split(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 5000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	pid = peer_at(&target, plain_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_ok);
	probe_fixture_end_apart(pid);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_INVALID), 0);
	assert_int_equal(prober_counts(fixture->prober)->malformed_replies, 0);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->outcome != WIRE_OK)
			continue;
		assert_int_equal(r->flags & ~WIRE_LATE_SEND, 0);
		assert_in_range(r->round_trip_ns, 1, 200 * MS);
		assert_int_equal(r->arrived_ttl, 63);
	}
}

static const uint16_t plain_sizes[] = { STAMP_BASE_BYTES };

static void
a_switch_that_shifts_the_padding_is_asked_without_tlvs(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 5000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	target.kind = WIRE_TOR_REFLECTOR;
	target.sizes = plain_sizes;
	pid = peer_at(&target, shifting_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_ok);
	probe_fixture_end_apart(pid);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_INVALID), 0);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct wire_result *r = &fixture->results[i];

		if (r->outcome != WIRE_OK)
			continue;
		assert_int_equal(r->flags & ~WIRE_LATE_SEND, 0);
		assert_int_equal(r->size_bytes, STAMP_BASE_BYTES);
		assert_int_equal(r->arrived_ttl, 63);
	}
	assert_int_equal(prober_counts(fixture->prober)->malformed_replies, 0);
}

static bool
ten_malformed(struct probe_fixture *fixture)
{
	return ten_results(fixture) &&
	       prober_counts(fixture->prober)->malformed_replies >= 10;
}

static void
an_agents_reply_with_broken_tlvs_is_refused(void **state)
{
	struct probe_fixture *fixture = *state;
	struct wire_target target = probe_fixture_target("127.0.0.4", 5000);
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	target.sizes = plain_sizes; /* too small for our probes of 88 bytes */
	pid = peer_at(&target, shifting_peer);
	probe(fixture, &target);
	probe_fixture_run(fixture, ten_malformed);
	probe_fixture_end_apart(pid);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_OK), 0);
	assert_int_equal(fixture->results[0].size_bytes, STAMP_PROBE_BYTES);
}

#define TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, probe_fixture_setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_three_delays_are_measured_over_ipv4),
		TEST(all_three_delays_are_measured_over_ipv6),
		TEST(flows_classes_and_sizes_occur_in_every_combination),
		TEST(a_pair_gives_the_first_of_a_slow_target_its_split),
		TEST(a_paused_prober_sends_nothing_and_skips_nothing),
		TEST(focus_raises_the_rate_of_a_slow_target_at_once),
		TEST(a_plain_peer_works_without_the_split),
		TEST(a_switch_that_shifts_the_padding_is_asked_without_tlvs),
		TEST(an_agents_reply_with_broken_tlvs_is_refused),
		TEST(a_reply_to_a_probe_that_was_given_up_is_reported_once),
		TEST(a_delay_inside_the_responder_is_not_overdue),
		TEST(a_duplicated_probe_never_mixes_the_times_of_two_replies),
	};

	return probe_fixture_main(
	    cmocka_run_group_tests_name("prober", tests, probe_fixture_enter, NULL));
}
