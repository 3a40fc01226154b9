/*
 * What has made daemons like ours fall to one packet, tried on whoever parses the
 * probes that anybody on the network can send. The other classes, and the other
 * daemons:
 *
 * - a length that an inner loop believes: here; damage_is_refused_and_counted
 * (qp_list), vectors_beyond_their_limits_are_refused and every_truncation_is_refused
 * (schemas), what_is_cut_or_damaged_is_refused (trace_packet), and every fuzz target
 * - one too many moved: lines_are_cut_wherever_the_pieces_end (etcd_json), here
 * - no progress: here; a_tail_of_zeros_is_torn_and_not_damage (spool_segment)
 * - a time out of range: here; absurd_times_are_refused (clock_map)
 * - a field that comes twice: here; duplicate_keys_are_refused_at_any_depth (yaml)
 * - a door for monitoring: a_change_is_taken_on_the_unix_socket_only,
 *   wrong_paths_and_methods_are_told and the oversized ones (http)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe_format.h"
#include "host-agent/stamp.h"

#define GUARD 0x5a
#define GUARD_BYTES 64
#define LONGEST (STAMP_BASE_BYTES + 96)

static const struct probe_answer answer = { .receive_timestamp = UINT64_C(5) << 32,
	.timestamp = UINT64_C(6) << 32,
	.ttl = 64,
	.dscp = 26,
	.ecn = 2 };

/* Read both ways and answered in place, in a buffer of its very size: a sanitizer sees
 * what is read past it, the guards what is written. */
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
no_length_of_a_tlv_leads_past_the_packet(void **state)
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

/* Each of them takes nobody forward but by its own four bytes. */
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
			/* So that two may be added, or taken from each other. */
			assert_in_range(a, 0, INT64_MAX / 2);
			(void)stamp_time_between(a, b);
			(void)stamp_time_write(a);
		}
	(void)stamp_time_write(INT64_MIN);
	(void)stamp_time_write(INT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_length_of_a_tlv_leads_past_the_packet),
		cmocka_unit_test(tlvs_without_a_value_come_to_an_end),
		cmocka_unit_test(a_tlv_that_comes_twice_does_no_harm),
		cmocka_unit_test(no_time_is_out_of_range_for_sums_and_differences),
	};

	return cmocka_run_group_tests_name("bug_classes", tests, NULL, NULL);
}
