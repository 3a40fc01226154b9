#include "host-agent/packet/roce_packet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"

#define SIZES 5

static const size_t sizes[SIZES] = { 64, 65, 80, 256, 4096 };

static const struct probe_ask ask = {
	.seq = 0x01020304,
	.timestamp = 0x1112131415161718,
	.error_estimate = STAMP_ERROR_ESTIMATE,
	.ssid = 0xbeef,
	.dscp = 26,
	.tx_count = 7,
	.label = 0xabcde,
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

/* Builds the packet as it is sent: the port appends the zeros. */
static size_t
build(uint8_t out[ROCE_MAX_BYTES], size_t size)
{
	memset(out, 0, ROCE_MAX_BYTES);
	assert_int_equal(roce_format.write_probe(&ask, size, out), ROCE_BASE_BYTES);
	return size;
}

static size_t
build_reply(uint8_t out[ROCE_MAX_BYTES], size_t size)
{
	struct probe_ask read;

	build(out, size);
	assert_int_equal(roce_format.read_probe(out, size, &read), 0);
	roce_format.write_reply(out, size, &read, &answer);
	return size;
}

/* A change of these bytes needs a new ROCE_VERSION. */
static void
a_probe_and_its_reply_have_these_bytes(void **state)
{
	static const uint8_t probe[ROCE_BASE_BYTES] = { 'r', 'M', 1, 1, 0xbe, 0xef, 0,
		64, 1, 2, 3, 4, 0, 0, 0, 7, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x18, 0, 0x0a, 0xbc, 0xde, 0x40, 0x01, 1, 26 };
	static const uint8_t reply[ROCE_BASE_BYTES] = { 'r', 'M', 1, 2, 0xbe, 0xef, 0,
		64, 1, 2, 3, 4, 0, 0, 0, 7, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x18, 0, 0x0a, 0xbc, 0xde, 0x40, 0x01, 7, 26, 0x21, 0x22, 0x23, 0x24, 0,
		0, 0, 0x26, 0x41, 0x42, 0x43, 0x44, 0, 0, 0, 0x46, 0x0a, 0x0b, 0x0c,
		0x0d, 0, 0, 0, 5, 0, 0, 0, 4, 0x40, 0x01, 61, 18 << 2 | 3 };
	uint8_t out[ROCE_MAX_BYTES];

	build(out, ROCE_BASE_BYTES);
	assert_memory_equal(out, probe, ROCE_BASE_BYTES);
	build_reply(out, ROCE_BASE_BYTES);
	assert_memory_equal(out, reply, ROCE_BASE_BYTES);
}

static void
a_probe_reports_what_was_asked(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_ask read;

	for (size_t i = 0; i < SIZES; i++) {
		build(out, sizes[i]);
		assert_int_equal(roce_format.read_probe(out, sizes[i], &read), 0);
		assert_int_equal(read.seq, ask.seq);
		assert_int_equal(read.timestamp, ask.timestamp);
		assert_int_equal(read.error_estimate, ask.error_estimate);
		assert_int_equal(read.ssid, ask.ssid);
		assert_true(read.has_class);
		assert_int_equal(read.dscp, ask.dscp);
		assert_int_equal(read.tx_count, ask.tx_count);
		assert_int_equal(read.label, ask.label);
	}
}

static void
a_reply_brings_back_everything_even_in_64_bytes(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;

	for (size_t i = 0; i < SIZES; i++) {
		build_reply(out, sizes[i]);
		assert_int_equal(roce_format.read_reply(out, sizes[i], &reply), 0);
		assert_int_equal(reply.seq, ask.seq);
		assert_int_equal(reply.ssid, ask.ssid);
		assert_int_equal(reply.sender_seq, ask.seq);
		assert_int_equal(reply.sender_timestamp, ask.timestamp);
		assert_int_equal(reply.sender_error_estimate, ask.error_estimate);
		assert_int_equal(reply.error_estimate, STAMP_ERROR_ESTIMATE);
		assert_int_equal(reply.receive_timestamp, answer.receive_timestamp);
		assert_int_equal(reply.sender_ttl, answer.ttl);
		assert_true(reply.has_class);
		assert_int_equal(reply.dscp, answer.dscp);
		assert_int_equal(reply.ecn, answer.ecn);
		assert_true(reply.has_counts);
		assert_int_equal(reply.tx_count, ask.tx_count);
		assert_int_equal(reply.rx_count, answer.rx_count);
		assert_int_equal(reply.reflector_tx_count, answer.tx_count);
		assert_true(reply.has_follow_up);
		assert_int_equal(reply.follow_up_seq, answer.follow_up_seq);
		assert_int_equal(reply.follow_up_timestamp, answer.follow_up_timestamp);
		assert_int_equal(
		    roce_format.read_plain_reply(out, sizes[i], &reply), 0);
		assert_true(reply.has_counts);
	}
}

static void
fields_unknown_to_the_reflector_are_absent(void **state)
{
	struct probe_answer little = answer;
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;

	little.rx_count = 0;
	little.follow_up_timestamp = 0;
	build(out, 64);
	roce_format.write_reply(out, 64, &ask, &little);
	assert_int_equal(roce_format.read_reply(out, 64, &reply), 0);
	assert_false(reply.has_counts);
	assert_false(reply.has_follow_up);
	assert_int_equal(reply.follow_up_seq, 0);
	assert_true(reply.has_class);
}

/* Otherwise two reflectors could answer each other for ever. */
static void
a_reply_is_never_a_probe_nor_a_probe_a_reply(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;

	for (size_t i = 0; i < SIZES; i++) {
		build(out, sizes[i]);
		assert_int_equal(
		    roce_format.read_reply(out, sizes[i], &reply), -EBADMSG);
		assert_int_equal(
		    roce_format.read_plain_reply(out, sizes[i], &reply), -EBADMSG);
		build_reply(out, sizes[i]);
		assert_int_equal(
		    roce_format.read_probe(out, sizes[i], &read), -EBADMSG);
	}
	/* A reply is never read as a probe, not even one whose values are all 0. */
	build(out, 64);
	roce_format.write_reply(out, 64, &ask, &(struct probe_answer){ 0 });
	assert_int_equal(roce_format.read_probe(out, 64, &read), -EBADMSG);
}

static void
a_message_whose_length_field_is_wrong_is_refused(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;

	build(out, 256);
	for (size_t len = 0; len <= 512; len++)
		assert_int_equal(
		    roce_format.read_probe(out, len, &read), len == 256 ? 0 : -EBADMSG);
	build_reply(out, 64);
	for (size_t len = 0; len <= 512; len++)
		assert_int_equal(
		    roce_format.read_reply(out, len, &reply), len == 64 ? 0 : -EBADMSG);
}

/* The first and the last byte of each field that has a fixed value. */
static void
any_other_magic_version_kind_label_or_class_is_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = { { 0, 0 }, { 1, 'm' }, { 2, 0 }, { 2, 2 }, { 2, 255 }, { 3, 0 },
		{ 3, 3 }, { 24, 1 }, { 25, 0x10 }, { 31, 64 } };
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		build(out, 64);
		out[wrong[i].at] = wrong[i].byte;
		assert_int_equal(roce_format.read_probe(out, 64, &read), -EBADMSG);
		build_reply(out, 64);
		out[wrong[i].at] = wrong[i].byte;
		assert_int_equal(roce_format.read_reply(out, 64, &reply), -EBADMSG);
	}
}

