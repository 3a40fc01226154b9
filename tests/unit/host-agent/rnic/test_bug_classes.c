/*
 * Classes of bugs that made similar daemons fail on one packet or file, tested on
 * everything that an agent receives. Each class has a test here, or these tests in
 * other files:
 * - a trusted length in an inner loop: damaged_answers_are_refused_and_counted
 *   (qp_list), vectors_beyond_their_limits_are_refused (schemas), every fuzz target
 * - moving one element too many: fuzz_probes and fuzz_etcd
 * - no progress: a_tail_of_zeros_counts_as_cut_and_not_as_damage (spool_segment)
 * - a time out of range: absurd_times_are_refused (clock_map)
 * - a field that occurs twice: duplicate_keys_are_refused_at_any_depth (yaml)
 * - one type taken for another: fuzz_wire_write, for every two types of message
 * - a monitoring interface that changes state:
 *   a_change_is_taken_on_the_unix_socket_only (http)
 * - an empty secret: fuzz_key_ring
 * - a name that leads out of its folder: names_are_short_and_plain (part)
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector_session.h"
#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rdma_index.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/judge/part.h"
#include "tests/support/arrivals.h"

#define GUARD 0x5a
#define GUARD_BYTES 64
#define LONGEST (STAMP_BASE_BYTES + 96)

static const struct probe_answer answer = { .receive_timestamp = UINT64_C(5) << 32,
	.timestamp = UINT64_C(6) << 32,
	.ttl = 64,
	.dscp = 26,
	.ecn = 2 };

/* Reads the packet as a probe and as a reply and answers it in place. The buffer has
 * exactly the packet's size: a sanitizer finds reads beyond it, the guard bytes find
 * writes. */
static void
try_packet(const uint8_t *bytes, size_t len)
{
	uint8_t *data = malloc(len + 2 * GUARD_BYTES), *exact = malloc(len);
	struct probe_ask ask;
	struct probe_reply reply;

	assert_non_null(data);
	assert_non_null(exact);
	memset(data, GUARD, len + 2 * GUARD_BYTES);
	memcpy(data + GUARD_BYTES, bytes, len);
	memcpy(exact, bytes, len);
	(void)stamp_format.read_reply(exact, len, &reply);
	(void)stamp_format.read_plain_reply(exact, len, &reply);
	if (stamp_format.read_probe(exact, len, &ask) == 0) {
		stamp_format.write_reply(exact, len, &ask, &answer);
		stamp_format.write_reply(data + GUARD_BYTES, len, &ask, &answer);
	}
	for (size_t i = 0; i < GUARD_BYTES; i++) {
		assert_int_equal(data[i], GUARD);
		assert_int_equal(data[GUARD_BYTES + len + i], GUARD);
	}
	free(data);
	free(exact);
}

static void
no_tlv_length_reaches_beyond_the_packet(void **state)
{
	static const uint16_t lengths[] = { 0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 31, 92,
		96, 97, 0x7fff, 0x8000, 0xfffb, 0xfffc, 0xfffd, 0xffff };

	for (size_t len = STAMP_BASE_BYTES + 4; len <= LONGEST; len++)
		for (unsigned type = 0; type < 10; type++)
			for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths);
			     i++) {
				uint8_t data[LONGEST] = { 0 };
				uint8_t *tlv = data + STAMP_BASE_BYTES;

				tlv[0] = 0x80;
				tlv[1] = (uint8_t)type;
				tlv[2] = (uint8_t)(lengths[i] >> 8);
				tlv[3] = (uint8_t)lengths[i];
				try_packet(data, len);
			}
}

/* Each of these TLVs advances the reader only by its own four bytes. */
static void
tlvs_without_a_value_come_to_an_end(void **state)
{
	uint8_t data[STAMP_MAX_BYTES] = { 0 };

	for (unsigned type = 0; type < 256; type++) {
		for (size_t at = STAMP_BASE_BYTES; at + 4 <= sizeof(data); at += 4) {
			data[at] = 0x80;
			data[at + 1] = (uint8_t)type;
		}
		try_packet(data, sizeof(data));
		try_packet(data, sizeof(data) - 1);
	}
}

