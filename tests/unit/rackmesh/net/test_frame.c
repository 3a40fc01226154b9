#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/buffer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/net/frame.h"

static int
setup(void **state)
{
	*state = evbuffer_new();
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	evbuffer_free(*state);
	return 0;
}

static void
a_frame_is_read_as_it_was_written(void **state)
{
	struct rm_frame frame;

	assert_int_equal(rm_frame_put(*state, (const uint8_t *)"hello", 5), 0);
	assert_int_equal(evbuffer_get_length(*state), RM_FRAME_HEADER_BYTES + 5);
	assert_int_equal(rm_frame_take(*state, 5, &frame), 0);
	assert_int_equal(frame.len, 5);
	assert_memory_equal(frame.data, "hello", 5);
	assert_int_equal(evbuffer_get_length(*state), 0);
	free(frame.data);
}

static void
the_bytes_on_the_wire_are_big_endian_length_checksum_payload(void **state)
{
	/* The CRC-32 of "123456789" is the published check value. */
	static const uint8_t wire[] = { 0, 0, 0, 9, 0xcb, 0xf4, 0x39, 0x26, '1', '2',
		'3', '4', '5', '6', '7', '8', '9' };
	uint8_t got[sizeof(wire)];

	assert_int_equal(rm_frame_put(*state, (const uint8_t *)"123456789", 9), 0);
	assert_int_equal(evbuffer_remove(*state, got, sizeof(got)), sizeof(got));
	assert_memory_equal(got, wire, sizeof(wire));
}

static void
an_unfinished_frame_waits_for_its_last_byte(void **state)
{
	struct evbuffer *whole = evbuffer_new();
	struct rm_frame frame;
	uint8_t byte;

	assert_non_null(whole);
	assert_int_equal(rm_frame_put(whole, (const uint8_t *)"patience", 8), 0);
	while (evbuffer_get_length(whole) > 1) {
		evbuffer_remove(whole, &byte, 1);
		evbuffer_add(*state, &byte, 1);
		assert_int_equal(rm_frame_take(*state, 100, &frame), -EAGAIN);
	}
	evbuffer_add_buffer(*state, whole);
	assert_int_equal(rm_frame_take(*state, 100, &frame), 0);
	assert_memory_equal(frame.data, "patience", 8);
	free(frame.data);
	evbuffer_free(whole);
}

static void
the_payload_is_aligned_wherever_it_lay(void **state)
{
	for (size_t len = 1; len < 40; len++) {
		uint8_t data[40] = { 0 };

		assert_int_equal(rm_frame_put(*state, data, len), 0);
	}
	for (size_t len = 1; len < 40; len++) {
		struct rm_frame frame;

		assert_int_equal(rm_frame_take(*state, 40, &frame), 0);
		assert_int_equal(frame.len, len);
		assert_int_equal((uintptr_t)frame.data & 7, 0);
		free(frame.data);
	}
}

static void
a_length_that_will_be_refused_is_refused_before_the_body_is_there(void **state)
{
	static const uint8_t header[] = { 0, 0, 0, 101, 0, 0, 0, 0 };
	struct rm_frame frame;

	evbuffer_add(*state, header, sizeof(header));
	assert_int_equal(rm_frame_take(*state, 100, &frame), -EMSGSIZE);
	assert_int_equal(rm_frame_take(*state, 101, &frame), -EAGAIN);
}

static void
no_limit_allows_more_than_the_largest_frame(void **state)
{
	static const uint8_t header[] = { 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	struct rm_frame frame;

	evbuffer_add(*state, header, sizeof(header));
	assert_int_equal(rm_frame_take(*state, SIZE_MAX, &frame), -EMSGSIZE);
}

static void
an_empty_frame_is_refused_in_both_directions(void **state)
{
	static const uint8_t header[8] = { 0 };
	struct rm_frame frame;

	assert_int_equal(rm_frame_put(*state, header, 0), -EMSGSIZE);
	assert_int_equal(evbuffer_get_length(*state), 0);
	evbuffer_add(*state, header, sizeof(header));
	assert_int_equal(rm_frame_take(*state, 100, &frame), -EMSGSIZE);
}

static void
every_flipped_bit_of_payload_and_checksum_is_noticed(void **state)
{
	uint8_t wire[RM_FRAME_HEADER_BYTES + 16];

	for (size_t bit = 4 * 8; bit < sizeof(wire) * 8; bit++) {
		struct rm_frame frame;

		assert_int_equal(
		    rm_frame_put(*state, (const uint8_t *)"sixteen bytes...", 16), 0);
		evbuffer_remove(*state, wire, sizeof(wire));
		wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
		evbuffer_add(*state, wire, sizeof(wire));
		assert_int_equal(rm_frame_take(*state, 100, &frame), -EBADMSG);
		evbuffer_drain(*state, evbuffer_get_length(*state));
	}
}

static void
a_sealed_frame_has_no_checksum_and_needs_none(void **state)
{
	static const uint8_t expected[] = { 0, 0, 0, 5, 0, 0, 0, 0, 'h', 'e', 'l', 'l',
		'o' };
	struct rm_frame frame;

	assert_int_equal(rm_frame_put_sealed(*state, (const uint8_t *)"hello", 5), 0);
	assert_int_equal(evbuffer_get_length(*state), sizeof(expected));
	assert_memory_equal(evbuffer_pullup(*state, -1), expected, sizeof(expected));
	assert_int_equal(rm_frame_take_sealed(*state, 4, &frame), -EMSGSIZE);
	assert_int_equal(rm_frame_take_sealed(*state, 5, &frame), 0);
	assert_int_equal(frame.len, 5);
	assert_memory_equal(frame.data, "hello", 5);
	free(frame.data);
	/* Without TLS a sealed frame counts as damaged. */
	assert_int_equal(rm_frame_put_sealed(*state, (const uint8_t *)"hello", 5), 0);
	assert_int_equal(rm_frame_take(*state, 5, &frame), -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_is_read_as_it_was_written),
		TEST(the_bytes_on_the_wire_are_big_endian_length_checksum_payload),
		TEST(an_unfinished_frame_waits_for_its_last_byte),
		TEST(the_payload_is_aligned_wherever_it_lay),
		TEST(a_length_that_will_be_refused_is_refused_before_the_body_is_there),
		TEST(no_limit_allows_more_than_the_largest_frame),
		TEST(an_empty_frame_is_refused_in_both_directions),
		TEST(a_sealed_frame_has_no_checksum_and_needs_none),
		TEST(every_flipped_bit_of_payload_and_checksum_is_noticed),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
