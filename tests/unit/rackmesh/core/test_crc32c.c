#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "rackmesh/core/crc32c.h"

/* The vectors of RFC 3720, B.4, which lists the checksum's bytes in little endian. */
static void
the_vectors_of_rfc_3720_come_out(void **state)
{
	static const uint8_t read_command[48] = { 0x01, 0xc0, [16] = 0x14, [22] = 0x04,
		[27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02 };
	uint8_t bytes[32];

	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(rm_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aau);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(rm_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43u);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(rm_crc32c(0, bytes, sizeof(bytes)), 0x46dd794eu);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(rm_crc32c(0, bytes, sizeof(bytes)), 0x113fdb5cu);
	assert_int_equal(rm_crc32c(0, read_command, sizeof(read_command)), 0xd9963a56u);
	assert_int_equal(rm_crc32c(0, (const uint8_t *)"123456789", 9), 0xe3069283u);
}

static void
a_checksum_can_be_computed_in_pieces(void **state)
{
	uint8_t bytes[61];
	uint32_t whole;

	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	whole = rm_crc32c(0, bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= sizeof(bytes); cut++)
		assert_int_equal(rm_crc32c(rm_crc32c(0, bytes, cut), bytes + cut,
				     sizeof(bytes) - cut),
		    whole);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_rfc_3720_come_out),
		cmocka_unit_test(a_checksum_can_be_computed_in_pieces),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
