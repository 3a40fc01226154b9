#include "host-agent/packet/stamp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"

#define MS INT64_C(1000000)

static const struct probe_ask probe = {
	.seq = 0x01020304,
	.timestamp = 0x1112131415161718,
	.error_estimate = STAMP_ERROR_ESTIMATE,
	.ssid = 0xbeef,
	.dscp = 26,
	.tx_count = 7,
};

static const struct probe_answer answer = {
	.receive_timestamp = 0x2122232400000026,
	.timestamp = 0x3132333400000036,
	.ttl = 61,
	.dscp = 18,
	.ecn = 3,
	.rx_count = 5,
	.tx_count = 4,
	.follow_up_seq = 0x0a0b0c0d,
	.follow_up_timestamp = 0x4142434400000046,
};

static size_t
build(uint8_t *out, size_t size)
{
	memset(out, 0, STAMP_MAX_BYTES);
	stamp_format.write_probe(&probe, size, out);
	return size;
}

static void
a_probe_has_the_bytes_of_the_standard(void **state)
{
	static const uint8_t expected[STAMP_PROBE_BYTES] = { 1, 2, 3, 4, 0x11, 0x12,
		0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x40, 0x01, 0xbe, 0xef, [44] = 0x80,
		4, 0, 4, 26 << 2, [52] = 0x80, 5, 0, 12, 0, 0, 0, 7, [68] = 0x80, 7, 0,
		16 };
	uint8_t out[STAMP_MAX_BYTES];

	assert_int_equal(build(out, stamp_format.size(44)), STAMP_PROBE_BYTES);
	assert_memory_equal(out, expected, sizeof(expected));
}

static void
padding_fills_a_probe_up_to_its_size(void **state)
{
	static const uint8_t padding[] = { 0x80, 1, 0x05, 0x84 };
	uint8_t out[STAMP_MAX_BYTES];

	assert_int_equal(stamp_format.size(0), 88);
	assert_int_equal(stamp_format.size(88), 88);
	assert_int_equal(stamp_format.size(89), 92);
	assert_int_equal(stamp_format.size(93), 93);
	assert_int_equal(stamp_format.size(1 << 20), STAMP_MAX_BYTES);
	build(out, 1504);
	assert_memory_equal(out + STAMP_PROBE_BYTES, padding, sizeof(padding));
}

static void
a_reply_answers_every_field_in_place(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_ask read;
	struct probe_reply reply;
	size_t len = build(data, 1000);

	assert_int_equal(stamp_format.read_probe(data, len, &read), 0);
	assert_int_equal(read.seq, probe.seq);
	assert_int_equal(read.ssid, probe.ssid);
	assert_true(read.has_class);
	assert_int_equal(read.dscp, 26);
	assert_int_equal(read.tx_count, 7);

	stamp_format.write_reply(data, len, &read, &answer);
	assert_int_equal(stamp_format.read_reply(data, len, &reply), 0);
	assert_int_equal(reply.seq, probe.seq);
	assert_int_equal(reply.sender_seq, probe.seq);
	assert_int_equal(reply.sender_timestamp, probe.timestamp);
	assert_int_equal(reply.sender_error_estimate, probe.error_estimate);
	assert_int_equal(reply.ssid, probe.ssid);
	assert_int_equal(reply.timestamp, answer.timestamp);
	assert_int_equal(reply.receive_timestamp, answer.receive_timestamp);
	assert_int_equal(reply.sender_ttl, 61);
	assert_true(reply.has_class && reply.has_counts && reply.has_follow_up);
	assert_int_equal(reply.dscp, 18);
	assert_int_equal(reply.ecn, 3);
	assert_int_equal(reply.tx_count, 7);
	assert_int_equal(reply.rx_count, 5);
	assert_int_equal(reply.reflector_tx_count, 4);
	assert_int_equal(reply.follow_up_seq, answer.follow_up_seq);
	assert_int_equal(reply.follow_up_timestamp, answer.follow_up_timestamp);
}

static void
a_peer_without_tlvs_is_understood_in_both_directions(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_ask read;
	struct probe_reply reply;

	build(data, STAMP_PROBE_BYTES);
	assert_int_equal(stamp_format.read_probe(data, STAMP_BASE_BYTES, &read), 0);
	assert_false(read.has_class);
	stamp_format.write_reply(data, STAMP_BASE_BYTES, &read, &answer);
	assert_int_equal(stamp_format.read_reply(data, STAMP_BASE_BYTES, &reply), 0);
	assert_int_equal(reply.sender_seq, probe.seq);
	assert_false(reply.has_class || reply.has_counts || reply.has_follow_up);
}

static void
a_plain_probe_is_only_the_base(void **state)
{
	uint8_t with[STAMP_HEAD_BYTES], without[STAMP_HEAD_BYTES];

	assert_int_equal(stamp_format.write_probe(&probe, STAMP_PROBE_BYTES, with),
	    STAMP_PROBE_BYTES);
	assert_int_equal(stamp_format.write_probe(&probe, STAMP_BASE_BYTES, without),
	    STAMP_BASE_BYTES);
	assert_memory_equal(with, without, STAMP_BASE_BYTES);
}

