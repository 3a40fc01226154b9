#include "rackmesh/identity/probe_mac.h"

#include <string.h>

/* OpenSSL recommends EVP contexts instead: they are as fast, but each needs memory of
 * its own, and there are four for each pair of RNICs. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

_Static_assert(SHA256_CBLOCK == PROBE_MAC_MAX_KEY, "a key fits a block");
_Static_assert(sizeof(((SHA256_CTX *)0)->h) == sizeof(((struct probe_mac *)0)->inner),
    "the state of SHA-256 is eight words");

static void
key_state(const uint8_t key[SHA256_CBLOCK], uint8_t pad, uint32_t ret[8])
{
	uint8_t block[SHA256_CBLOCK];
	SHA256_CTX sha;

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = key[i] ^ pad;
	SHA256_Init(&sha);
	SHA256_Transform(&sha, block);
	memcpy(ret, sha.h, sizeof(sha.h));
	OPENSSL_cleanse(block, sizeof(block));
	OPENSSL_cleanse(&sha, sizeof(sha));
}

void
probe_mac_init(struct probe_mac *mac, const void *key, size_t len)
{
	uint8_t padded[SHA256_CBLOCK] = { 0 };

	memcpy(padded, key, len < sizeof(padded) ? len : sizeof(padded));
	key_state(padded, 0x36, mac->inner);
	key_state(padded, 0x5c, mac->outer);
	OPENSSL_cleanse(padded, sizeof(padded));
}

void
probe_mac_clear(struct probe_mac *mac)
{
	OPENSSL_cleanse(mac, sizeof(*mac));
}

/* Sets the state that SHA-256 has after the key's block. */
static void
sha_resume(SHA256_CTX *sha, const uint32_t state[8])
{
	memset(sha, 0, sizeof(*sha));
	memcpy(sha->h, state, sizeof(sha->h));
	sha->Nl = SHA256_CBLOCK * 8;
	sha->md_len = SHA256_DIGEST_LENGTH;
}

void
probe_mac_full(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, uint8_t ret[PROBE_HMAC_BYTES])
{
	uint8_t inner[SHA256_DIGEST_LENGTH];
	SHA256_CTX sha;

	sha_resume(&sha, mac->inner);
	for (size_t i = 0; i < count; i++)
		SHA256_Update(&sha, pieces[i].data, pieces[i].len);
	SHA256_Final(inner, &sha);
	sha_resume(&sha, mac->outer);
	SHA256_Update(&sha, inner, sizeof(inner));
	SHA256_Final(ret, &sha);
}

void
probe_mac_sign(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, uint8_t ret[PROBE_MAC_BYTES])
{
	uint8_t full[PROBE_HMAC_BYTES];

	probe_mac_full(mac, pieces, count, full);
	memcpy(ret, full, PROBE_MAC_BYTES);
}

bool
probe_mac_verify(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, const uint8_t claimed[PROBE_MAC_BYTES])
{
	uint8_t full[PROBE_HMAC_BYTES];

	probe_mac_full(mac, pieces, count, full);
	return CRYPTO_memcmp(full, claimed, PROBE_MAC_BYTES) == 0;
}