static void
a_tlv_that_comes_twice_does_no_harm(void **state)
{
	uint8_t data[STAMP_BASE_BYTES + 2 * 44] = { 0 };
	uint8_t *tlvs = data + STAMP_BASE_BYTES;
	struct probe_ask ask = { .seq = 7, .ssid = 9 };

	for (unsigned type = 0; type < 256; type++)
		for (unsigned length = 0; length <= 40; length++) {
			size_t one = 4 + length;

			memset(data, 0, sizeof(data));
			tlvs[0] = 0x80;
			tlvs[1] = (uint8_t)type;
			tlvs[3] = (uint8_t)length;
			memcpy(tlvs + one, tlvs, one);
			try_packet(data, STAMP_BASE_BYTES + 2 * one);
			(void)stamp_format.read_probe(
			    data, STAMP_BASE_BYTES + 2 * one, &ask);
		}
}

static void
no_time_is_out_of_range_for_sums_and_differences(void **state)
{
	static const uint64_t edges[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32,
		UINT64_C(999999999), UINT64_C(1000000000), UINT64_C(0x7fffffff) << 32,
		UINT64_C(0x80000000) << 32, UINT64_C(0xe0000000) << 32,
		UINT64_MAX - UINT32_MAX, UINT64_MAX };
	const size_t count = sizeof(edges) / sizeof(*edges);

	for (size_t i = 0; i < 2 * count; i++)
		for (size_t j = 0; j < 2 * count; j++) {
			int64_t a = 0, b = 0;

			if (stamp_time_read(edges[i / 2], i % 2, &a) < 0 ||
			    stamp_time_read(edges[j / 2], j % 2, &b) < 0)
				continue;
			/* So that the sum or difference of two does not overflow. */
			assert_in_range(a, 0, INT64_MAX / 2);
			(void)stamp_time_between(a, b);
			(void)stamp_time_write(a);
		}
	(void)stamp_time_write(INT64_MIN);
	(void)stamp_time_write(INT64_MAX);
}

/* A peer decides how many send times wait for replies. If there are too many, the
 * oldest is evicted and the others move by exactly one place. */
static void
inserting_shifts_only_the_later_elements_by_one(void **state)
{
	const struct wire_address from = { .family = 4, .bytes = { 10, 0, 0, 1 } };
	const struct wire_rnic_id prober = { 0x8182838485868788, 1 };
	const uint32_t stamped = 100, kept = 8;

	for (uint32_t n = 0; n <= stamped; n++) {
		struct reflector_sessions *sessions = reflector_sessions_new(1);
		struct reflector_session *session;
		struct reflector_follow_up reported;

		assert_non_null(sessions);
		session = reflector_sessions_add(
		    sessions, &from, 7, prober, (rm_mono_t){ 1 });
		assert_non_null(session);
		for (uint32_t seq = 1; seq <= n; seq++)
			reflector_sessions_stamp(
			    sessions, reflector_session_token(session, seq), seq * 10);
		for (uint32_t seq = n; seq > 0 && n - seq < kept; seq--) {
			reported = reflector_session_follow_up(session);
			assert_int_equal(reported.seq, seq);
			assert_int_equal(reported.stamp_ns, seq * 10);
		}
		assert_int_equal(reflector_session_follow_up(session).stamp_ns, 0);
		assert_int_equal(reflector_session_prober(session).guid, prober.guid);
		reflector_sessions_free(sessions);
	}
}

/* If the first of the two is kept and never freed, a sanitizer reports a leak. */
static void
a_key_that_comes_twice_is_kept_once(void **state)
{
	const struct wire_responder_key own[2] = { { 1, 1, .epoch = 5, .key = { 1 } },
		{ 1, 1, .epoch = 5, .key = { 2 } } };
	const struct wire_pair_key pairs[3] = { { 1, 2, 1, 1, .epoch = 5 },
		{ 1, 2, 1, 1, .epoch = 5 }, { 1, 2, 1, 1, .epoch = 5 } };
	const struct wire_rnic_id plain[2] = { { 9, 1 }, { 9, 1 } };
	struct wire_keys keys = { "t", 5, 1, own, 2, pairs, 3, plain, 2, { 0 }, NULL };
	struct wire_writer *writer = wire_writer_new();
	struct key_ring *ring = NULL;
	struct wire_bytes bytes;
	const char *tor;
	int r;

	assert_non_null(writer);
	assert_int_equal(key_ring_new(&ring), 0);
	assert_int_equal(key_ring_add_tor(ring, "t"), 0);
	for (keys.version = 1; keys.version < 4; keys.version++) {
		assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
		assert_true(keys_arrival(ring, bytes.data, bytes.len, &tor, &r));
		assert_false(keys_arrival(ring, bytes.data, bytes.len, &tor, &r));
	}
	assert_int_equal(key_ring_responder(ring, (struct wire_rnic_id){ 1, 1 }, 5)[0],
	    own[0].key[0]);
	assert_non_null(key_ring_pair(
	    ring, (struct wire_rnic_id){ 1, 1 }, (struct wire_rnic_id){ 2, 1 }));
	assert_int_equal(key_ring_demand(ring, plain[0]), KEY_NOT_DEMANDED);
	key_ring_free(ring);
	wire_writer_free(writer);
}

