#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "rackmesh/spool/spool_segment.h"

#define RECORDS 3
#define MAX_BYTES 256

static const char *const texts[RECORDS] = { "first", "the second", "x" };
static const uint64_t seqs[RECORDS] = { 7, 8, 19 };

static size_t
segment(uint8_t bytes[MAX_BYTES])
{
	struct spool_header head = { 0x1122334455667788, 7 };
	size_t at = SPOOL_HEADER_BYTES;

	spool_header_put(bytes, &head);
	for (int i = 0; i < RECORDS; i++) {
		size_t len = strlen(texts[i]);

		spool_record_put(bytes + at, seqs[i], (const uint8_t *)texts[i], len);
		at += SPOOL_RECORD_BYTES + len;
	}
	return at;
}

struct result {
	unsigned found; /* bit i: record i was read */
	size_t damaged, torn;
	unsigned altered;
};

static struct result
scan(const uint8_t *bytes, size_t len)
{
	struct result result = { 0 };
	enum spool_scan_status status;
	struct spool_found found;
	struct spool_scan walk;

	spool_scan_init(&walk, bytes, len, 7);
	while ((status = spool_scan_next(&walk, &found)) != SPOOL_END) {
		if (status == SPOOL_DAMAGE)
			result.damaged += found.bytes;
		if (status == SPOOL_TORN)
			result.torn += found.bytes;
		if (status != SPOOL_RECORD)
			continue;
		result.altered++;
		for (unsigned i = 0; i < RECORDS; i++)
			if (found.seq == seqs[i] && found.len == strlen(texts[i]) &&
			    memcmp(found.data, texts[i], found.len) == 0) {
				result.found |= 1u << i;
				result.altered--;
			}
	}
	return result;
}

static void
the_format_on_disk_does_not_change(void **state)
{
	static const uint8_t golden[] = { 'R', 'M', 'S', 'P', 'O', 'O', 'L', '\n', 0, 0,
		0, 1, 0xe6, 0x89, 0xd8, 0xdd, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
		0x88, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 5, 0x92, 0x1e, 0xfe, 0x8e, 0, 0,
		0, 0, 0, 0, 0, 7, 'f', 'i', 'r', 's', 't' };
	uint8_t bytes[MAX_BYTES];

	segment(bytes);
	assert_memory_equal(bytes, golden, sizeof(golden));
}

static void
whole_records_come_out_in_order(void **state)
{
	struct spool_header head;
	uint8_t bytes[MAX_BYTES];
	size_t len = segment(bytes);
	struct result result = scan(bytes, len);

	assert_int_equal(spool_header_take(bytes, len, &head), 0);
	assert_int_equal(head.first_seq, 7);
	assert_true(head.identity == 0x1122334455667788);
	assert_int_equal(result.found, 7);
	assert_int_equal(result.damaged + result.torn + result.altered, 0);
}

static void
a_tail_cut_at_any_byte_leaves_all_whole_records(void **state)
{
	uint8_t bytes[MAX_BYTES];
	size_t len = segment(bytes), whole = SPOOL_HEADER_BYTES;
	unsigned expected = 0;

	for (size_t cut = SPOOL_HEADER_BYTES; cut <= len; cut++) {
		struct result result;

		for (int i = 0; i < RECORDS; i++)
			if (whole + SPOOL_RECORD_BYTES + strlen(texts[i]) == cut &&
			    expected == (1u << i) - 1) {
				expected |= 1u << i;
				whole = cut;
				break;
			}
		result = scan(bytes, cut);
		assert_int_equal(result.found, expected);
		assert_int_equal(result.torn, cut - whole);
		assert_int_equal(result.damaged + result.altered, 0);
	}
	assert_int_equal(expected, 7);
}

static void
a_tail_of_zeros_counts_as_cut_and_not_as_damage(void **state)
{
	uint8_t bytes[MAX_BYTES] = { 0 };
	size_t len = segment(bytes);
	struct result result = scan(bytes, MAX_BYTES);

	assert_int_equal(result.found, 7);
	assert_int_equal(result.torn, MAX_BYTES - len);
	assert_int_equal(result.damaged, 0);
}

static void
a_flipped_bit_loses_exactly_its_record(void **state)
{
	uint8_t bytes[MAX_BYTES];
	size_t len = segment(bytes), begin = SPOOL_HEADER_BYTES;

	for (unsigned i = 0; i < RECORDS; i++) {
		size_t end = begin + SPOOL_RECORD_BYTES + strlen(texts[i]);

		for (size_t bit = begin * 8; bit < end * 8; bit++) {
			struct result result;

			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			result = scan(bytes, len);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(result.found, 7 & ~(1u << i));
			assert_int_equal(result.damaged, end - begin);
			assert_int_equal(result.torn + result.altered, 0);
		}
		begin = end;
	}
}

static void
a_flipped_bit_in_the_header_is_noticed(void **state)
{
	struct spool_header head;
	uint8_t bytes[MAX_BYTES];
	size_t len = segment(bytes);

	for (size_t bit = 0; bit < SPOOL_HEADER_BYTES * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(spool_header_take(bytes, len, &head), -EBADMSG);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < SPOOL_HEADER_BYTES; cut++)
		assert_int_equal(spool_header_take(bytes, cut, &head), -ENODATA);
}

static void
a_record_with_an_earlier_number_is_ignored(void **state)
{
	uint8_t bytes[MAX_BYTES];
	size_t len = segment(bytes);

	spool_record_put(bytes + len, 19, (const uint8_t *)"again", 5);
	assert_int_equal(
	    scan(bytes, len + SPOOL_RECORD_BYTES + 5).damaged, SPOOL_RECORD_BYTES + 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_on_disk_does_not_change),
		cmocka_unit_test(whole_records_come_out_in_order),
		cmocka_unit_test(a_tail_cut_at_any_byte_leaves_all_whole_records),
		cmocka_unit_test(a_tail_of_zeros_counts_as_cut_and_not_as_damage),
		cmocka_unit_test(a_flipped_bit_loses_exactly_its_record),
		cmocka_unit_test(a_flipped_bit_in_the_header_is_noticed),
		cmocka_unit_test(a_record_with_an_earlier_number_is_ignored),
	};

	return cmocka_run_group_tests_name("spool_segment", tests, NULL, NULL);
}
