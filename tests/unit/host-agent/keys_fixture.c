#include "keys_fixture.h"
#include "tests/support/arrivals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint8_t secret_of;

void
keys_fixture_secret(uint8_t secret)
{
	secret_of = secret;
}

static void
responder_key(
    uint32_t epoch, struct wire_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES])
{
	uint8_t secret[PROBE_SECRET_BYTES];

	memset(secret, (int)(epoch & 0xff), sizeof(secret));
	secret[0] ^= secret_of;
	probe_key_responder(
	    secret, epoch, (struct rm_rnic_id){ responder.guid, responder.port }, ret);
}

void
keys_fixture_pair(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES])
{
	uint8_t key[PROBE_KEY_BYTES];

	responder_key(epoch, responder, key);
	probe_key_pair(key, (struct rm_rnic_id){ prober.guid, prober.port }, ret);
}

void
keys_fixture_macs(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct probe_macs *ret)
{
	uint8_t key[PROBE_KEY_BYTES];

	keys_fixture_pair(epoch, prober, responder, key);
	probe_macs_init(ret, key);
}

void
keys_fixture_report(struct key_ring *ring, const struct keys_send *report)
{
	struct wire_responder_key responders[KEYS_RNICS * WIRE_KEY_EPOCHS] = { 0 };
	struct wire_pair_key pairs[KEYS_RNICS * KEYS_RNICS] = { 0 };
	struct wire_keys keys = { .tor = KEYS_TOR,
		.epoch = report->epoch,
		.version = report->version,
		.responders = responders,
		.pairs = pairs,
		.plain = &report->plain,
		.plain_count = report->plain.guid != 0 };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;
	const char *tor;
	int r;

	for (uint64_t a = 1; a <= KEYS_RNICS; a++) {
		for (uint32_t e = report->epoch - 1;
		     !report->no_responders && e <= report->epoch + 1; e++) {
			struct wire_responder_key *key =
			    &responders[keys.responder_count++];

			key->guid = a;
			key->port = 1;
			key->epoch = e;
			responder_key(e, (struct wire_rnic_id){ a, 1 }, key->key);
		}
		for (uint64_t b = 1; !report->no_pairs && b <= KEYS_RNICS; b++) {
			struct wire_pair_key *key = &pairs[keys.pair_count++];

			key->src_guid = a;
			key->dst_guid = b;
			key->src_port = key->dst_port = 1;
			key->epoch = report->epoch;
			keys_fixture_pair(report->epoch, (struct wire_rnic_id){ a, 1 },
			    (struct wire_rnic_id){ b, 1 }, key->key);
		}
	}
	assert_non_null(writer);
	assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
	assert_true(keys_arrival(ring, bytes.data, bytes.len, &tor, &r));
	assert_int_equal(r, 0);
	assert_string_equal(tor, KEYS_TOR);
	wire_writer_free(writer);
}

struct key_ring *
keys_fixture_ring(uint32_t epoch, uint64_t version)
{
	struct key_ring *ring = NULL;

	assert_int_equal(key_ring_new(&ring), 0);
	assert_int_equal(key_ring_add_tor(ring, KEYS_TOR), 0);
	keys_fixture_report(
	    ring, &(struct keys_send){ epoch, version, .no_pairs = false });
	return ring;
}