/* Tables of one type must not be accepted as another, whatever fields they share. */
static void
no_message_is_taken_for_one_of_another_kind(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	const struct wire_brake brake = { 7, 500 };
	struct wire_brake brake_view;
	struct wire_focus focus_view;
	struct wire_ack ack_view;
	struct wire_keys keys_view;
	struct wire_bytes bytes;

	assert_non_null(writer);
	assert_int_equal(wire_write_brake(writer, &brake, &bytes), 0);
	assert_int_equal(wire_open_brake(&brake_view, bytes.data, bytes.len), 0);
	assert_int_equal(wire_open_focus(&focus_view, bytes.data, bytes.len), -EBADMSG);
	assert_int_equal(wire_open_ack(&ack_view, bytes.data, bytes.len), -EBADMSG);
	assert_int_equal(wire_open_keys(&keys_view, bytes.data, bytes.len), -EBADMSG);
	assert_false(wire_is_newer(bytes.data, bytes.len));
	wire_writer_free(writer);
}

/* An empty file is not an empty password, and a missing identity is not an identity
 * with an empty key. */
static void
an_empty_secret_is_refused(void **state)
{
	static const char *const texts[] = { "", "\n", "\r\n", "a\nb\n" };
	const struct wire_rnic peer = { .id = { 9, 1 }, .authenticates = true };
	const struct wire_pair_key none = { .epoch = 0 };
	char path[] = "/tmp/rackmesh-secret-XXXXXX", secret[64];
	struct key_ring *ring = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct rm_error error = { 0 };

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, texts[i], strlen(texts[i]), 0),
		    (ssize_t)strlen(texts[i]));
		assert_int_equal(
		    rm_file_read_password(path, secret, sizeof(secret), &error),
		    -EINVAL);
	}
	close(fd);
	unlink(path);
	assert_int_equal(key_ring_new(&ring), 0);
	(void)key_ring_receive(ring, &peer, &none);
	assert_null(key_ring_pair(ring, (struct wire_rnic_id){ 0 }, peer.id));
	assert_null(key_ring_responder(ring, (struct wire_rnic_id){ 0 }, 0));
	key_ring_free(ring);
}

static void
no_received_name_leads_out_of_its_folder(void **state)
{
	static const char *const names[] = { "", ".", "..", "../x", "a/b", "/etc",
		"a/../b", "a\n", "a b", "\x80" };
	struct rdma_facts facts;
	uint8_t port;
	char device[RDMA_DEVICE_BYTES];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_false(rm_name_valid(names[i]));
		/* "/" exists, so a path that the name leads to could exist, too. */
		assert_int_equal(rdma_facts_read("/", names[i], 1, &facts), -ENODEV);
		assert_true(rdma_index_find_now("/", names[i], device, &port) < 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_tlv_length_reaches_beyond_the_packet),
		cmocka_unit_test(tlvs_without_a_value_come_to_an_end),
		cmocka_unit_test(a_tlv_that_comes_twice_does_no_harm),
		cmocka_unit_test(no_time_is_out_of_range_for_sums_and_differences),
		cmocka_unit_test(inserting_shifts_only_the_later_elements_by_one),
		cmocka_unit_test(a_key_that_comes_twice_is_kept_once),
		cmocka_unit_test(no_message_is_taken_for_one_of_another_kind),
		cmocka_unit_test(an_empty_secret_is_refused),
		cmocka_unit_test(no_received_name_leads_out_of_its_folder),
	};

	return cmocka_run_group_tests_name("bug_classes", tests, NULL, NULL);
}