static void
a_plain_reply_is_read_whatever_follows_its_base(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_ask read;
	struct probe_reply reply;

	build(data, STAMP_PROBE_BYTES);
	assert_int_equal(stamp_format.read_probe(data, STAMP_BASE_BYTES, &read), 0);
	stamp_format.write_reply(data, STAMP_BASE_BYTES, &read, &answer);
	memset(data + STAMP_PLAIN_REPLY_BYTES, 0xff, 30);
	for (size_t len = 0; len <= STAMP_PLAIN_REPLY_BYTES + 30; len++) {
		int r = len < STAMP_PLAIN_REPLY_BYTES ? -EBADMSG : 0;

		assert_int_equal(stamp_format.read_plain_reply(data, len, &reply), r);
	}
	assert_int_equal(reply.sender_seq, probe.seq);
	assert_int_equal(reply.sender_timestamp, probe.timestamp);
	assert_int_equal(reply.receive_timestamp, answer.receive_timestamp);
	assert_int_equal(reply.sender_ttl, 61);
	assert_false(reply.has_class || reply.has_counts || reply.has_follow_up);
	assert_int_equal(stamp_format.read_reply(data, 71, &reply), -EBADMSG);
}

static void
an_echo_without_tlv_support_answers_no_tlv(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_reply reply;
	size_t len = build(data, 200);

	data[59] = 9; /* a count is present, but the flag says that it is not valid */
	assert_int_equal(stamp_format.read_reply(data, len, &reply), 0);
	assert_false(reply.has_class || reply.has_counts || reply.has_follow_up);
}

static void
unknown_and_malformed_tlvs_come_back_flagged(void **state)
{
	static const uint8_t tlvs[] = { 0x80, 99, 0, 1, 0xaa, /* unknown type */
		0x80, 4, 0, 4, 0xff, 0xff, 0xff, 0xff,        /* DSCP1 = 63 */
		/* Too short for a TLV of type 5. */
		0x80, 5, 0, 2, 0, 0,
		/* Not read: an earlier TLV is malformed. */
		0x80, 7, 0, 16, 1, 2, 3, 4 };
	uint8_t data[STAMP_BASE_BYTES + 64] = { 0 };
	size_t len = STAMP_BASE_BYTES + sizeof(tlvs) + 12;
	uint8_t *p = data + STAMP_BASE_BYTES;
	struct probe_ask read;

	memcpy(p, tlvs, sizeof(tlvs));
	assert_int_equal(stamp_format.read_probe(data, len, &read), 0);
	stamp_format.write_reply(data, len, &read, &answer);
	assert_int_equal(p[0], STAMP_UNRECOGNIZED);
	assert_int_equal(p[4], 0xaa);
	assert_int_equal(p[5], 0);
	assert_int_equal(p[9], 63 << 2 | 18 >> 4);
	assert_int_equal(p[10], (18 & 15) << 4 | 3 << 2); /* and RP is 0 */
	assert_int_equal(p[11] | p[12], 0);
	assert_int_equal(p[13], STAMP_MALFORMED);
	assert_memory_equal(p + 19, tlvs + 19, 8);
}

static void
short_packets_and_overlong_tlvs_are_refused(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_ask read;
	struct probe_reply reply;
	size_t whole[] = { 44, 52, 68, 88 }, next = 0;

	build(data, STAMP_PROBE_BYTES);
	for (size_t len = 0; len <= STAMP_PROBE_BYTES; len++) {
		int expected = next < 4 && len == whole[next] ? 0 : -EBADMSG;

		next += expected == 0;
		assert_int_equal(stamp_format.read_probe(data, len, &read), expected);
		assert_int_equal(stamp_format.read_reply(data, len, &reply), expected);
	}
	assert_int_equal(next, 4);
	data[70] = 0xff; /* the last TLV claims a length of 65,296 bytes */
	assert_int_equal(
	    stamp_format.read_probe(data, STAMP_PROBE_BYTES, &read), -EBADMSG);
}

static void
both_time_formats_are_understood(void **state)
{
	int64_t wall = INT64_C(1700000000123456789), read;
	uint64_t ntp = (UINT64_C(1700000000) + 2208988800) << 32 | 0x80000000;

	assert_int_equal(stamp_time_read(stamp_time_write(wall), true, &read), 0);
	assert_true(read == wall);
	assert_int_equal(stamp_time_read(ntp, false, &read), 0);
	assert_true(read == INT64_C(1700000000500000000));
	assert_int_equal(stamp_time_read(1000000000, true, &read), -EBADMSG);
}

static void
time_passes_across_the_end_of_its_ring(void **state)
{
	int64_t before, after;

	assert_int_equal(
	    stamp_time_read(
		stamp_time_write((INT64_C(1) << 32) * 1000 * MS - MS), true, &before),
	    0);
	assert_int_equal(
	    stamp_time_read(
		stamp_time_write((INT64_C(1) << 32) * 1000 * MS + MS), true, &after),
	    0);
	assert_true(stamp_time_between(after, before) == 2 * MS);
	assert_true(stamp_time_between(before, after) == -2 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_has_the_bytes_of_the_standard),
		cmocka_unit_test(padding_fills_a_probe_up_to_its_size),
		cmocka_unit_test(a_reply_answers_every_field_in_place),
		cmocka_unit_test(a_peer_without_tlvs_is_understood_in_both_directions),
		cmocka_unit_test(a_plain_probe_is_only_the_base),
		cmocka_unit_test(a_plain_reply_is_read_whatever_follows_its_base),
		cmocka_unit_test(an_echo_without_tlv_support_answers_no_tlv),
		cmocka_unit_test(unknown_and_malformed_tlvs_come_back_flagged),
		cmocka_unit_test(short_packets_and_overlong_tlvs_are_refused),
		cmocka_unit_test(both_time_formats_are_understood),
		cmocka_unit_test(time_passes_across_the_end_of_its_ring),
	};

	return cmocka_run_group_tests_name("stamp", tests, NULL, NULL);
}
