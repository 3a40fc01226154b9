#include "rackmesh/identity/probe_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct rm_rnic_id responder = { 0x0c42a1030065aabc, 1 };
static const struct rm_rnic_id prober = { 0x0c42a1030065aabd, 2 };

/* Made with Python's hmac and hashlib; the secret is 0, 1, 2, ... */
static const uint8_t responder_key[PROBE_KEY_BYTES] = { 0x9e, 0xac, 0xc4, 0xfa, 0xd1,
	0x61, 0x4e, 0x6a, 0x4d, 0xc8, 0x11, 0x74, 0x6e, 0xd2, 0x32, 0x7c };
static const uint8_t pair_key[PROBE_KEY_BYTES] = { 0x00, 0x02, 0xf5, 0x7c, 0x47, 0x35,
	0x86, 0x0e, 0xa6, 0x67, 0x70, 0x0f, 0x61, 0x21, 0x83, 0xdc };
static const uint8_t reply_of_abc[PROBE_MAC_BYTES] = { 0x44, 0x7d, 0xc9, 0xe1, 0x21,
	0xfc, 0x03, 0xfd, 0x11, 0x59, 0xf2, 0x33, 0xea, 0x4a, 0xac, 0x3c };

static void
make_secret(uint8_t secret[PROBE_SECRET_BYTES])
{
	for (uint8_t i = 0; i < PROBE_SECRET_BYTES; i++)
		secret[i] = i;
}

static void
keys_have_the_documented_values(void **state)
{
	uint8_t secret[PROBE_SECRET_BYTES], key[PROBE_KEY_BYTES];
	const struct probe_mac_piece abc = { "abc", 3 };
	struct probe_macs macs;

	make_secret(secret);
	probe_key_responder(secret, 7, responder, key);
	assert_memory_equal(key, responder_key, sizeof(key));
	probe_key_pair(responder_key, prober, key);
	assert_memory_equal(key, pair_key, sizeof(key));
	probe_macs_init(&macs, pair_key);
	assert_true(probe_mac_verify(&macs.reply, &abc, 1, reply_of_abc));
	assert_false(probe_mac_verify(&macs.probe, &abc, 1, reply_of_abc));
}

static void
each_epoch_end_and_direction_has_its_own_key(void **state)
{
	const struct rm_rnic_id other_port = { responder.guid, 2 };
	uint8_t secret[PROBE_SECRET_BYTES];
	uint8_t keys[5][PROBE_KEY_BYTES];

	make_secret(secret);
	probe_key_responder(secret, 8, responder, keys[0]);
	probe_key_responder(secret, 7, prober, keys[1]);
	probe_key_responder(secret, 7, other_port, keys[2]);
	secret[31] ^= 1;
	probe_key_responder(secret, 7, responder, keys[3]);
	memcpy(keys[4], responder_key, sizeof(keys[4]));
	for (int a = 0; a < 5; a++)
		for (int b = 0; b < a; b++)
			assert_memory_not_equal(keys[a], keys[b], PROBE_KEY_BYTES);
	/* The same pair in the opposite direction. */
	probe_key_pair(keys[1], responder, keys[2]);
	assert_memory_not_equal(keys[2], pair_key, PROBE_KEY_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_the_documented_values),
		cmocka_unit_test(each_epoch_end_and_direction_has_its_own_key),
	};

	return cmocka_run_group_tests_name("probe_key", tests, NULL, NULL);
}
