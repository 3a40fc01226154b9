#include "rackmesh/identity/probe_mac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct vector { /* a vector of RFC 4231 */
	const char *key, *text;
	size_t key_len, text_len;
	uint8_t hmac[PROBE_HMAC_BYTES];
};

#define BYTES(s) (s), sizeof(s) - 1
#define DD10 "\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd"
#define CD10 "\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd"
#define AA10 "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"
#define OB10 "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"

static const char counting[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d"
			       "\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19";

/* clang-format off */
static const struct vector vectors[] = {
	{ OB10 OB10, "Hi There", 20, 8,
	  { 0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce,
	    0xaf, 0x0b, 0xf1, 0x2b, 0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83, 0x3d, 0xa7,
	    0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7 } },
	{ "Jefe", "what do ya want for nothing?", 4, 28,
	  { 0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26,
	    0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
	    0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43 } },
	{ AA10 AA10, DD10 DD10 DD10 DD10 DD10, 20, 50,
	  { 0x77, 0x3e, 0xa9, 0x1e, 0x36, 0x80, 0x0e, 0x46, 0x85, 0x4d, 0xb8, 0xeb,
	    0xd0, 0x91, 0x81, 0xa7, 0x29, 0x59, 0x09, 0x8b, 0x3e, 0xf8, 0xc1, 0x22,
	    0xd9, 0x63, 0x55, 0x14, 0xce, 0xd5, 0x65, 0xfe } },
	{ counting, CD10 CD10 CD10 CD10 CD10, 25, 50,
	  { 0x82, 0x55, 0x8a, 0x38, 0x9a, 0x44, 0x3c, 0x0e, 0xa4, 0xcc, 0x81, 0x98,
	    0x99, 0xf2, 0x08, 0x3a, 0x85, 0xf0, 0xfa, 0xa3, 0xe5, 0x78, 0xf8, 0x07,
	    0x7a, 0x2e, 0x3f, 0xf4, 0x67, 0x29, 0x66, 0x5b } },
};
/* clang-format on */

static void
a_probe_mac_is_hmac_sha_256(void **state)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];
		const struct probe_mac_piece piece = { v->text, v->text_len };
		uint8_t full[PROBE_HMAC_BYTES];
		struct probe_mac mac;

		probe_mac_init(&mac, v->key, v->key_len);
		probe_mac_full(&mac, &piece, 1, full);
		assert_memory_equal(full, v->hmac, sizeof(full));
		assert_true(probe_mac_verify(&mac, &piece, 1, v->hmac));
	}
}

static void
a_packet_carries_the_first_half(void **state)
{
	static const uint8_t expected[PROBE_MAC_BYTES] = { 0xa3, 0xb6, 0x16, 0x74, 0x73,
		0x10, 0x0e, 0xe0, 0x6e, 0x0c, 0x79, 0x6c, 0x29, 0x55, 0x55, 0x2b };
	const struct probe_mac_piece piece = { BYTES("Test With Truncation") };
	uint8_t mac_bytes[PROBE_MAC_BYTES], key[20];
	struct probe_mac mac;

	memset(key, 0x0c, sizeof(key));
	probe_mac_init(&mac, key, sizeof(key));
	probe_mac_sign(&mac, &piece, 1, mac_bytes);
	assert_memory_equal(mac_bytes, expected, sizeof(expected));
}

static void
the_mac_of_pieces_is_that_of_the_whole_message(void **state)
{
	const struct probe_mac_piece whole = { BYTES("what do ya want") };
	const struct probe_mac_piece parts[] = { { BYTES("what ") }, { BYTES("") },
		{ BYTES("do ya want") } };
	uint8_t a[PROBE_MAC_BYTES], b[PROBE_MAC_BYTES];
	struct probe_mac mac;

	probe_mac_init(&mac, "key", 3);
	probe_mac_sign(&mac, &whole, 1, a);
	probe_mac_sign(&mac, parts, 3, b);
	assert_memory_equal(a, b, sizeof(a));
}

static void
one_changed_bit_changes_the_mac(void **state)
{
	uint8_t text[64] = { 0 }, signature[PROBE_MAC_BYTES];
	const struct probe_mac_piece piece = { text, sizeof(text) };
	struct probe_mac mac;

	probe_mac_init(&mac, "key", 3);
	probe_mac_sign(&mac, &piece, 1, signature);
	for (size_t bit = 0; bit < 8 * sizeof(text); bit++) {
		text[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(probe_mac_verify(&mac, &piece, 1, signature));
		text[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 8 * sizeof(signature); bit++) {
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(probe_mac_verify(&mac, &piece, 1, signature));
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_true(probe_mac_verify(&mac, &piece, 1, signature));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_mac_is_hmac_sha_256),
		cmocka_unit_test(a_packet_carries_the_first_half),
		cmocka_unit_test(the_mac_of_pieces_is_that_of_the_whole_message),
		cmocka_unit_test(one_changed_bit_changes_the_mac),
	};

	return cmocka_run_group_tests_name("probe_mac", tests, NULL, NULL);
}