static void
a_refused_message_does_not_change_the_result(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply = { .seq = 99 };
	struct probe_ask read = { .seq = 99 };

	build(out, 64);
	out[2] = 9;
	assert_int_equal(roce_format.read_probe(out, 64, &read), -EBADMSG);
	assert_int_equal(roce_format.read_reply(out, 64, &reply), -EBADMSG);
	assert_int_equal(read.seq, 99);
	assert_int_equal(reply.seq, 99);
}

static void
no_probe_is_smaller_than_its_layout(void **state)
{
	assert_int_equal(roce_format.size(0), 64);
	assert_int_equal(roce_format.size(64), 64);
	assert_int_equal(roce_format.size(65), 65);
	assert_int_equal(roce_format.size(4096), 4096);
	assert_int_equal(roce_format.size(1 << 20), ROCE_MAX_BYTES);
	assert_int_equal(roce_format.base_bytes, 64);
}

static void
a_probe_of_one_format_is_refused_by_the_other(void **state)
{
	uint8_t out[ROCE_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;
	size_t size = stamp_format.size(256);

	memset(out, 0, sizeof(out));
	stamp_format.write_probe(&ask, size, out);
	assert_int_equal(roce_format.read_probe(out, size, &read), -EBADMSG);
	assert_int_equal(roce_format.read_reply(out, size, &reply), -EBADMSG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_and_its_reply_have_these_bytes),
		cmocka_unit_test(a_probe_reports_what_was_asked),
		cmocka_unit_test(a_reply_brings_back_everything_even_in_64_bytes),
		cmocka_unit_test(fields_unknown_to_the_reflector_are_absent),
		cmocka_unit_test(a_reply_is_never_a_probe_nor_a_probe_a_reply),
		cmocka_unit_test(a_message_whose_length_field_is_wrong_is_refused),
		cmocka_unit_test(
		    any_other_magic_version_kind_label_or_class_is_refused),
		cmocka_unit_test(a_refused_message_does_not_change_the_result),
		cmocka_unit_test(no_probe_is_smaller_than_its_layout),
		cmocka_unit_test(a_probe_of_one_format_is_refused_by_the_other),
	};

	return cmocka_run_group_tests_name("roce_packet", tests, NULL, NULL);
}
