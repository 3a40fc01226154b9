/* Two packet formats with a MAC: STAMP's authenticated mode, and ours over RoCE. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/roce_packet.h"
#include "host-agent/packet/stamp.h"
#include "rackmesh/identity/probe_key.h"

/* clang-format off */
/* Made with Python's struct, hmac and hashlib from the texts of RFC 8762 (4.2.2,
 * 4.3.2), RFC 8972 (4.8) and roce_packet.h. The pair's key is 0, 1, 2, ... */
static const uint8_t stamp_probe[STAMP_AUTH_PROBE_BYTES] = {
	0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	0x40, 0x01, 0xbe, 0xef, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xb2, 0x7d, 0xd3, 0x93, 0x69, 0x8c, 0x07, 0x59, 0x4b, 0x8e, 0xac, 0x8d,
	0x5a, 0x45, 0xe6, 0xe1, 0x80, 0x04, 0x00, 0x04, 0x68, 0x00, 0x00, 0x00,
	0x80, 0x05, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x80, 0x07, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x80, 0x08, 0x00, 0x10, 0xca, 0xbe, 0xc4, 0x00, 0x10, 0xf8, 0xc4, 0xa7,
	0xd5, 0xb0, 0x66, 0xf0, 0xa1, 0xb7, 0x16, 0x37,
};
static const uint8_t stamp_reply[STAMP_AUTH_PROBE_BYTES] = {
	0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x31, 0x32, 0x33, 0x34, 0x00, 0x00, 0x00, 0x36,
	0x40, 0x01, 0xbe, 0xef, 0x00, 0x00, 0x00, 0x00, 0x21, 0x22, 0x23, 0x24,
	0x00, 0x00, 0x00, 0x26, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	0x40, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3d, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x63, 0x9a, 0x67, 0x9e, 0x4e, 0x77, 0x6f, 0xb7, 0x40, 0x81, 0xd6, 0x0b,
	0x8b, 0x41, 0x03, 0x2b, 0x00, 0x04, 0x00, 0x04, 0x69, 0x2c, 0x00, 0x00,
	0x00, 0x05, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x05,
	0x00, 0x00, 0x00, 0x04, 0x00, 0x07, 0x00, 0x10, 0x0a, 0x0b, 0x0c, 0x0d,
	0x41, 0x42, 0x43, 0x44, 0x00, 0x00, 0x00, 0x46, 0x02, 0x00, 0x00, 0x00,
	0x00, 0x08, 0x00, 0x10, 0x7d, 0x5d, 0xd9, 0xfa, 0x69, 0x78, 0x4a, 0x04,
	0x67, 0xd6, 0x9a, 0x63, 0x81, 0x8c, 0xc1, 0xf9,
};
static const uint8_t roce_probe[ROCE_KEYED_BYTES] = {
	0x72, 0x4d, 0x01, 0x01, 0xbe, 0xef, 0x00, 0x50, 0x01, 0x02, 0x03, 0x04,
	0x00, 0x00, 0x00, 0x07, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	0x00, 0x01, 0x23, 0x45, 0x40, 0x01, 0x09, 0x1a, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x28, 0xca, 0x50, 0xac, 0x40, 0xba, 0x19, 0xc8,
	0x06, 0x99, 0x7a, 0x6f, 0xf4, 0x3f, 0x50, 0xe0,
};
/* clang-format on */

static const struct probe_ask ask = {
	.seq = 0x01020304,
	.timestamp = 0x1112131415161718,
	.error_estimate = STAMP_ERROR_ESTIMATE,
	.ssid = 0xbeef,
	.dscp = 26,
	.tx_count = 7,
	.label = 0x12345,
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

static const struct probe_format *const formats[] = { &stamp_auth_format,
	&roce_keyed_format };
static const struct probe_format *const unkeyed[] = { &stamp_format, &roce_format };
static struct probe_macs macs;

static int
setup(void **state)
{
	uint8_t key[PROBE_KEY_BYTES];

	for (uint8_t i = 0; i < sizeof(key); i++)
		key[i] = i;
	probe_macs_init(&macs, key);
	return 0;
}

/* Builds the packet as it is sent: the head, followed by zeros. */
static size_t
build(const struct probe_format *format, size_t asked, uint8_t data[STAMP_MAX_BYTES])
{
	size_t size = format->size(asked);

	memset(data, 0, STAMP_MAX_BYTES);
	assert_true(format->write_probe(&ask, size, data) <= PROBE_HEAD_BYTES);
	format->sign(data, &macs.probe);
	return size;
}

static void
reply_to(const struct probe_format *format, uint8_t *data, size_t len)
{
	struct probe_ask read;

	assert_int_equal(format->read_probe(data, len, &read), 0);
	format->write_reply(data, len, &read, &answer);
	format->sign(data, &macs.reply);
}

static void
packets_have_the_bytes_of_the_oracle(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];

	assert_int_equal(build(&stamp_auth_format, 88, data), sizeof(stamp_probe));
	assert_memory_equal(data, stamp_probe, sizeof(stamp_probe));
	reply_to(&stamp_auth_format, data, sizeof(stamp_probe));
	assert_memory_equal(data, stamp_reply, sizeof(stamp_reply));
	assert_int_equal(build(&roce_keyed_format, 64, data), sizeof(roce_probe));
	assert_memory_equal(data, roce_probe, sizeof(roce_probe));
}

