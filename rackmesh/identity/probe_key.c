#include "rackmesh/identity/probe_key.h"

#include <endian.h>
#include <string.h>

/* The input of the derivation: big-endian, without padding. */
struct __attribute__((packed)) derived_of {
	uint64_t guid;
	uint8_t port;
};

static void
derive(const void *key, size_t key_len, const struct probe_mac_piece *pieces,
    size_t count, uint8_t ret[PROBE_KEY_BYTES])
{
	struct probe_mac mac;

	probe_mac_init(&mac, key, key_len);
	probe_mac_sign(&mac, pieces, count, ret);
	probe_mac_clear(&mac);
}

void
probe_key_secret(
    const void *master, size_t len, uint32_t epoch, uint8_t ret[PROBE_SECRET_BYTES])
{
	static const char label[] = "rackmesh epoch";
	const uint32_t epoch_be = htobe32(epoch);
	const struct probe_mac_piece pieces[] = { { label, sizeof(label) - 1 },
		{ &epoch_be, sizeof(epoch_be) } };
	struct probe_mac mac;

	probe_mac_init(&mac, master, len);
	probe_mac_full(&mac, pieces, 2, ret);
	probe_mac_clear(&mac);
}

void
probe_key_responder(const uint8_t secret[PROBE_SECRET_BYTES], uint32_t epoch,
    struct rm_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES])
{
	static const char label[] = "rackmesh responder";
	const struct derived_of of = { htobe64(responder.guid), responder.port };
	const uint32_t epoch_be = htobe32(epoch);
	const struct probe_mac_piece pieces[] = { { label, sizeof(label) - 1 },
		{ &of, sizeof(of) }, { &epoch_be, sizeof(epoch_be) } };

	derive(secret, PROBE_SECRET_BYTES, pieces, 3, ret);
}

void
probe_key_pair(const uint8_t responder_key[PROBE_KEY_BYTES], struct rm_rnic_id prober,
    uint8_t ret[PROBE_KEY_BYTES])
{
	static const char label[] = "rackmesh prober";
	const struct derived_of of = { htobe64(prober.guid), prober.port };
	const struct probe_mac_piece pieces[] = { { label, sizeof(label) - 1 },
		{ &of, sizeof(of) } };

	derive(responder_key, PROBE_KEY_BYTES, pieces, 2, ret);
}

void
probe_macs_init(struct probe_macs *macs, const uint8_t pair_key[PROBE_KEY_BYTES])
{
	static const char label[] = "reply";
	const struct probe_mac_piece piece = { label, sizeof(label) - 1 };
	uint8_t reply_key[PROBE_KEY_BYTES];

	probe_mac_init(&macs->probe, pair_key, PROBE_KEY_BYTES);
	probe_mac_sign(&macs->probe, &piece, 1, reply_key);
	probe_mac_init(&macs->reply, reply_key, sizeof(reply_key));
	explicit_bzero(reply_key, sizeof(reply_key));
}

void
probe_macs_clear(struct probe_macs *macs)
{
	probe_mac_clear(&macs->probe);
	probe_mac_clear(&macs->reply);
}