static void
a_reply_answers_every_field(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (size_t i = 0; i < 2; i++) {
		struct probe_reply reply;
		size_t len = build(formats[i], 1000, data);

		assert_int_equal(len, 1000);
		reply_to(formats[i], data, len);
		assert_int_equal(formats[i]->read_reply(data, len, &reply), 0);
		assert_true(formats[i]->verify(data, len, &macs.reply));
		assert_int_equal(reply.sender_seq, ask.seq);
		assert_int_equal(reply.sender_timestamp, ask.timestamp);
		assert_int_equal(reply.sender_error_estimate, ask.error_estimate);
		assert_int_equal(reply.ssid, ask.ssid);
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
}

static void
sizes_have_room_for_the_mac(void **state)
{
	static const struct {
		size_t asked, stamp, roce;
	} sizes[] = { { 0, 176, 80 }, { 64, 176, 80 }, { 80, 176, 80 }, { 81, 176, 81 },
		{ 177, 180, 177 }, { 181, 181, 181 },
		{ 1 << 20, STAMP_MAX_BYTES, ROCE_MAX_BYTES } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(
		    stamp_auth_format.size(sizes[i].asked), sizes[i].stamp);
		assert_int_equal(roce_keyed_format.size(sizes[i].asked), sizes[i].roce);
	}
}

static bool
probe_passes(const struct probe_format *format, const uint8_t *data, size_t len)
{
	struct probe_ask read;

	return format->read_probe(data, len, &read) == 0 &&
	       format->verify(data, len, &macs.probe);
}

static bool
reply_passes(const struct probe_format *format, const uint8_t *data, size_t len)
{
	struct probe_reply read;

	return format->read_reply(data, len, &read) == 0 &&
	       format->verify(data, len, &macs.reply);
}

static void
any_flipped_bit_is_detected(void **state)
{
	static const size_t sizes[] = { 0, 177, 181, 300 };
	uint8_t data[STAMP_MAX_BYTES];

	for (size_t n = 0; n < 8; n++) {
		const struct probe_format *format = formats[n % 2];
		size_t len = build(format, sizes[n / 2], data);

		for (size_t bit = 0; bit < 8 * len; bit++) {
			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(probe_passes(format, data, len));
			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_true(probe_passes(format, data, len));
		reply_to(format, data, len);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(reply_passes(format, data, len));
			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_true(reply_passes(format, data, len));
	}
}

static void
shortened_and_lengthened_packets_are_refused(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];

	for (size_t n = 0; n < 4; n++) {
		const struct probe_format *format = formats[n % 2];
		size_t len = build(format, n < 2 ? 0 : 400, data);

		/* The MAC does not cover STAMP's padding: a probe without padding is
		 * valid. */
		for (size_t cut = 0; cut < len + 200; cut++)
			if (format != &stamp_auth_format ||
			    cut != STAMP_AUTH_PROBE_BYTES)
				assert_int_equal(
				    probe_passes(format, data, cut), cut == len);
	}
}

static void
a_probe_is_not_read_as_a_reply_nor_a_reply_as_a_probe(void **state)
{
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;

	for (size_t i = 0; i < 2; i++) {
		size_t len = build(formats[i], 0, data);

		assert_int_equal(formats[i]->read_reply(data, len, &reply), -EBADMSG);
		assert_false(formats[i]->verify(data, len, &macs.reply));
		reply_to(formats[i], data, len);
		assert_int_equal(formats[i]->read_probe(data, len, &read), -EBADMSG);
		assert_false(formats[i]->verify(data, len, &macs.probe));
	}
}

static void
with_and_without_a_mac_are_distinguished(void **state)
{
	static const size_t sizes[] = { 0, 112, 176, 180, 181, 1500 };
	uint8_t data[STAMP_MAX_BYTES];
	struct probe_reply reply;
	struct probe_ask read;

	for (size_t n = 0; n < 12; n++) {
		size_t size = unkeyed[n % 2]->size(sizes[n / 2]);

		memset(data, 0, sizeof(data));
		unkeyed[n % 2]->write_probe(&ask, size, data);
		assert_int_equal(
		    formats[n % 2]->read_probe(data, size, &read), -EBADMSG);
		assert_int_equal(unkeyed[n % 2]->read_probe(data, size, &read), 0);
		unkeyed[n % 2]->write_reply(data, size, &read, &answer);
		assert_int_equal(
		    formats[n % 2]->read_reply(data, size, &reply), -EBADMSG);
	}
	build(&roce_keyed_format, 0, data);
	assert_int_equal(roce_format.read_probe(data, 80, &read), -EBADMSG);
	assert_ptr_equal(stamp_format.keyed, &stamp_auth_format);
	assert_ptr_equal(roce_format.keyed, &roce_keyed_format);
	assert_null(stamp_auth_format.keyed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_have_the_bytes_of_the_oracle),
		cmocka_unit_test(a_reply_answers_every_field),
		cmocka_unit_test(sizes_have_room_for_the_mac),
		cmocka_unit_test(any_flipped_bit_is_detected),
		cmocka_unit_test(shortened_and_lengthened_packets_are_refused),
		cmocka_unit_test(a_probe_is_not_read_as_a_reply_nor_a_reply_as_a_probe),
		cmocka_unit_test(with_and_without_a_mac_are_distinguished),
	};

	return cmocka_run_group_tests_name("keyed_formats", tests, setup, NULL);
}
